// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package remotecache

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/1bit-MONSTER/engine/internal/clock"
	"github.com/1bit-MONSTER/engine/internal/httpget"
	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/progress"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/build"
)

// Options say how a registry is used.
type Options struct {
	Address  Address
	Trust    *Trust  // nil: the registry is trusted, and with it all who may write there
	Push     bool    // give it what was built here
	Signer   *Signer // of what is pushed; nil: it is not signed
	Progress *progress.Reporter

	// Workspace returns a folder on a disk with room and what removes it, as
	// store.Store does. It is needed to push.
	Workspace func() (string, func(), error)
}

// A Cache is a registry as build.Remote. It is safe for use by several
// goroutines.
type Cache struct {
	o      Options
	limits limits
	now    clock.Clock
	puller *remote.Puller
	pusher *remote.Pusher

	mu            sync.Mutex
	pulls, pushes lane
	refused       map[store.Key]bool // their entries there are no good
}

var _ build.Remote = (*Cache)(nil)

// A lane is one direction.
type lane struct {
	strikes int
	closed  bool
}

// New returns a Cache. It asks nobody yet.
func New(o Options) (*Cache, error) {
	client, err := httpget.New()
	if err != nil {
		return nil, err
	}
	// The user names the registry, which may be near; metadata services are
	// never asked, wherever a registry sends us.
	return newCache(o, defaultLimits, clock.System, sleep, authn.DefaultKeychain, client.MappedTransport())
}

func newCache(o Options, l limits, now clock.Clock, sleep func(context.Context, time.Duration) error, keys authn.Keychain, through http.RoundTripper) (*Cache, error) {
	switch {
	case o.Push && o.Workspace == nil:
		return nil, errors.New("remotecache: pushing needs a workspace")
	case o.Push && o.Trust != nil && o.Signer == nil:
		return nil, verdict.Usagef("a trust file requires that outputs are signed: name the file of a key to push them")
	case o.Push && o.Trust != nil:
		if err := o.Trust.Accepts(o.Signer, now()); err != nil {
			return nil, err
		}
	}
	c := &Cache{o: o, limits: l, now: now, refused: map[store.Key]bool{}}
	options := []remote.Option{
		remote.WithTransport(&guard{next: through, limits: &c.limits, address: o.Address, sleep: sleep, now: now}),
		remote.WithAuthFromKeychain(keychain{keys, &c.limits}),
		remote.WithUserAgent("1bit-dist"),
		remote.WithRetryBackoff(remote.Backoff{Duration: l.backoff, Factor: 1, Jitter: 0.2, Steps: 2}),
		remote.WithRetryStatusCodes(http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout),
	}
	var err error
	if c.puller, err = remote.NewPuller(options...); err != nil {
		return nil, err
	}
	c.pusher, err = remote.NewPusher(options...)
	return c, err
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// open says whether a lane is still used.
func (c *Cache) open(l *lane) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !l.closed
}

// well notes that the registry answered as it should.
func (c *Cache) well(l *lane) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l.strikes = 0
}

// failed tells a failure, once for each until the lane is closed.
func (c *Cache) failed(l *lane, what string, err error) {
	f := explain(err)
	c.mu.Lock()
	if l.closed {
		c.mu.Unlock()
		return // another told it, while we waited
	}
	if f.strike {
		l.strikes++
	}
	l.closed = f.decisive || l.strikes >= c.limits.strikes
	closed := l.closed
	c.mu.Unlock()
	rest := ""
	if closed {
		rest = "; it is left alone for the rest of this run"
	}
	c.o.Progress.Step("warning: remote cache %s: %s: %s%s", c.o.Address, what, inert.Line(f.text, 400), rest)
}

// refuse notes whether what lies under a key there is no good.
func (c *Cache) refuse(key store.Key, is bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refused[key] = is
}

func (c *Cache) isRefused(key store.Key) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refused[key]
}
