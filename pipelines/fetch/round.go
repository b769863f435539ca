// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"sync"

	"github.com/1bit-MONSTER/engine/internal/git"
)

// A round is one moment: what was resolved in it is not asked for again, so
// that all members of a group see the same upstream.
type round struct {
	mu     sync.Mutex
	pins   map[string]*Candidate // members that are resolved already
	heads  map[string]*headOnce  // by address and branch
	forced map[string]git.ID     // by address: the commit that a person named
}

type headOnce struct {
	once sync.Once
	id   git.ID
	err  error
}

// newRound returns the engine for one moment.
func (e *Engine) newRound() *Engine {
	in := *e
	in.round = &round{pins: map[string]*Candidate{}, heads: map[string]*headOnce{}, forced: map[string]git.ID{}}
	return &in
}

func (r *round) resolved(name string) *Candidate {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pins[name]
}

func (r *round) resolve(name string, c *Candidate) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pins[name] = c
}

// head asks for a branch once a round.
func (r *round) head(key string, ask func() (git.ID, error)) (git.ID, error) {
	if r == nil {
		return ask()
	}
	r.mu.Lock()
	h := r.heads[key]
	if h == nil {
		h = &headOnce{}
		r.heads[key] = h
	}
	r.mu.Unlock()
	h.once.Do(func() { h.id, h.err = ask() })
	return h.id, h.err
}
