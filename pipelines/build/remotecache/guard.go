// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package remotecache

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"sync"
	"time"
)

// limits are how long a registry may take, and how much it may say.
type limits struct {
	answer  time.Duration // to the first byte of an answer, and between two bytes of its body
	commit  time.Duration // the same where it must first digest what we sent
	ask     time.Duration // for manifest and record together
	base    time.Duration // for a transfer, beside
	rate    int64         // bytes a second that a transfer may be slow
	wait    time.Duration // the longest wait that it may ask for (Retry-After)
	waits   time.Duration // the sum of those in a run
	backoff time.Duration // before the second try
	strikes int           // failures until it is left alone
}

var defaultLimits = limits{
	answer: 10 * time.Second, commit: 50 * time.Second, ask: 30 * time.Second,
	base: 30 * time.Second, rate: 512 << 10, wait: 10 * time.Second, waits: 30 * time.Second,
	backoff: 500 * time.Millisecond, strikes: 2,
}

// transfer is how long so many bytes may take.
func (l *limits) transfer(size int64) time.Duration {
	return l.base + time.Duration(size/l.rate)*time.Second
}

// maxAnswer is the most bytes of an answer that is not a layer.
const maxAnswer = 1 << 20

// maxHops is the most redirects that a request follows.
const maxHops = 10

type mostKey struct{}

// withMost allows answers of so many bytes to the requests of a context.
func withMost(ctx context.Context, n int64) context.Context {
	return context.WithValue(ctx, mostKey{}, n)
}

// A guard stands between the registry library and the network: it ends what is
// slow or too large, waits once where the registry asks for it, and uses http
// only where that was allowed.
type guard struct {
	next    http.RoundTripper
	limits  *limits
	address Address
	sleep   func(context.Context, time.Duration) error
	now     func() time.Time

	mu     sync.Mutex
	waited time.Duration
}

// A slow error is a registry that did not answer, or stopped.
type slow struct {
	what string
	in   time.Duration
}

func (e *slow) Error() string { return fmt.Sprintf("%s within %v", e.what, e.in) }

// plainHTTP is a request over http that nobody allowed.
type plainHTTP struct{ host string }

func (e *plainHTTP) Error() string {
	return fmt.Sprintf("%s would be asked without TLS: write ?plain-http=yes behind the address if that is meant", e.host)
}

// tooLarge is an answer beyond the limit.
type tooLarge struct{ most int64 }

func (e *tooLarge) Error() string {
	return fmt.Sprintf("its answer is larger than %d bytes", e.most)
}

// circles is a registry that redirects without end; the library follows.
type circles struct{}

func (e *circles) Error() string { return fmt.Sprintf("it sends us on more than %d times", maxHops) }

// RoundTrip implements http.RoundTripper.
func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Scheme != "https" && !g.plain(req.URL) {
		return nil, &plainHTTP{req.URL.Host}
	}
	hops := 0
	for r := req; r.Response != nil && r.Response.Request != nil; r = r.Response.Request {
		if hops++; hops > maxHops {
			return nil, &circles{}
		}
	}
	resp, err := g.once(req)
	if err != nil || resp.StatusCode != http.StatusTooManyRequests {
		return resp, err
	}
	again := req.Clone(req.Context())
	if req.Body != nil && req.Body != http.NoBody {
		if req.GetBody == nil {
			return resp, nil
		}
		if again.Body, err = req.GetBody(); err != nil {
			return resp, nil
		}
	}
	if !g.wait(req.Context(), resp.Header.Get("Retry-After")) {
		return resp, nil
	}
	resp.Body.Close()
	return g.once(again)
}

// plain says whether a URL may be asked over http: that of a registry for
// which the user said so, and of this machine.
func (g *guard) plain(u *url.URL) bool {
	host, _, err := net.SplitHostPort(g.address.repo.RegistryStr())
	if err != nil {
		host = g.address.repo.RegistryStr()
	}
	if u.Hostname() != host {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return g.address.plain || host == "localhost" || err == nil && ip.IsLoopback()
}

// wait waits as long as a registry asks for, a second where it does not say, and
// reports whether it did.
func (g *guard) wait(ctx context.Context, after string) bool {
	d := time.Second
	if n, err := strconv.Atoi(after); err == nil && n >= 0 && n < 1<<20 {
		d = time.Duration(n) * time.Second
	} else if t, err := http.ParseTime(after); err == nil {
		d = max(0, t.Sub(g.now()))
	} else if after != "" {
		return false
	}
	g.mu.Lock()
	allowed := d <= g.limits.wait && g.waited+d <= g.limits.waits
	if allowed {
		g.waited += d
	}
	g.mu.Unlock()
	return allowed && g.sleep(ctx, d) == nil
}

// once sends a request, with a clock on its answer.
func (g *guard) once(req *http.Request) (*http.Response, error) {
	limit := g.limits.answer
	if req.Method == http.MethodPatch || req.Method == http.MethodPut {
		limit = g.limits.commit
	}
	ctx, cancel := context.WithCancelCause(req.Context())
	timer := time.AfterFunc(limit, func() { cancel(&slow{"it did not answer", limit}) })
	sent := req.WithContext(ctx)
	if req.Body != nil && req.Body != http.NoBody {
		sent.Body = &ticking{req.Body, timer, limit}
	}
	resp, err := g.next.RoundTrip(sent)
	timer.Stop()
	if err != nil {
		err = causeOf(ctx, err)
		cancel(nil)
		return nil, err
	}
	most, ok := req.Context().Value(mostKey{}).(int64)
	if !ok {
		most = maxAnswer
	}
	b := &watched{body: resp.Body, ctx: ctx, cancel: cancel, left: most, most: most, limit: g.limits.answer}
	b.timer = time.AfterFunc(b.limit, func() { cancel(&slow{"it sent nothing more", b.limit}) })
	resp.Body = b
	return resp, nil
}

// causeOf returns why a context was cancelled, if it was us.
func causeOf(ctx context.Context, err error) error {
	var s *slow
	if errors.As(context.Cause(ctx), &s) {
		return s
	}
	return err
}

// ticking is a body that is sent: as long as it is read, nothing is slow.
type ticking struct {
	io.ReadCloser
	timer *time.Timer
	limit time.Duration
}

func (t *ticking) Read(p []byte) (int, error) {
	t.timer.Reset(t.limit)
	return t.ReadCloser.Read(p)
}

// watched is a body that comes.
type watched struct {
	body       io.ReadCloser
	ctx        context.Context
	cancel     context.CancelCauseFunc
	timer      *time.Timer
	limit      time.Duration
	left, most int64
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.body.Read(p)
	w.timer.Reset(w.limit)
	if w.left -= int64(n); w.left < 0 {
		return 0, &tooLarge{w.most}
	}
	if err != nil && err != io.EOF {
		err = causeOf(w.ctx, err)
	}
	return n, err
}

func (w *watched) Close() error {
	w.timer.Stop()
	err := w.body.Close()
	w.cancel(nil)
	return err
}
