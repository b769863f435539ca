// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package httpget

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/verdict"
)

func TestAnswersAndTheirErrors(t *testing.T) {
	reset := strconv.FormatInt(noon.Add(90*time.Second).Unix(), 10)
	for _, c := range []struct {
		name    string
		code    int
		header  map[string]string
		body    string
		want    func(error) bool
		verdict verdict.Verdict
		waits   []time.Duration // at least; nil: any number of short ones
		tries   int32
	}{
		{"404", 404, nil, "", is[*NotFound], verdict.Fail, nil, 1},
		{"410", 410, nil, "", is[*NotFound], verdict.Fail, nil, 1},
		{"401", 401, nil, "", is[*Unauthorized], verdict.Fail, nil, 1},
		{"403", 403, nil, "no", is[*Unauthorized], verdict.Fail, nil, 1},
		{"407", 407, nil, "", is[*ProxyAuth], verdict.Infra, nil, 1},
		{"418", 418, nil, "", is[*Status], verdict.Fail, nil, 1},
		{"500", 500, nil, "", is[*Unreachable], verdict.Infra, nil, 3},
		{"503", 503, nil, "", is[*Unreachable], verdict.Infra, nil, 3},
		{"503 with seconds", 503, map[string]string{"Retry-After": "7"}, "", is[*RateLimited], verdict.Infra, []time.Duration{7 * time.Second, 7 * time.Second}, 3},
		{"create-pull-request#855: 429", 429, nil, "", is[*RateLimited], verdict.Infra, nil, 3},
		{"429 with a date", 429, map[string]string{"Retry-After": noon.Add(20 * time.Second).Format(http.TimeFormat)}, "", is[*RateLimited], verdict.Infra, []time.Duration{20 * time.Second, 20 * time.Second}, 3},
		{"429 for longer than the cap", 429, map[string]string{"Retry-After": "3600"}, "", is[*RateLimited], verdict.Infra, nil, 1},
		{"429 with nonsense", 429, map[string]string{"Retry-After": "-soon"}, "", is[*RateLimited], verdict.Infra, nil, 3},
		{"403 with the reset time", 403, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset}, "", is[*RateLimited], verdict.Infra, []time.Duration{90 * time.Second, 90 * time.Second}, 3},
		{"go-github#2229: 403 in words", 403, nil, "You have exceeded a secondary rate limit", is[*RateLimited], verdict.Infra, nil, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			var tries atomic.Int32
			at := serve(t, func(w http.ResponseWriter, r *http.Request) {
				tries.Add(1)
				for k, v := range c.header {
					w.Header().Set(k, v)
				}
				w.WriteHeader(c.code)
				io.WriteString(w, c.body)
			})
			cl, waits := client(t)
			_, err := cl.Get(t.Context(), Request{URL: at + "/x?token=SECRET&page=2", Mapped: true})
			if !c.want(err) || verdict.Of(err) != c.verdict {
				t.Fatalf("error %v (%T), verdict %s", err, err, verdict.Of(err))
			}
			if strings.Contains(err.Error(), "SECRET") {
				t.Errorf("the error tells a secret: %v", err)
			}
			if tries.Load() != c.tries || len(*waits) != int(c.tries)-1 {
				t.Errorf("%d tries, waits %v", tries.Load(), *waits)
			}
			for i, w := range c.waits {
				if (*waits)[i] < w || (*waits)[i] > 2*time.Minute {
					t.Errorf("waited %v, asked for %v", (*waits)[i], w)
				}
			}
		})
	}
}

func TestAServerThatRecovers(t *testing.T) {
	var n atomic.Int32
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("User-Agent"); got != "1bit-dist/1.2" {
			t.Errorf("User-Agent %q", got)
		}
		if got := r.Header.Get("Accept-Encoding"); got != "identity" {
			t.Errorf("Accept-Encoding %q", got)
		}
		switch n.Add(1) {
		case 1:
			panic(http.ErrAbortHandler)
		case 2:
			w.Header().Set("Content-Length", "10") // truncated
			w.Write([]byte("half"))
		default:
			w.Write([]byte(`{"a":1}`))
		}
	})
	cl, waits := client(t)
	resp, err := cl.Get(t.Context(), Request{URL: at, Mapped: true})
	if err != nil || string(resp.Body) != `{"a":1}` || len(*waits) != 2 {
		t.Errorf("%v, %v, waits %v", resp, err, *waits)
	}
}

func TestBodiesThatDoNotEnd(t *testing.T) {
	endless := func(w http.ResponseWriter, r *http.Request) {
		for {
			if _, err := w.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
	}
	silent := func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "a")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	drip := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			io.WriteString(w, "a")
			w.(http.Flusher).Flush()
			time.Sleep(time.Millisecond)
		}
	}
	for _, c := range []struct {
		name string
		h    http.HandlerFunc
		req  Request
		want func(error) bool
	}{
		{"endless, limited", endless, Request{MaxSize: 1 << 20}, is[*TooLarge]},
		{"endless, size known", endless, Request{Expect: Expect{Size: 1 << 20}}, is[*SizeMismatch]},
		{"says that it is large", func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Content-Length", "9999999") }, Request{MaxSize: 100}, is[*TooLarge]},
		{"silent", silent, Request{}, func(err error) bool { return is[*Unreachable](err) && errors.Is(err, errStalled) }},
		{"slow drip", drip, Request{}, func(err error) bool { return errors.Is(err, context.DeadlineExceeded) }},
		{"header never comes", func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, Request{}, is[*Unreachable]},
		{"compressed unasked", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Write([]byte("x"))
		}, Request{}, is[*Encoded]},
	} {
		t.Run(c.name, func(t *testing.T) {
			cl, _ := client(t, WithTimeouts(time.Second, 300*time.Millisecond, 200*time.Millisecond))
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			c.req.URL, c.req.Mapped = serve(t, c.h), true
			_, err := cl.Get(ctx, c.req)
			if !c.want(err) {
				t.Errorf("error %v (%T)", err, err)
			}
			path := filepath.Join(t.TempDir(), "f")
			if _, err := cl.ToFile(ctx, c.req, path); err == nil {
				t.Error("ToFile is content")
			}
			if _, err := os.Stat(path); err == nil {
				t.Error("there is a file")
			}
		})
	}
}
