// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package round

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/1bit-MONSTER/engine/internal/clock"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
)

// A Found is a group as it was found at one moment. Whether it may go there is
// not decided yet.
type Found struct {
	// Round is what would be tried. Night, mode, try and base are for the
	// caller to fill in, and when each member was first seen.
	Round  *Round
	Errors map[string]error  // by pin; see fetch.Resolved
	Behind map[string]string // by pin: how far its lock is behind, where that is known

	engine     *fetch.Engine
	resolution *fetch.Resolution
}

// Resolve asks for the newest versions of a group's members, at one moment. root
// is our repository, checked out as on main. With to, the versions of an earlier
// Resolve are taken instead, which must be valid still; a member that is to go
// where it is stays, so that half of a group may move.
//
// What is wrong with a member is in Errors; the error is for what could not
// even be tried. Holds, rejected versions and ages are the caller's business.
func Resolve(ctx context.Context, e *fetch.Engine, root, group string, members []*pins.Pin, to []Member) (*Found, error) {
	var wanted map[string]fetch.Wanted
	for _, m := range to {
		if !slices.ContainsFunc(members, func(p *pins.Pin) bool { return p.Name == m.Pin }) {
			return nil, fmt.Errorf("group %s has no member %s", group, m.Pin)
		}
		if wanted == nil {
			wanted = map[string]fetch.Wanted{}
		}
		wanted[m.Pin] = fetch.Wanted{ID: m.To.ID, Name: m.To.Name, Via: m.To.Via}
	}
	if wanted != nil && len(wanted) != len(members) {
		return nil, fmt.Errorf("group %s: %d of %d members say where to go", group, len(wanted), len(members))
	}
	f := &Found{
		Round:  &Round{Schema: Schema, Group: group, At: now(e).Truncate(time.Second)},
		Errors: map[string]error{}, Behind: map[string]string{}, engine: e,
	}
	for _, p := range members {
		m := Member{Pin: p.Name, Stack: p.Stack, From: locked(p.Lock)}
		var err error
		if m.Ours, err = oursSum(root, p.Name, p.Stack); err != nil {
			return nil, fmt.Errorf("pin %s: %w", p.Name, err)
		}
		f.Round.Members = append(f.Round.Members, m)
	}
	f.resolution = e.Resolve(ctx, members, wanted)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i, x := range f.resolution.Members {
		m := &f.Round.Members[i]
		m.To, m.Notes = m.From, x.Notes
		if x.Moves() {
			m.To = Version{ID: x.ID, Name: x.Version}
			if x.Via != nil {
				m.To.Via = x.Via.Commit
			}
		}
		if x.Err != nil {
			f.Errors[m.Pin] = x.Err
		}
		if x.Behind != "" {
			f.Behind[m.Pin] = x.Behind
		}
	}
	f.Round.ID = f.Round.Identify()
	return f, nil
}

// locked is a lock's version.
func locked(l *pins.Lock) Version {
	v := Version{ID: l.ID()}
	if l != nil {
		v.Name = l.Version
		if l.Via != nil {
			v.Via = l.Via.Commit
		}
	}
	return v
}

func now(e *fetch.Engine) time.Time {
	if e.Clock == nil {
		return clock.System()
	}
	return e.Clock().UTC()
}

// Err returns what is wrong with all members as one error, whose verdict is the
// worst of theirs; nil where nothing is.
func (f *Found) Err() error {
	var all []error
	for i := range f.Round.Members {
		if err := f.Errors[f.Round.Members[i].Pin]; err != nil {
			all = append(all, err)
		}
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return fetch.Problems(all)
}

// Next returns the pins with the round's locks in them; base is not changed.
// What our patches make of a pin that moved is not in its lock.
func (r *Round) Next(base *pins.Set) *pins.Set {
	next := &pins.Set{Pins: slices.Clone(base.Pins), Groups: base.Groups}
	for _, m := range r.Moves() {
		i := slices.IndexFunc(next.Pins, func(p *pins.Pin) bool { return p.Name == m.Pin })
		if i < 0 || m.Lock == nil {
			continue
		}
		p := *next.Pins[i]
		p.Lock = m.Lock
		next.Pins[i] = &p
	}
	return next
}

// fits refuses pins that are not those that the round stands on.
func (r *Round) fits(base *pins.Set) error {
	var wrong []error
	for _, m := range r.Members {
		p := base.Pin(m.Pin)
		if p == nil {
			wrong = append(wrong, fmt.Errorf("there is no pin %s", m.Pin))
		} else if p.Lock.ID() != m.From.ID {
			wrong = append(wrong, fmt.Errorf("pin %s is at %q and not at %q", m.Pin, p.Lock.ID(), m.From.ID))
		}
	}
	if err := errors.Join(wrong...); err != nil {
		return verdict.Failf("the round %s of %s was made for other pins: %w: check out %s, on which it stands", r.ID, r.Group, wrong[0], r.Base)
	}
	return nil
}
