// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package httpget

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/clock"
)

var noon = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// client returns one that may ask loopback, does not wait, and records how long
// it would have.
func client(t *testing.T, options ...Option) (*Client, *[]time.Duration) {
	t.Helper()
	var waits []time.Duration
	c, err := New(append([]Option{WithAllowHTTP(), WithProxy(nil), WithVersion("1.2"), WithAttempts(3),
		WithClock(clock.Fixed(noon), func(ctx context.Context, d time.Duration) error {
			waits = append(waits, d)
			return ctx.Err()
		})}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, &waits
}

func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func payload(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i>>8) ^ byte(i*7)
	}
	return b
}

func sha(b []byte) string { s := sha256.Sum256(b); return hex.EncodeToString(s[:]) }

func is[T error](err error) bool { var t T; return errors.As(err, &t) }

func TestOptionsAndRequestsAreChecked(t *testing.T) {
	for name, o := range map[string]Option{
		"attempts": WithAttempts(0), "cap": WithWaitCap(-1), "version": WithVersion("a b"), "empty version": WithVersion(""),
		"timeouts": WithTimeouts(0, 1, 1), "transport": WithTransport(nil), "clock": WithClock(nil, nil),
	} {
		if _, err := New(o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	cl, _ := client(t, WithTransport(fake{}))
	for name, r := range map[string]Request{
		"sum": {Expect: Expect{SHA256: "abc"}}, "size": {Expect: Expect{Size: -1}}, "hash": {Expect: Expect{Sum: "00"}},
		"limit": {MaxSize: -1}, "over the limit": {MaxSize: 1, Expect: Expect{Size: 2}}, "user": {},
	} {
		r.URL = "https://user@a.example/"
		if _, err := cl.Get(t.Context(), r); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
