// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package httpget downloads from servers that nobody here controls: with time
// limits, retries, sizes and sums, and without ever leaving a wrong file where a
// right one was.
//
// It is for fetch, pins and whatever asks an upstream over HTTP. Redirects are
// followed by hand: https only, at most ten, and nothing of the caller's
// headers goes to another host. Addresses are checked after name resolution,
// when the connection is made, so a name cannot point into this machine or
// network: loopback, private and link-local addresses are refused unless the
// request's own URL was mapped there by the user ([Request.Mapped]); metadata
// services and link-local addresses always.
//
// Limits: one connection a file. Behind a proxy of the environment the proxy
// resolves names, so only literal addresses and "localhost" are refused there.
package httpget

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/1bit-MONSTER/engine/internal/clock"
)

// A Client downloads. It is safe for concurrent use. Make one with [New].
type Client struct {
	transport http.RoundTripper // for every host that is not mapped
	open      http.RoundTripper // for mapped hosts
	proxy     func(*http.Request) (*url.URL, error)
	proxies   proxySet

	agent     string
	allowHTTP bool
	attempts  int
	waitCap   time.Duration
	connect   time.Duration
	header    time.Duration
	stall     time.Duration
	now       clock.Clock
	sleep     func(context.Context, time.Duration) error
	jitter    func(time.Duration) time.Duration
}

// An Option changes a Client; it fails when its value makes no sense.
type Option func(*Client) error

// New returns a Client: 5 attempts, waits of at most 2 minutes each, 15 s to
// connect, 60 s for the first header, 30 s without a byte, the proxy of the
// environment.
func New(options ...Option) (*Client, error) {
	c := &Client{
		proxy:    http.ProxyFromEnvironment,
		agent:    "1bit-dist/dev",
		attempts: 5,
		waitCap:  2 * time.Minute,
		connect:  15 * time.Second,
		header:   60 * time.Second,
		stall:    30 * time.Second,
		now:      clock.System,
		sleep:    sleep,
		jitter:   func(d time.Duration) time.Duration { return d/2 + rand.N(d/2+1) },
	}
	for _, o := range options {
		if err := o(c); err != nil {
			return nil, err
		}
	}
	if c.transport == nil {
		c.transport = c.newTransport(false)
		c.open = c.newTransport(true)
	}
	return c, nil
}

// WithVersion sets the version in the User-Agent, "1bit-dist/<version>".
func WithVersion(version string) Option {
	return func(c *Client) error {
		for _, r := range version {
			if r <= ' ' || r > '~' {
				return errors.New("httpget: a version for the User-Agent has only visible ASCII characters")
			}
		}
		if version == "" {
			return errors.New("httpget: the version for the User-Agent is empty")
		}
		c.agent = "1bit-dist/" + version
		return nil
	}
}

// WithAllowHTTP permits http for mapped hosts (local mirrors). Everything else
// stays https.
func WithAllowHTTP() Option {
	return func(c *Client) error { c.allowHTTP = true; return nil }
}

// WithAttempts sets how often a request is tried in all, 1 to 20. An attempt
// that brought a file a mebibyte further starts the count again.
func WithAttempts(n int) Option {
	return func(c *Client) error {
		if n < 1 || n > 20 {
			return errors.New("httpget: attempts are 1 to 20")
		}
		c.attempts = n
		return nil
	}
}

// WithWaitCap sets the longest single wait, also when a server asks for more:
// then the request ends with RateLimited at once. At most an hour.
func WithWaitCap(d time.Duration) Option {
	return func(c *Client) error { c.waitCap = d; return within("wait cap", d, time.Hour) }
}

// WithTimeouts sets how long to wait for a connection, for the first header,
// and for the next byte of a body.
func WithTimeouts(connect, header, stall time.Duration) Option {
	return func(c *Client) error {
		c.connect, c.header, c.stall = connect, header, stall
		return errors.Join(within("connect limit", connect, time.Hour),
			within("header limit", header, time.Hour), within("stall limit", stall, time.Hour))
	}
}

func within(what string, d, most time.Duration) error {
	if d <= 0 || d > most {
		return errors.New("httpget: the " + what + " is more than zero and at most " + most.String())
	}
	return nil
}

// WithTransport replaces the network, for tests. Literal addresses are still
// checked; names are not resolved here then.
func WithTransport(t http.RoundTripper) Option {
	return func(c *Client) error {
		if t == nil {
			return errors.New("httpget: no transport")
		}
		c.transport, c.open = t, t
		return nil
	}
}

// WithProxy replaces the proxy of the environment; nil means none.
func WithProxy(proxy func(*http.Request) (*url.URL, error)) Option {
	return func(c *Client) error { c.proxy = proxy; return nil }
}

// WithClock replaces the clock and the waiting, for tests.
func WithClock(now clock.Clock, sleep func(context.Context, time.Duration) error) Option {
	return func(c *Client) error {
		if now == nil || sleep == nil {
			return errors.New("httpget: a clock and a sleep are given together")
		}
		c.now, c.sleep = now, sleep
		return nil
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// newTransport returns a transport that dials what guard allows.
func (c *Client) newTransport(mapped bool) *http.Transport {
	return &http.Transport{
		Proxy: func(r *http.Request) (*url.URL, error) {
			if c.proxy == nil {
				return nil, nil
			}
			p, err := c.proxy(r)
			if p != nil {
				c.proxies.add(p)
			}
			return p, err
		},
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			d := net.Dialer{Timeout: c.connect, KeepAlive: 30 * time.Second}
			if !c.proxies.has(addr) {
				d.Control = guard(mapped)
			}
			return d.DialContext(ctx, network, addr)
		},
		OnProxyConnectResponse: func(_ context.Context, p *url.URL, _ *http.Request, resp *http.Response) error {
			if resp.StatusCode == http.StatusProxyAuthRequired {
				return &ProxyAuth{Proxy: Mask(p.String())}
			}
			return nil
		},
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // the bytes that are summed are the bytes that were sent
		TLSHandshakeTimeout:    c.connect,
		ResponseHeaderTimeout:  c.header,
		ExpectContinueTimeout:  time.Second,
		IdleConnTimeout:        30 * time.Second,
		MaxIdleConnsPerHost:    8,
		MaxResponseHeaderBytes: 256 << 10,
	}
}

// Close drops idle connections.
func (c *Client) Close() {
	for _, t := range []http.RoundTripper{c.transport, c.open} {
		if t, ok := t.(interface{ CloseIdleConnections() }); ok {
			t.CloseIdleConnections()
		}
	}
}

// Transport returns a transport for other HTTP libraries, with the address
// rules of this client for hosts that are not mapped. Redirects, retries and
// time limits of bodies are the library's own.
func (c *Client) Transport() http.RoundTripper { return c.transport }

// MappedTransport is Transport for hosts that the user mapped: they may be
// local.
func (c *Client) MappedTransport() http.RoundTripper { return c.open }
