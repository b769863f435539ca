// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"sync"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// A round is one moment: what was resolved in it is not asked for again, so
// that all members of a group see the same upstream.
type round struct {
	mu      sync.Mutex
	members map[string]bool
	found   map[string]*once[*Candidate] // by pin
	heads   map[string]*once[git.ID]     // by address and branch
	forced  map[string]git.ID            // by address: the commit that was named instead of a branch's
	wanted  map[string]Wanted            // by pin: what is taken instead of the newest
}

type once[T any] struct {
	once  sync.Once
	value T
	err   error
}

func (o *once[T]) do(f func() (T, error)) (T, error) {
	o.once.Do(func() { o.value, o.err = f() })
	return o.value, o.err
}

// newRound returns the engine for one moment, in which the members are
// resolved.
func (e *Engine) newRound(members ...*pins.Pin) *Engine {
	in := *e
	in.round = &round{members: map[string]bool{}, found: map[string]*once[*Candidate]{}, heads: map[string]*once[git.ID]{}, forced: map[string]git.ID{}, wanted: map[string]Wanted{}}
	for _, p := range members {
		in.round.members[p.Name] = true
	}
	return &in
}

// one returns what is worked out once a round under a key.
func one[T any](mu *sync.Mutex, all map[string]*once[T], key string) *once[T] {
	mu.Lock()
	defer mu.Unlock()
	if all[key] == nil {
		all[key] = &once[T]{}
	}
	return all[key]
}

// newest resolves a pin, once a round: to its newest version, or to the earlier
// one that is wanted in this round.
func (e *Engine) newest(ctx context.Context, p *pins.Pin) (*Candidate, error) {
	ask := func() (c *Candidate, err error) {
		err = e.mending(ctx, func() error {
			if w, earlier := e.wanted(p.Name); earlier {
				c, err = e.earlier(ctx, p, w)
			} else {
				c, err = kindOf(p).newest(ctx, e, p)
			}
			return err
		})
		return c, err
	}
	if e.round == nil {
		return ask()
	}
	return one(&e.round.mu, e.round.found, p.Name).do(ask)
}

// wanted returns the earlier version of a pin that is taken in this round.
func (e *Engine) wanted(pin string) (w Wanted, ok bool) {
	if e.round != nil {
		w, ok = e.round.wanted[pin]
	}
	return w, ok
}

// settle makes c what the pin is in this round.
func (r *round) settle(p *pins.Pin, c *Candidate) {
	one(&r.mu, r.found, p.Name).do(func() (*Candidate, error) { return c, nil })
}

// head returns the commit of a branch, or the one that was named in its place.
func (e *Engine) head(ctx context.Context, address, branch string) (git.ID, error) {
	if e.round != nil {
		e.round.mu.Lock()
		id, forced := e.round.forced[plainURL(address)]
		e.round.mu.Unlock()
		if forced {
			return id, nil
		}
	}
	return e.tip(ctx, address, branch)
}

// tip returns the commit of a branch, asked for once a round.
func (e *Engine) tip(ctx context.Context, address, branch string) (git.ID, error) {
	if e.round == nil {
		return e.askHead(ctx, address, branch)
	}
	return one(&e.round.mu, e.round.heads, address+" "+branch).do(func() (git.ID, error) { return e.askHead(ctx, address, branch) })
}

// parent returns the commit of another pin that something is read from: the one
// of this round if it is a member, else its lock's.
func (e *Engine) parent(ctx context.Context, name string) (*pins.Pin, git.ID, error) {
	p, err := e.Set.Named(name)
	if err != nil {
		return nil, "", err
	}
	if e.round != nil && e.round.members[name] {
		c, err := e.newest(ctx, p)
		if err != nil {
			return nil, "", verdict.New(verdict.Of(err), "it is read from the pin "+name+", which could not be resolved")
		}
		return p, c.Commit, nil
	}
	if p.Lock == nil || p.Lock.Commit == "" {
		return nil, "", verdict.Heldf("it is read from the pin %s, which has no locked commit: run 'dist pins update %s' first", name, name)
	}
	id, err := git.ParseID(p.Lock.Commit)
	return p, id, err
}
