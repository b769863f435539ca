// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/1bit-MONSTER/engine/engine/route"
)

// answerLimit is how long a backend may take until its answer begins: a long
// prompt on a slow device takes many minutes.
const answerLimit = time.Hour

// keyVariable is where a llama-server reads the key that its clients must
// know. With one, nobody else on this machine, no page in a browser either,
// gets past serve to the private port.
const keyVariable = "LLAMA_API_KEY"

// A backend is the program behind us, as requests see it.
type backend struct {
	plan   route.Plan
	base   string // "http://127.0.0.1:PORT"
	key    string // empty when the user set one: then clients must send it
	env    []string
	mux    *http.ServeMux
	client *http.Client
	active atomic.Int64 // requests under way
}

// A pattern is a handler that is never called: it carries its Forward through
// the mux.
type pattern struct{ route.Forward }

func (pattern) ServeHTTP(http.ResponseWriter, *http.Request) {}

func newBackend(plan route.Plan, port int) *backend {
	b := &backend{
		plan: plan,
		base: "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port)),
		mux:  http.NewServeMux(),
		client: &http.Client{
			Transport: &http.Transport{ // no proxy: it is this machine
				DisableCompression:    true, // bytes are passed on as they are
				ResponseHeaderTimeout: answerLimit,
				// A connection a request: one that the backend is just closing can not
				// be told from one that may be used again, and a POST is not repeated.
				DisableKeepAlives: true,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	if os.Getenv(keyVariable) == "" { // an empty one would be no protection
		b.key = newKey()
		b.env = []string{keyVariable + "=" + b.key}
	}
	for _, f := range plan.Forward {
		b.mux.Handle(f.Path, pattern{f})
	}
	return b
}

// match returns what the plan has for a request's path.
func (b *backend) match(r *http.Request) (route.Forward, bool) {
	h, _ := b.mux.Handler(r)
	p, ok := h.(pattern)
	return p.Forward, ok
}

var errEnded = errors.New("the backend ended")

// waitReady asks the backend until it is ready, ends, or ctx does.
func (b *backend) waitReady(ctx context.Context, ended <-chan struct{}) error {
	tick := time.NewTicker(readyPoll)
	defer tick.Stop()
	for {
		if b.isReady(ctx) {
			select {
			case <-ended: // someone else answered at that port
				return errEnded
			default:
				return nil
			}
		}
		select {
		case <-ended:
			return errEnded
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

func (b *backend) isReady(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.base+b.plan.Ready, nil)
	if err != nil {
		return false
	}
	resp, err := b.client.Do(req)
	if err != nil {
		return false
	}
	io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// healthLine says whether a line of the backend's log is about our own asking.
func healthLine(line []byte) bool { return bytes.Contains(line, []byte("GET /health")) }
