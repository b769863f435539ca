// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package httpget

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/clock"
	"github.com/1bit-MONSTER/engine/internal/verdict"
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

func TestToFileKeepsTheOldFileUntilTheNewOneIsRight(t *testing.T) {
	good := payload(300_000)
	lfs := []byte("version https://git-lfs.github.com/spec/v1\noid sha256:" + sha(good) + "\nsize 300000\n")
	page := []byte("<!DOCTYPE html><html><title>Sign in</title></html>")
	expect := Expect{Size: int64(len(good)), SHA256: sha(good)}
	sum512 := sha512.Sum512(good)
	for _, c := range []struct {
		name   string
		body   []byte
		expect Expect
		want   func(error) bool
	}{
		{"right", good, expect, nil},
		{"right, size only", good, Expect{Size: expect.Size}, nil},
		{"right, another hash", good, Expect{Hash: sha512.New, Sum: hex.EncodeToString(sum512[:])}, nil},
		{"another hash is wrong", good[1:], Expect{Hash: sha512.New, Sum: hex.EncodeToString(sum512[:])}, is[*SumMismatch]},
		{"baml#4425: re-uploaded", append([]byte("x"), good[1:]...), expect, is[*SumMismatch]},
		{"too short", good[:200_000], expect, is[*SizeMismatch]},
		{"too long", append(good, 'x'), expect, is[*SizeMismatch]},
		{"empty", nil, expect, is[*SizeMismatch]},
		{"huggingface_hub#3643: LFS pointer", lfs, expect, is[*LFSPointer]},
		{"LFS pointer, nothing expected", lfs, Expect{}, is[*LFSPointer]},
		{"LFS pointer is what is locked", lfs, Expect{SHA256: sha(lfs)}, nil},
		{"web page", page, expect, is[*HTMLAnswer]},
		{"web page longer than the file", page, Expect{Size: 5}, is[*HTMLAnswer]},
		{"web page, sum only", page, Expect{SHA256: sha(good)}, is[*HTMLAnswer]},
		{"web page, nothing expected", page, Expect{}, is[*HTMLAnswer]},
	} {
		for _, chunked := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/chunked=%v", c.name, chunked), func(t *testing.T) {
				at := serve(t, func(w http.ResponseWriter, r *http.Request) {
					if chunked {
						w.(http.Flusher).Flush()
					} else {
						w.Header().Set("Content-Length", strconv.Itoa(len(c.body)))
					}
					w.Write(c.body)
				})
				path := filepath.Join(t.TempDir(), "file")
				if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
					t.Fatal(err)
				}
				cl, _ := client(t)
				_, err := cl.ToFile(t.Context(), Request{URL: at, Mapped: true, Expect: c.expect}, path)
				want := []byte("old")
				if c.want == nil {
					want = c.body
				}
				if err != nil && c.want == nil || c.want != nil && !c.want(err) {
					t.Errorf("error %v (%T)", err, err)
				}
				if got, _ := os.ReadFile(path); !bytes.Equal(got, want) {
					t.Errorf("the file has %d bytes, want %d", len(got), len(want))
				}
				entries, _ := os.ReadDir(filepath.Dir(path))
				if len(entries) != 1 {
					t.Errorf("left behind: %v", entries)
				}
				if c.want != nil && verdict.Of(err) != verdict.Fail {
					t.Errorf("verdict %s", verdict.Of(err))
				}
			})
		}
	}
}

// ranged serves body with ranges and an ETag, and breaks off the first answer.
type ranged struct {
	body     []byte
	tag      string
	breakAt  int // how much the first answer brings
	requests []http.Header
	as       func(w http.ResponseWriter, r *http.Request) bool // replaces the answer to a range request
}

func (s *ranged) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests = append(s.requests, r.Header.Clone())
	if r.Header.Get("Range") != "" && s.as != nil && s.as(w, r) {
		return
	}
	w.Header().Set("Etag", s.tag)
	if s.breakAt > 0 {
		w.Header().Set("Content-Length", strconv.Itoa(len(s.body)))
		w.Write(s.body[:s.breakAt])
		s.breakAt = 0
		panic(http.ErrAbortHandler)
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(s.body))
}

