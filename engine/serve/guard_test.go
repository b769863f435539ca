// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"net"
	"net/http/httptest"
	"testing"
)

func TestGuard(t *testing.T) {
	const badHost, badOrigin = "the Host header does not name this server", "cross-site requests are not allowed"
	for _, c := range []struct {
		listen, method, host, origin, want string
	}{
		{"127.0.0.1", "GET", "127.0.0.1:8000", "", ""},
		{"127.0.0.1", "GET", "127.9.9.9", "", ""},
		{"127.0.0.1", "GET", "localhost:8000", "", ""},
		{"127.0.0.1", "GET", "LOCALHOST.", "", ""},
		{"127.0.0.1", "GET", "app.localhost", "", ""},
		{"127.0.0.1", "GET", "[::1]:8000", "", ""},
		{"127.0.0.1", "GET", "::1", "", ""},
		{"::1", "GET", "evil.example", "", badHost},
		{"127.0.0.1", "GET", "evil.example:8000", "", badHost},
		{"127.0.0.1", "GET", "localhost.evil.example", "", badHost},
		{"127.0.0.1", "GET", "127.0.0.1.evil.example", "", badHost},
		{"127.0.0.1", "GET", "evil-localhost", "", badHost},
		{"127.0.0.1", "GET", "192.168.1.5", "", badHost},
		{"127.0.0.1", "GET", "", "", badHost},
		{"0.0.0.0", "GET", "strix.lan:8000", "", ""},
		{"127.0.0.1", "POST", "localhost:8000", "http://localhost:3000", ""},
		{"127.0.0.1", "POST", "localhost:8000", "https://app.localhost", ""},
		{"127.0.0.1", "POST", "localhost:8000", "http://evil.example", badOrigin},
		{"127.0.0.1", "POST", "localhost:8000", "null", badOrigin},
		{"127.0.0.1", "POST", "localhost:8000", "http://localhost.evil.example", badOrigin},
		{"127.0.0.1", "DELETE", "localhost:8000", "http://evil.example", badOrigin},
		{"127.0.0.1", "GET", "localhost:8000", "http://evil.example", ""},
		{"0.0.0.0", "POST", "strix.lan:8000", "http://strix.lan:8000", ""},
		{"0.0.0.0", "POST", "strix.lan:8000", "http://strix.lan:9000", badOrigin},
		{"0.0.0.0", "POST", "strix.lan:8000", "http://evil.example", badOrigin},
	} {
		r := httptest.NewRequest(c.method, "/v1/chat/completions", nil)
		r.Host = c.host
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		g := newGuard(&net.TCPAddr{IP: net.ParseIP(c.listen)})
		if got := g.refuse(r); got != c.want {
			t.Errorf("%s on %s, Host %q, Origin %q: %q, want %q", c.method, c.listen, c.host, c.origin, got, c.want)
		}
	}
}

func TestGuardStandsBeforeEverything(t *testing.T) {
	s := &server{guard: guard{loopback: true}}
	for _, path := range []string{"/health", "/v1/models", "/v1/chat/completions", "/absent"} {
		r := httptest.NewRequest("GET", path, nil)
		r.Host = "evil.example"
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != 403 {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}

func TestRenameModel(t *testing.T) {
	for in, want := range map[string]string{
		`{"model":"a","x":1}`:                  `{"model":"new","x":1}`,
		` {"x":{"model":"in"}, "model" : "a"}`: ` {"x":{"model":"in"}, "model" : "new"}`,
		`{"x":1}`:                              `{"x":1}`,
		`{"model":null}`:                       `{"model":null}`,
		`["model"]`:                            `["model"]`,
		`{"model":"a`:                          `{"model":"a`,
		`{"a":1e999,"model":"ü\n"}`:            `{"a":1e999,"model":"new"}`,
		``:                                     ``,
	} {
		if got := string(renameModel([]byte(in), "new")); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
