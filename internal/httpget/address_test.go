// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package httpget

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/verdict"
)

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