// modelscope_hub#50: what a server may answer to a request for the rest.
func TestABrokenDownloadGoesOn(t *testing.T) {
	body := payload(500_000)
	answer := func(code int, contentRange string, body []byte) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if contentRange != "" {
				w.Header().Set("Content-Range", contentRange)
			}
			w.WriteHeader(code)
			w.Write(body)
			return true
		}
	}
	for _, c := range []struct {
		name     string
		as       func(http.ResponseWriter, *http.Request) bool
		requests int
	}{
		{"continues", nil, 2},
		{"200 to a range request", answer(200, "", body), 2},
		{"206 from another offset", answer(206, "bytes 100-499999/500000", body[100:]), 3},
		{"206 of another size", answer(206, "bytes 262144-499999/600000", body[262144:]), 3},
		{"206 without Content-Range", answer(206, "", body[262144:]), 3},
		{"416", answer(416, "bytes */500000", nil), 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &ranged{body: body, tag: `"one"`, breakAt: 262144, as: c.as}
			if c.as != nil {
				once := c.as
				s.as = func(w http.ResponseWriter, r *http.Request) bool { s.as = nil; return once(w, r) }
			}
			at := serve(t, s.ServeHTTP)
			path := filepath.Join(t.TempDir(), "file")
			cl, _ := client(t)
			var last int64
			resp, err := cl.ToFile(t.Context(), Request{URL: at, Mapped: true, Expect: Expect{Size: 500_000, SHA256: sha(body)},
				Progress: func(done, _ int64) { last = done }}, path)
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := os.ReadFile(path); !bytes.Equal(got, body) || resp.SHA256 != sha(body) || last != 500_000 {
				t.Errorf("%d bytes, sum %s, progress %d", len(got), resp.SHA256, last)
			}
			if len(s.requests) != c.requests {
				t.Errorf("%d requests, want %d", len(s.requests), c.requests)
			}
			if got := s.requests[1].Get("Range"); !strings.HasPrefix(got, "bytes=") || s.requests[1].Get("If-Range") != `"one"` {
				t.Errorf("asked again with %v", s.requests[1])
			}
		})
	}
}

func TestKilledHalfWayTheNextRunGoesOn(t *testing.T) {
	body, other := payload(400_000), bytes.Repeat([]byte("new "), 100_000)
	for _, c := range []struct {
		name    string
		now     []byte // what the server has when it is asked again
		tag     string
		expect  Expect
		resumed bool
	}{
		{"same file", body, `"one"`, Expect{SHA256: sha(body)}, true},
		{"same file, no sum", body, `"one"`, Expect{}, true},
		{"server restarted with other content", other, `"two"`, Expect{}, false},
		{"other content under the same tag, the sum decides", other, `"one"`, Expect{SHA256: sha(other)}, false},
		{"no tag at all, the sum decides", body, "", Expect{SHA256: sha(body)}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			tag := `"one"`
			if c.tag == "" {
				tag = ""
			}
			s := &ranged{body: body, tag: tag}
			ctx, cancel := context.WithCancelCause(t.Context())
			killed := errors.New("killed")
			cut := s.body
			at := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if ctx.Err() == nil {
					w.Header().Set("Etag", s.tag)
					w.Header().Set("Content-Length", strconv.Itoa(len(cut)))
					w.Write(cut[:200_000])
					w.(http.Flusher).Flush()
					<-r.Context().Done()
					return
				}
				s.ServeHTTP(w, r)
			})
			path := filepath.Join(t.TempDir(), "file")
			cl, _ := client(t)
			req := Request{URL: at, Mapped: true, Expect: c.expect}
			req.Progress = func(done, total int64) {
				if done == 200_000 {
					cancel(killed)
				}
			}
			_, err := cl.ToFile(ctx, req, path)
			if !errors.Is(err, killed) {
				t.Fatalf("error %v", err)
			}
			if _, err := os.Stat(path); err == nil {
				t.Fatal("there is a file already")
			}
			s.body, s.tag, req.Progress = c.now, c.tag, nil
			resp, err := cl.ToFile(t.Context(), req, path)
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := os.ReadFile(path); !bytes.Equal(got, c.now) {
				t.Error("the content is not the server's")
			}
			if (resp.Resumed > 0) != c.resumed {
				t.Errorf("resumed %d", resp.Resumed)
			}
		})
	}
}

