// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"errors"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// UpdateOptions say what a person wants of an update.
type UpdateOptions struct {
	PinsDir string // folder of the pin files
	To      string // a revision instead of the newest; for one name only
	Accept  Direction
	Reason  string // of Accept
	By      string // who accepts
}

// An Updated is what became of one pin.
type Updated struct {
	Name    string          `json:"name"`
	Group   string          `json:"group,omitempty"`
	From    string          `json:"from,omitempty"` // commit, digest or version
	To      string          `json:"to,omitempty"`
	Version string          `json:"version,omitempty"`
	Sum     string          `json:"sum,omitempty"`
	Via     string          `json:"via-mirror,omitempty"` // the repository that stands in
	Changed bool            `json:"changed"`              // the pin's file was written
	Notes   []string        `json:"notes,omitempty"`
	Verdict verdict.Verdict `json:"verdict"`
	Why     string          `json:"why,omitempty"` // of a verdict that is not pass

	lock *pins.Lock
	err  error
}

// check refuses what does not go together.
func (o *UpdateOptions) check(list []*pins.Pin) error {
	switch {
	case o.To != "" && len(list) != 1:
		return verdict.Usagef("--to is for one pin")
	case o.Accept != "" && (o.To == "" || o.Reason == ""):
		return verdict.Usagef("--accept needs --to REV and --reason TEXT: what is accepted is recorded with both")
	case o.Accept == "" && o.Reason != "":
		return verdict.Usagef("--reason is for --accept")
	case o.Accept != "" && o.By == "":
		return verdict.Usagef("--accept records who accepts: set user.name of git, or say --by NAME")
	case strings.ContainsFunc(o.Reason+o.By, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return verdict.Usagef("--reason and --by are one line each")
	}
	return nil
}

// Update moves pins to their newest versions: each group is resolved at one
// moment, then fetched and verified, and only when all of its members are, their
// files are written. What went wrong with a pin is in its row; the error is a
// mistake of the caller. A member of a group brings the whole group with it,
// unless To names a revision: then it brings what is read from the same place.
//
// A person's update is not bound by hold, min-age or schedule. A pin with a
// stack does not move here: see Target, and patches.Session.Write.
func (e *Engine) Update(ctx context.Context, list []*pins.Pin, o UpdateOptions) ([]Updated, error) {
	if err := o.check(list); err != nil {
		return nil, err
	}
	if o.To != "" {
		rows := e.updateSet(ctx, e.bound(list[0]), list[0], o)
		var mistake *verdict.Usage
		if errors.As(rows[0].err, &mistake) {
			return nil, wrap(list[0], rows[0].err)
		}
		return rows, ctx.Err()
	}
	var sets [][]*pins.Pin
	seen := map[string]bool{}
	for _, p := range list {
		if seen[p.Name] {
			continue
		}
		set := []*pins.Pin{p}
		if g := e.Set.GroupOf(p.Name); g != nil {
			set = nil
			for _, m := range g.Members {
				set = append(set, e.Set.Pin(m))
			}
		}
		for _, m := range set {
			seen[m.Name] = true
		}
		sets = append(sets, set)
	}
	rows := make([][]Updated, len(sets))
	group := errgroup.Group{}
	group.SetLimit(e.contentJobs())
	for i, set := range sets {
		group.Go(func() error {
			rows[i] = e.updateSet(ctx, set, nil, o)
			return nil
		})
	}
	group.Wait()
	return slices.Concat(rows...), ctx.Err()
}

// bound returns the members of a pin's group that must move when that pin is
// moved by hand: those that are read from it, or from the same repository.
func (e *Engine) bound(p *pins.Pin) []*pins.Pin {
	set := []*pins.Pin{p}
	g := e.Set.GroupOf(p.Name)
	for g != nil {
		n := len(set)
		for _, name := range g.Members {
			m := e.Set.Pin(name)
			if slices.Contains(set, m) || m.Track.Of == "" {
				continue
			}
			if slices.ContainsFunc(set, func(s *pins.Pin) bool {
				return m.Track.Of == s.Name || s.Track.Of != "" && sameURL(m.Track.Of, s.Track.Of) && s.Track.OfPin() == ""
			}) {
				set = append(set, m)
			}
		}
		if len(set) == n {
			break
		}
	}
	return set
}

// updateSet moves pins that belong together, or none of them.
func (e *Engine) updateSet(ctx context.Context, set []*pins.Pin, named *pins.Pin, o UpdateOptions) []Updated {
	r := e.begin(set)
	in := r.in
	rows := make([]Updated, len(set))
	each := func(work func(m *Resolved, row *Updated) error) bool {
		r.each(ctx, func(i int, m *Resolved) error { return work(m, &rows[i]) })
		for i, m := range r.Members {
			rows[i].fail(m.Err)
		}
		return !slices.ContainsFunc(rows, func(r Updated) bool { return r.Verdict != verdict.Pass && r.Verdict != verdict.Skipped })
	}
	for i, p := range set {
		rows[i] = Updated{Name: p.Name, From: p.Lock.ID()}
		if g := e.Set.GroupOf(p.Name); g != nil {
			rows[i].Group = g.Name
		}
	}
	if named != nil { // first: the others are read from it
		c, err := in.find(ctx, named, o.To)
		if r.Members[0].Err = err; err == nil {
			in.round.settle(named, c)
		}
	}
	ok := each(func(m *Resolved, _ *Updated) error {
		c, err := in.resolve(ctx, m.Pin, named, o)
		m.take(c)
		return err
	}) && each(func(m *Resolved, row *Updated) error {
		p, c := m.Pin, m.c
		row.To, row.Version, row.Notes = c.id(), c.Version, c.Notes
		if current(p, c) {
			row.lock = p.Lock
			return nil
		}
		if err := stackStays(p, c, o.PinsDir); err != nil {
			return err
		}
		accept := o
		if p != named {
			accept.Accept = ""
		}
		lock, err := in.newLock(ctx, p, c, accept)
		if err != nil {
			return err
		}
		if lock.Patched != nil && lock.Sum != p.Lock.Sum {
			row.Notes = append(row.Notes, "what the source has in it changed, so the sum of the patched tree did: run 'dist patches lock "+p.Stack+"'")
		}
		row.lock, row.To = lock, lock.ID()
		return nil
	})
	if !ok {
		for i := range rows {
			if rows[i].Verdict == verdict.Pass {
				rows[i].Verdict, rows[i].Why = verdict.Held, "another member of the group cannot move"
			}
		}
		return rows
	}
	writeAll(set, rows, o.PinsDir)
	return rows
}

// find is what a person's revision names.
func (e *Engine) find(ctx context.Context, p *pins.Pin, rev string) (*Candidate, error) {
	f, ok := kindOf(p).(finder)
	if !ok {
		return nil, verdict.Usagef("a %s pin has no revisions to go --to", p.Track.Kind)
	}
	return f.find(ctx, e, p, rev)
}

// resolve returns the version that a pin shall move to, after the rules that
// hold for a person too.
func (e *Engine) resolve(ctx context.Context, p, named *pins.Pin, o UpdateOptions) (*Candidate, error) {
	c, err := e.newest(ctx, p)
	if err != nil {
		return nil, err
	}
	if p.Hold.Active(e.now()) {
		c.Notes = append(c.Notes, "it is held ("+p.Hold.Reason+"), which does not bind a person's update")
	}
	if r, is := p.Rejected(c.id()); is {
		return nil, verdict.Heldf("%s is rejected (%s): take it off reject in %s if that is over", shown(orCommit(c)), orUnsaid(r.Why), p.File())
	}
	err = e.direction(ctx, p, c)
	d, wrong := directionOf(err)
	switch {
	case p != named || o.Accept == "":
		return c, err
	case wrong && d == o.Accept:
		return c, nil
	case wrong:
		return nil, verdict.Heldf("--accept %s is given, but: %w", o.Accept, err)
	case err != nil:
		return nil, err
	case p.Lock == nil:
		return nil, verdict.Usagef("there is nothing to accept: %s has no lock yet", p.Name)
	}
	return nil, verdict.Usagef("there is nothing to accept: %s is a successor of what is locked; leave --accept away", shown(orCommit(c)))
}

// current reports whether the lock is that candidate already, verified, with
// the same exclusions and with all inputs summed.
func current(p *pins.Pin, c *Candidate) bool {
	l := p.Lock
	if p.State() != pins.Verified && !(p.Track.Kind == pins.Field && p.Track.Files == nil && l != nil) {
		return false
	}
	if l.ID() != c.id() || l.Version != c.Version || len(c.Files) > 0 {
		return false
	}
	if p.Track.Kind == pins.Deb {
		return false // its packages may be others now: lock solves, and keeps what is the same
	}
	for _, in := range l.Inputs {
		if in.Sum == "" && in.Kind != pins.InputUnused && in.Kind != pins.InputFile {
			return false // a person listed it; it is not summed yet
		}
	}
	var have []string
	for _, x := range l.Excluded {
		have = append(have, x.Path)
	}
	want := excluded(p)
	slices.Sort(want)
	slices.Sort(have)
	return slices.Equal(have, want) && (l.Via == nil || c.Via == nil || *l.Via == *c.Via)
}

// carry keeps what belongs to the old lock and still holds.
func carry(p *pins.Pin, lock *pins.Lock) {
	old := p.Lock
	if old == nil {
		return
	}
	if lock.Inputs == nil {
		lock.Inputs = old.Inputs // LockInputs holds them against the new source
	}
	if old.ID() == lock.ID() {
		lock.Accepted = old.Accepted
		if old.Tree == lock.Tree {
			lock.Patched = old.Patched
		}
	}
}

// writeAll puts the locks into the pins' files, all or none. A file that
// somebody changed since the work began is not touched: what the update was
// judged by is no longer so.
func writeAll(set []*pins.Pin, rows []Updated, dir string) {
	var changes []pins.Change
	var index []int
	for i, p := range set {
		lock := rows[i].lock
		if rows[i].Verdict != verdict.Pass {
			continue
		}
		index = append(index, i)
		changes = append(changes, pins.Change{Name: p.Name, Edit: func(file []byte) ([]byte, error) {
			if err := p.StillIs(file, lock); err != nil {
				return nil, err
			}
			return pins.WriteLock(file, *lock)
		}})
	}
	changed, err := pins.EditAll(dir, changes...)
	for k, i := range index {
		if err != nil {
			rows[i].fail(err)
			continue
		}
		u := &rows[i]
		u.Changed, u.Sum = changed[k], u.lock.Sum
		if v := u.lock.ViaMirror; v != nil {
			u.Via = v.StandsIn
		}
		set[i].Lock = u.lock
	}
}

func (u *Updated) fail(err error) {
	if u.Verdict = verdict.Of(err); err != nil {
		u.Why, u.err = err.Error(), err
	}
}

func orCommit(c *Candidate) string {
	if c.Version != "" {
		return c.Version
	}
	return c.Commit.Short()
}
