// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"os"
	"path/filepath"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/patches"
	"github.com/1bit-MONSTER/engine/pins"
)

// A Target is a commit that a pin and the stack on it are to move to together.
type Target struct {
	Pin     *pins.Pin
	Commit  git.ID
	Version string   // as the upstream writes it; empty for a branch or commit
	Notes   []string // for people: what is worth knowing and stops nothing

	in *Engine // the moment in which it was resolved
	c  *Candidate
	o  UpdateOptions
}

// Target resolves o.To for a pin by the rules that hold for Update: a rejected
// version, and one that is no successor and that nobody accepts, is an error.
// For a pin that is read from another repository the revision is one there.
// It touches the network, unless o.To is a full commit that is here.
func (e *Engine) Target(ctx context.Context, pin string, o UpdateOptions) (*Target, error) {
	p, err := e.Set.Named(pin)
	if err != nil {
		return nil, err
	}
	t, err := e.target(ctx, p, o)
	if err != nil {
		return nil, err
	}
	if t.c, err = t.in.resolve(ctx, p, p, o); err != nil {
		return nil, wrap(p, err)
	}
	t.Notes = t.c.Notes
	return t, nil
}

// Look is Target without the rules, for who only wants to know how a stack does
// somewhere. Its Lock is not to be written.
func (e *Engine) Look(ctx context.Context, pin, rev string) (*Target, error) {
	p, err := e.Set.Named(pin)
	if err != nil {
		return nil, err
	}
	return e.target(ctx, p, UpdateOptions{To: rev})
}

func (e *Engine) target(ctx context.Context, p *pins.Pin, o UpdateOptions) (*Target, error) {
	if o.To == "" {
		return nil, verdict.Usagef("pin %s: the revision to move to must be said", p.Name)
	}
	if err := o.check([]*pins.Pin{p}); err != nil {
		return nil, err
	}
	if !commits(p) {
		return nil, wrap(p, verdict.Usagef("a %s pin has no commits that a stack could be on", p.Track.Kind))
	}
	named, in := p, e.newRound(p)
	if of := e.Set.Pin(p.Track.OfPin()); of != nil {
		named, in = of, e.newRound(p, of)
	}
	c, err := in.find(ctx, named, o.To)
	if err != nil {
		return nil, wrap(p, err)
	}
	in.round.settle(named, c)
	if c, err = in.newest(ctx, p); err != nil {
		return nil, wrap(p, err)
	}
	return in.targetAt(p, c, o), nil
}

// targetAt is the target that a candidate is, in the moment of e.
func (e *Engine) targetAt(p *pins.Pin, c *Candidate, o UpdateOptions) *Target {
	return &Target{Pin: p, Commit: c.Commit, Version: c.Version, Notes: c.Notes, in: e, c: c, o: o}
}

// History brings the commits behind a target, and behind the pin's base, here
// without their files, then the files of that base, and returns our repository
// of the upstream: what a rebase starts from. EnsureFiles gets the rest.
func (t *Target) History(ctx context.Context, base git.ID) (*git.Repo, error) {
	e, p := t.in, *t.Pin
	p.Upstream = e.address(t.Pin, t.c.Via)
	r, err := e.pinRepo(ctx, &p)
	if err != nil {
		return nil, wrap(t.Pin, err)
	}
	have, err := r.HasCommit(ctx, t.Commit)
	if err == nil && (!have || r.Shallow()) {
		err = e.fetchCommit(ctx, r, wish{name: p.Name, commit: t.Commit, history: true, where: t.c.where})
	}
	if e := r.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = e.EnsureBlobs(ctx, p.Name, []git.ID{base}, nil)
	}
	return r.Repo, wrap(t.Pin, err)
}

// EnsureFiles brings files of the target's upstream here by the ids of their
// blobs, all in one batch. One that the upstream lacks is an error with its path.
// A submodule may be at another address than before; it is asked there.
func (t *Target) EnsureFiles(ctx context.Context, files []git.Entry) error {
	if len(files) == 0 {
		return nil
	}
	p := *t.Pin
	p.Upstream = t.in.address(t.Pin, t.c.Via)
	r, err := t.in.pinRepo(ctx, &p)
	if err != nil {
		return wrap(t.Pin, err)
	}
	defer r.Close()
	return wrap(t.Pin, t.in.blobs(ctx, r, wish{name: p.Name, exclude: leftOut(&p)}, files))
}

// Lock brings the content of the target into the store, with submodules and
// inputs, and returns the lock that describes it, verified, as Update would
// write it. Nothing is written; the patched tree is for whoever moves the stack.
func (t *Target) Lock(ctx context.Context) (*pins.Lock, error) {
	if current(t.Pin, t.c) {
		return t.Pin.Lock, nil
	}
	lock, err := t.in.newLock(ctx, t.Pin, t.c, t.o)
	return lock, wrap(t.Pin, err)
}

// Bound returns the names of the pins that are read from the same place and
// that 'dist pins update' moves after this one.
func (t *Target) Bound() []string {
	var names []string
	for _, p := range t.in.bound(t.Pin)[1:] {
		names = append(names, p.Name)
	}
	return names
}

// newLock brings a candidate's content here and describes it.
func (e *Engine) newLock(ctx context.Context, p *pins.Pin, c *Candidate, o UpdateOptions) (*pins.Lock, error) {
	e.Progress.Step("%s: %s", p.Name, orCommit(c))
	lock, err := kindOf(p).lock(ctx, e, p, c)
	if err != nil {
		return nil, err
	}
	carry(p, lock)
	if len(lock.Inputs) > 0 {
		q := *p
		q.Lock = lock
		var notes []string
		lock.Inputs, notes = e.renewUnused(ctx, p, &q)
		c.Notes = append(c.Notes, notes...)
		if lock.Inputs, _, err = e.LockInputs(ctx, &q); err != nil {
			return nil, err
		}
	}
	if o.Accept != "" {
		lock.Accepted = &pins.Accepted{From: p.Lock.ID(), To: lock.ID(), Why: o.Reason, By: o.By, Date: pins.Day(e.now().Format("2006-01-02"))}
	}
	return lock, nil
}

// stackStays refuses to move a pin away from below its stack: patches are for
// one commit, so both move in one step or not at all.
func stackStays(p *pins.Pin, c *Candidate, pinsDir string) error {
	if p.Stack == "" || p.Lock == nil || p.Lock.Commit == "" || p.Lock.Commit == string(c.Commit) {
		return nil
	}
	rev := string(c.Commit)
	switch {
	case c.Via != nil:
		rev = c.Via.Commit
	case c.Version != "":
		rev = c.Version
	}
	held := verdict.Heldf("the patches of stack %s are for %s: 'dist patches rebase %s --onto %s --write' moves pin and stack together", p.Stack, git.ID(p.Lock.Commit).Short(), p.Stack, shown(rev))
	if p.Lock.Patched != nil {
		return held
	}
	// The lock says nothing about patches, but they may be there, for this very
	// commit. A series that states its base is for another one.
	data, err := os.ReadFile(filepath.Join(filepath.Dir(pinsDir), patches.Folder, p.Stack, patches.SeriesFile))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if s, _ := patches.ParseSeries(patches.SeriesFile, data); s.Base != "" || len(s.Files()) == 0 {
		return nil
	}
	return held
}