func TestTwoDownloadsOfOneFile(t *testing.T) {
	body := payload(100_000)
	both, release := make(chan bool, 2), make(chan bool)
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		both <- true
		<-release
		w.Write(body)
	})
	path := filepath.Join(t.TempDir(), "file")
	cl, _ := client(t)
	errs := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := cl.ToFile(t.Context(), Request{URL: at, Mapped: true, Expect: Expect{SHA256: sha(body)}}, path)
			errs <- err
		}()
	}
	<-both
	<-both
	close(release)
	if err := errors.Join(<-errs, <-errs); err != nil {
		t.Fatal(err)
	}
	if err := Check(path, Expect{SHA256: sha(body)}); err != nil {
		t.Error(err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

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

// fake answers by URL; it is the network of tests that need several hosts.
type fake map[string]func(*http.Request) *http.Response

func (f fake) RoundTrip(r *http.Request) (*http.Response, error) {
	h, ok := f[r.URL.String()]
	if !ok {
		return nil, fmt.Errorf("nobody is at %s", r.URL)
	}
	return h(r), nil
}

func reply(code int, location string) func(*http.Request) *http.Response {
	return func(*http.Request) *http.Response {
		return &http.Response{StatusCode: code, Header: http.Header{"Location": {location}}, Body: io.NopCloser(strings.NewReader("{}")), ContentLength: 2}
	}
}

func TestRedirects(t *testing.T) {
	for _, c := range []struct {
		name     string
		code     int
		location string
		req      Request
		want     func(error) bool
		private  bool // credentials reach the target
	}{
		{"same host", 302, "/c", Request{}, nil, true},
		{"another host", 302, "https://b.example/c", Request{}, nil, false},
		{"a host below", 302, "https://x.a.example/c", Request{}, nil, false},
		{"another port", 302, "https://a.example:444/c", Request{}, nil, false},
		{"to http", 302, "http://a.example/c", Request{}, is[*Refused], false},
		{"to a file", 302, "file:///etc/passwd", Request{}, is[*Refused], false},
		{"to metadata", 302, "https://169.254.169.254/c", Request{}, is[*Refused], false},
		{"to this machine", 302, "https://[::ffff:127.0.0.1]/c", Request{}, is[*Refused], false},
		{"to localhost", 302, "https://LOCALHOST./c", Request{}, is[*Refused], false},
		{"with a password", 302, "https://u:p@b.example/c", Request{}, is[*Refused], false},
		{"in a circle", 302, "/", Request{}, is[*Refused], false},
		{"bump_deps: moved, followed", 301, "/c", Request{}, nil, true},
		{"bump_deps: moved, unwanted", 301, "/c", Request{RefuseMoved: true}, is[*Moved], false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got http.Header
			end := func(r *http.Request) *http.Response { got = r.Header; return reply(200, "")(r) }
			net := fake{"https://a.example/": reply(c.code, c.location)}
			for _, h := range []string{"a.example", "b.example", "x.a.example", "a.example:444"} {
				net["https://"+h+"/c"] = end
			}
			cl, _ := client(t, WithTransport(net))
			c.req.URL = "https://a.example/"
			c.req.Header = http.Header{"cookie": {"c"}, "X-Token": {"t"}}
			c.req.Credentials = func(host string) http.Header {
				if host != "a.example" {
					t.Errorf("credentials for %s", host)
				}
				return http.Header{"authorization": {"Bearer s"}}
			}
			resp, err := cl.Get(t.Context(), c.req)
			if c.want != nil {
				if !c.want(err) {
					t.Errorf("error %v (%T)", err, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range []string{"Authorization", "Cookie", "X-Token"} {
				if (got.Get(k) != "") != c.private {
					t.Errorf("%s: %q", k, got.Get(k))
				}
			}
			if len(resp.Redirects) != 1 || resp.Redirects[0].Status != c.code {
				t.Errorf("redirects %v", resp.Redirects)
			}
			if _, moved := resp.Moved(); moved != (c.code == 301) {
				t.Errorf("moved %v", moved)
			}
		})
	}
}

// A name that resolves into this machine is refused when the connection is
// made, so it does not matter what it resolved to before.
func TestLocalAddressesNeedAMap(t *testing.T) {
	var asked atomic.Int32
	s := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	t.Cleanup(s.Close)
	cl, _ := client(t)
	for _, u := range []string{s.URL, strings.Replace(s.URL, "https", "http", 1), strings.Replace(s.URL, "127.0.0.1", "localhost", 1)} {
		if _, err := cl.Get(t.Context(), Request{URL: u}); !is[*Refused](err) {
			t.Errorf("%s: %v", u, err)
		}
	}
	// The dialler itself, past the check of the URL.
	req, _ := http.NewRequest("GET", strings.Replace(s.URL, "127.0.0.1", "localhost", 1), nil)
	if _, err := cl.Transport().RoundTrip(req); !is[*Refused](err) {
		t.Errorf("dialler: %v", err)
	}
	if asked.Load() != 0 {
		t.Error("the server was asked")
	}
	for _, c := range []struct {
		address string
		mapped  bool
		ok      bool
	}{
		{"93.184.216.34:443", false, true}, {"[2606:2800:220:1::1]:443", false, true},
		{"127.0.0.1:80", false, false}, {"127.0.0.1:80", true, true}, {"[::1]:80", false, false},
		{"10.1.2.3:80", false, false}, {"10.1.2.3:80", true, true}, {"[fd12::1]:80", false, false}, {"100.64.0.1:1", false, false},
		{"169.254.169.254:80", true, false}, {"[fd00:ec2::254]:80", true, false}, {"[fe80::1%eth0]:80", true, false},
		{"[::ffff:169.254.169.254]:80", true, false}, {"[64:ff9b::a9fe:a9fe]:80", true, false}, {"[2002:7f00:1::]:80", false, false},
		{"0.0.0.0:80", true, false}, {"[::]:80", true, false}, {"224.0.0.1:80", true, false}, {"nonsense", true, false},
	} {
		if err := guard(c.mapped)("tcp", c.address, nil); (err == nil) != c.ok {
			t.Errorf("guard(%v)(%s) = %v", c.mapped, c.address, err)
		}
	}
}

func TestProxy(t *testing.T) {
	proxy := serve(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(407) })
	p, _ := url.Parse(strings.Replace(proxy, "http://", "http://user:SECRET@", 1))
	cl, _ := client(t, WithProxy(http.ProxyURL(p)))
	_, err := cl.Get(t.Context(), Request{URL: "https://upstream.example/x"})
	if !is[*ProxyAuth](err) || strings.Contains(err.Error(), "SECRET") {
		t.Errorf("error %v (%T)", err, err)
	}
	// The proxy's own address is no way into this machine.
	if _, err := cl.Get(t.Context(), Request{URL: strings.Replace(proxy, "http:", "https:", 1)}); !is[*Refused](err) {
		t.Errorf("error %v (%T)", err, err)
	}
}

func TestUnreachable(t *testing.T) {
	s := httptest.NewServer(nil)
	s.Close()
	cl, waits := client(t)
	_, err := cl.Get(t.Context(), Request{URL: s.URL, Mapped: true})
	if !is[*Unreachable](err) || verdict.Of(err) != verdict.Infra || len(*waits) != 2 {
		t.Errorf("%v, waits %v", err, *waits)
	}
}

func TestAFullDiskIsOneSentence(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("this system has no /dev/full")
	}
	f, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("cannot open /dev/full: %v", err)
	}
	defer f.Close()
	p := &part{path: "models/x.gguf", file: f, req: &Request{}, sum: newSums(Expect{})}
	_, err = p.Write([]byte("x"))
	if !errors.Is(err, syscall.ENOSPC) || verdict.Of(err) != verdict.Infra || !strings.Contains(err.Error(), "models/x.gguf: the disk is full") {
		t.Errorf("error %v", err)
	}
}

func TestMask(t *testing.T) {
	for in, want := range map[string]string{
		"https://u:p@h/x": "https://xxxxx@h/x",
		"https://h/x?X-Amz-Signature=abc&page=2&flag": "https://h/x?X-Amz-Signature=xxxxx&page=2&xxxxx",
		"https://h/x#frag":                            "https://h/x",
		"https://h/%zz":                               "(a URL that cannot be read)",
	} {
		if got := Mask(in); got != want {
			t.Errorf("Mask(%s) = %s, want %s", in, got, want)
		}
	}
}

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
