// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package httpget

import (
	"net"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"syscall"

	"github.com/1bit-MONSTER/engine/internal/inert"
)

// guard returns a net.Dialer.Control that sees the address after name
// resolution, so a name that resolves differently the second time gains
// nothing.
func guard(mapped bool) func(network, address string, _ syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		ap, err := netip.ParseAddrPort(address)
		if err != nil {
			return &Refused{URL: address, Why: "its address cannot be read"}
		}
		if why := forbidden(ap.Addr(), mapped); why != "" {
			return &Refused{URL: ap.String(), Why: why}
		}
		return nil
	}
}

var (
	never = prefixes("169.254.0.0/16", "fe80::/10", "fd00:ec2::/32", "100.100.100.200/32", "168.63.129.16/32",
		"192.0.0.0/24", "0.0.0.0/8", "::/128", "224.0.0.0/4", "ff00::/8", "240.0.0.0/4")
	inside = prefixes("127.0.0.0/8", "::1/128", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16",
		"100.64.0.0/10", "198.18.0.0/15", "fc00::/7", "fec0::/10")
	nat64 = prefixes("64:ff9b::/96")[0]
	to4   = prefixes("2002::/16")[0]
)

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, p := range list {
		out[i] = netip.MustParsePrefix(p)
	}
	return out
}

// forbidden returns why no connection may go to an address, or "".
func forbidden(a netip.Addr, mapped bool) string {
	a = a.Unmap().WithZone("")
	if b := a.As16(); a.Is6() {
		switch { // an IPv4 address inside an IPv6 one
		case nat64.Contains(a):
			return forbidden(netip.AddrFrom4([4]byte(b[12:16])), mapped)
		case to4.Contains(a):
			return forbidden(netip.AddrFrom4([4]byte(b[2:6])), mapped)
		}
	}
	for _, p := range never {
		if p.Contains(a) {
			return "link-local, metadata and special addresses are never asked"
		}
	}
	if mapped {
		return ""
	}
	for _, p := range inside {
		if p.Contains(a) {
			return "it is an address of this machine or a private network; map the URL in the mirrors file if that is meant"
		}
	}
	return ""
}

// CheckURL says why an address that somebody else wrote must not be asked, by
// its text alone: the error is a *Refused, nil for an address that may be asked.
// It is for those that hand the address to another program; a Client checks by
// itself, and again when the name is resolved.
func CheckURL(raw string) error {
	u, err := url.Parse(raw)
	if err != nil {
		return &Refused{URL: Mask(raw), Why: "it is no address"}
	}
	return (&Client{}).checkURL(u, false)
}

// checkURL returns why u may not be asked, before anything is resolved.
func (c *Client) checkURL(u *url.URL, mapped bool) error {
	refuse := func(why string) error { return &Refused{URL: Mask(u.String()), Why: why} }
	switch {
	case u.Scheme == "http" && c.allowHTTP && mapped:
	case u.Scheme != "https":
		return refuse("only https is allowed (http for mapped mirrors, when allowed)")
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if host == "" {
		return refuse("it has no host")
	}
	if u.User != nil {
		return refuse("it carries a user name or password; credentials never stand in a URL")
	}
	if a, err := netip.ParseAddr(host); err == nil {
		if why := forbidden(a, mapped); why != "" {
			return refuse(why)
		}
	}
	if !mapped && (host == "localhost" || strings.HasSuffix(host, ".localhost") || c.proxies.has(hostPort(u))) {
		return refuse("it is this machine or its proxy; map the URL in the mirrors file if that is meant")
	}
	return nil
}

// A proxySet remembers the addresses of proxies that the user's environment
// named; only connections to them go past guard.
type proxySet struct{ m sync.Map }

func (s *proxySet) add(p *url.URL)       { s.m.Store(hostPort(p), true) }
func (s *proxySet) has(addr string) bool { _, ok := s.m.Load(strings.ToLower(addr)); return ok }

// hostPort returns the host and port of u in the form that is dialled.
func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}[u.Scheme]
	}
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// origin is what two URLs must share for credentials to go along.
func origin(u *url.URL) string { return u.Scheme + "://" + hostPort(u) }

// plainKeys are the query parameters whose values may be shown.
var plainKeys = map[string]bool{
	"page": true, "per_page": true, "ref": true, "sha": true, "state": true, "sort": true,
	"recursive": true, "service": true, "list-type": true, "prefix": true, "path": true, "version": true,
}

// Mask returns a URL fit to be shown: without user and password, with the
// values of its query (which may be signatures and tokens) replaced, inert, and
// of at most 300 characters.
func Mask(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "(a URL that cannot be read)"
	}
	if u.User != nil {
		u.User = url.User("xxxxx")
	}
	u.Fragment, u.RawFragment = "", ""
	if u.RawQuery != "" {
		parts := strings.Split(u.RawQuery, "&")
		for i, p := range parts {
			key, _, _ := strings.Cut(p, "=")
			if k, err := url.QueryUnescape(key); err != nil || !plainKeys[k] {
				parts[i] = key + "=xxxxx"
				if !strings.Contains(p, "=") {
					parts[i] = "xxxxx"
				}
			}
		}
		u.RawQuery = strings.Join(parts, "&")
	}
	return inert.Line(u.String(), 300)
}
