// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
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

// newKey returns a secret that only we and our child know.
func newKey() string { return rand.Text() }

// environ is our environment without what the service manager meant for us
// alone.
func environ() []string {
	return slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(systemVariables, name)
	})
}

// A pattern is a handler that is never called: it carries its Forward through
// the mux.
type pattern struct{ route.Forward }

func (pattern) ServeHTTP(http.ResponseWriter, *http.Request) {}

// newClient returns a client for one backend.
func newClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{ // no proxy: it is this machine
			DisableCompression:    true, // bytes are passed on as they are
			ResponseHeaderTimeout: answerLimit,
			// A connection a request: one that the backend is just closing can not
			// be told from one that may be used again, and a POST is not repeated.
			DisableKeepAlives: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// match returns what the plan has for a request's path.
func (u *unit) match(r *http.Request) (route.Forward, bool) {
	h, _ := u.mux.Handler(r)
	p, ok := h.(pattern)
	return p.Forward, ok
}

var errEnded = errors.New("the backend ended")

// waitReady asks the backend until it is ready, ends, or ctx does.
func (u *unit) waitReady(ctx context.Context, t *target, ended <-chan struct{}) error {
	for wait := readyFirst; ; wait = min(2*wait, readyPoll) {
		if u.isReady(ctx, t) {
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
		case <-time.After(wait):
		}
	}
}

func (u *unit) isReady(ctx context.Context, t *target) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, t.base+u.plan.Ready, nil)
	if err != nil {
		return false
	}
	resp, err := u.client.Do(req)
	if err != nil {
		return false
	}
	io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// ask sends our own question to the backend and returns the answer's body.
// key is what the client sent, for a backend whose key the user set.
func (u *unit) ask(ctx context.Context, path string, body []byte, key string) ([]byte, error) {
	t := u.target.Load()
	if t == nil {
		return nil, errEnded
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if t.key != "" {
		key = "Bearer " + t.key
	}
	if key != "" {
		req.Header.Set("Authorization", key)
	}
	resp, err := u.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, replyLimit))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = errors.New(resp.Status)
	}
	return b, err
}

// healthLine says whether a line of the backend's log is about our own asking.
func healthLine(line []byte) bool { return bytes.Contains(line, []byte("GET /health")) }
