// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"net"
	"net/http"
	"net/url"
	"strings"
)

// A guard refuses requests that a page of another site could have sent with
// the help of the user's browser. A server on a loopback address is reached by
// names that mean this machine only, so another name in Host is a page whose
// own name was pointed here (DNS rebinding). A request that changes or
// computes something and carries an Origin must come from this machine or from
// the server's own address.
type guard struct{ loopback bool }

func newGuard(a net.Addr) guard {
	tcp, ok := a.(*net.TCPAddr)
	return guard{loopback: ok && tcp.IP.IsLoopback()}
}

// refuse returns the reason against a request, or "".
func (g guard) refuse(r *http.Request) string {
	if g.loopback && !loopbackName(r.Host) {
		return "the Host header does not name this server"
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return ""
	}
	for _, origin := range r.Header.Values("Origin") {
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" || (!loopbackName(u.Host) && !strings.EqualFold(u.Host, r.Host)) {
			return "cross-site requests are not allowed"
		}
	}
	return ""
}

// loopbackName says whether a host, with or without a port, is this machine.
func loopbackName(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip := net.ParseIP(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	return ip != nil && ip.IsLoopback()
}
