// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package httpget

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const maxRedirects = 10

// A retry is a failure that another attempt may mend.
type retry struct {
	err  error         // what to say when no attempt is left
	wait time.Duration // what the server asked for; 0 when it did not
}

func (r *retry) Error() string { return r.err.Error() }
func (r *retry) Unwrap() error { return r.err }

// An answer is a response after its redirects.
type answer struct {
	*http.Response
	url  *url.URL
	hops []Redirect
}

// ask sends a GET and follows its redirects. Errors are typed; those worth
// another attempt are *retry.
func (c *Client) ask(ctx context.Context, req *Request, extra http.Header) (*answer, error) {
	first, err := url.Parse(req.URL)
	if err != nil {
		return nil, &Refused{URL: Mask(req.URL), Why: "it cannot be read"}
	}
	a := &answer{url: first}
	home := true // still at the origin that the caller named
	for {
		mapped := req.Mapped && origin(a.url) == origin(first)
		if err := c.checkURL(a.url, mapped); err != nil {
			return nil, err
		}
		home = home && origin(a.url) == origin(first)
		r := (&http.Request{Method: http.MethodGet, URL: a.url, Host: a.url.Host, Header: c.headers(req, a.url, home, extra),
			Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}).WithContext(ctx)
		transport := c.transport
		if mapped {
			transport = c.open
		}
		resp, err := transport.RoundTrip(r)
		if err != nil {
			return nil, c.sendError(ctx, a.url, err)
		}
		location := resp.Header.Get("Location")
		switch resp.StatusCode {
		case 301, 302, 303, 307, 308:
		default:
			location = ""
		}
		if location == "" {
			a.Response = resp
			return a, nil
		}
		resp.Body.Close()
		next, err := a.url.Parse(location)
		if err != nil {
			return nil, &Refused{URL: Mask(a.url.String()), Why: "it redirects to an address that cannot be read"}
		}
		hop := Redirect{Status: resp.StatusCode, From: Mask(a.url.String()), To: Mask(next.String())}
		if req.RefuseMoved && hop.Permanent() {
			return nil, &Moved{URL: hop.From, To: hop.To, Code: hop.Status}
		}
		if a.hops = append(a.hops, hop); len(a.hops) > maxRedirects {
			return nil, &Refused{URL: Mask(req.URL), Why: "more than 10 redirects"}
		}
		a.url = next
	}
}

// headers returns what goes to u. Away from home nothing of the caller's does.
func (c *Client) headers(req *Request, u *url.URL, home bool, extra http.Header) http.Header {
	h := http.Header{}
	if home {
		for k, v := range req.Header {
			h[http.CanonicalHeaderKey(k)] = v
		}
		if req.Credentials != nil {
			for k, v := range req.Credentials(u.Hostname()) {
				h[http.CanonicalHeaderKey(k)] = v
			}
		}
	}
	h.Set("User-Agent", c.agent)
	h.Set("Accept-Encoding", "identity")
	h.Set("Accept", "*/*")
	if req.Accept != "" {
		h.Set("Accept", req.Accept)
	}
	for k, v := range extra {
		h[k] = v
	}
	return h
}

// sendError names a failure to send or to get a header.
func (c *Client) sendError(ctx context.Context, u *url.URL, err error) error {
	masked := Mask(u.String())
	var refused *Refused
	var proxy *ProxyAuth
	var cert *tls.CertificateVerificationError
	switch {
	case errors.As(err, &refused):
		return &Refused{URL: masked + " (" + refused.URL + ")", Why: refused.Why}
	case errors.As(err, &proxy):
		return proxy
	case errors.Is(context.Cause(ctx), errStalled):
		return &retry{err: &Unreachable{URL: masked, Err: errStalled}}
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", masked, context.Cause(ctx))
	case errors.As(err, &cert):
		return &Unreachable{URL: masked, Err: err}
	}
	return &retry{err: &Unreachable{URL: masked, Err: err}}
}

// status returns the error that an answer without content stands for, nil for
// 200, 206, 304 and 416.
func (c *Client) status(a *answer) error {
	masked := Mask(a.url.String())
	switch code := a.StatusCode; code {
	case 200, 206, 304, 416:
		return nil
	case 401:
		return &Unauthorized{URL: masked, Status: code}
	case 404, 410:
		return &NotFound{URL: masked}
	case 407:
		proxy := "of the environment"
		if p, err := c.proxyFor(a.url); err == nil && p != nil {
			proxy = Mask(p.String())
		}
		return &ProxyAuth{Proxy: proxy}
	case 403, 429, 503:
		wait, said := c.retryAfter(a.Header)
		if code == 403 && !said && !mentionsLimit(a.Body) {
			return &Unauthorized{URL: masked, Status: code}
		}
		if code == 503 && !said {
			return &retry{err: &Unreachable{URL: masked, Err: &Status{URL: masked, Code: code}}}
		}
		limited := &RateLimited{URL: masked}
		if said {
			limited.Until = c.now().Add(wait)
		}
		if wait > c.waitCap {
			return limited
		}
		return &retry{err: limited, wait: wait}
	case 408, 425, 500, 502, 504:
		return &retry{err: &Unreachable{URL: masked, Err: &Status{URL: masked, Code: code}}}
	default:
		return &Status{URL: masked, Code: code}
	}
}

func (c *Client) proxyFor(u *url.URL) (*url.URL, error) {
	if c.proxy == nil {
		return nil, nil
	}
	return c.proxy(&http.Request{URL: u})
}

// retryAfter reads Retry-After (seconds or a date) or GitHub's reset time.
func (c *Client) retryAfter(h http.Header) (time.Duration, bool) {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if n, err := strconv.ParseInt(v, 10, 32); err == nil && n >= 0 {
		return time.Duration(n) * time.Second, true
	}
	if t, err := http.ParseTime(v); err == nil {
		return max(0, t.Sub(c.now())), true
	}
	if h.Get("X-Ratelimit-Remaining") == "0" {
		if n, err := strconv.ParseInt(h.Get("X-Ratelimit-Reset"), 10, 64); err == nil {
			return max(0, time.Unix(n, 0).Sub(c.now())), true
		}
		return 0, true
	}
	return 0, false
}

// mentionsLimit reports whether a refusal without headers speaks of a limit, as
// GitHub's secondary limits do (google/go-github#2229).
func mentionsLimit(r io.Reader) bool {
	b, _ := io.ReadAll(io.LimitReader(r, 4096))
	t := strings.ToLower(string(b))
	return strings.Contains(t, "rate limit") || strings.Contains(t, "abuse detection")
}

var errStalled = errors.New("no data for too long")

// watch cancels a context when nothing happens for a time.
type watch struct {
	timer *time.Timer
	limit time.Duration
}

func newWatch(limit time.Duration, cancel context.CancelCauseFunc) *watch {
	return &watch{timer: time.AfterFunc(limit, func() { cancel(errStalled) }), limit: limit}
}

func (w *watch) alive() { w.timer.Reset(w.limit) }
func (w *watch) stop()  { w.timer.Stop() }
