// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package proposal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/patches"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/check"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
	"github.com/1bit-MONSTER/engine/pipelines/round"
	"github.com/1bit-MONSTER/engine/pipelines/round/gate"
)

// PrepareOptions say what is prepared and where.
type PrepareOptions struct {
	Repo    *git.Repo     // our own; the objects of Round.Base are enough
	Round   *round.Round  // with locks
	Engine  *fetch.Engine // offline, on the round's folder
	Scratch string        // a folder for the work trees
}

// A Prepared is a round as two work trees of our repository: as on main, and
// with the round in it.
type Prepared struct {
	Round *round.Round
	// BaseDir and NextDir have the files of the repository and no .git.
	BaseDir, NextDir string
	// Next has the round's locks also where NextDir is not complete.
	Base, Next *pins.Set
	Engine     *fetch.Engine // the given one, with Next
	// Stacks says how each stack of what moves did, by name, and StackErrors
	// what kept one from being tried.
	Stacks      map[string]*patches.Result
	StackErrors map[string]error
	Report      *Report

	dir      string              // with both
	complete bool                // NextDir has the round; where a stack did not pass, nothing of it
	tree     git.ID              // of Round.Base
	changes  changes             // what is committed, whatever becomes of NextDir
	dropped  map[string][]string // patch files that went, by stack
}

// Subject is what gates look at. Recipes and workshop are for the caller to give.
func (p *Prepared) Subject(receipts []fetch.Archived, now time.Time) *gate.Subject {
	return &gate.Subject{
		Round: p.Round, Base: p.Base, Next: p.Next, BaseDir: p.BaseDir, NextDir: p.NextDir, Engine: p.Engine,
		Stacks: p.Stacks, StackErrors: p.StackErrors, Receipts: receipts, Now: now,
	}
}

// Close removes the work trees.
func (p *Prepared) Close() error {
	if p.dir == "" {
		return nil
	}
	return os.RemoveAll(p.dir)
}

// Prepare makes the work trees of a round: it rebases the stacks of what moves,
// and writes locks, series, patches and NOTICE, all or nothing. A stack that
// does not pass is no error: it is in Stacks, with the commit that broke it.
//
// Nothing that was fetched is run, and nothing is asked for.
func Prepare(ctx context.Context, o PrepareOptions) (*Prepared, error) {
	p := &Prepared{Round: o.Round,
		Stacks: map[string]*patches.Result{}, StackErrors: map[string]error{}, dropped: map[string][]string{}}
	if err := p.prepare(ctx, o); err != nil {
		return nil, errors.Join(fmt.Errorf("prepare round %s of %s: %w", inert.Line(o.Round.ID, 40), inert.Line(o.Round.Group, 100), err), p.Close())
	}
	return p, nil
}

func (p *Prepared) prepare(ctx context.Context, o PrepareOptions) error {
	tree, entries, err := baseTree(ctx, o.Repo, o.Round.Base)
	if err != nil {
		return err
	}
	p.tree = tree
	if err := os.MkdirAll(o.Scratch, 0o755); err != nil {
		return err
	}
	// A folder of our own, so that no other is taken away by Close.
	if p.dir, err = os.MkdirTemp(o.Scratch, "round-*"); err != nil {
		return err
	}
	if err := os.Chmod(p.dir, 0o755); err != nil {
		return err
	}
	p.BaseDir, p.NextDir = filepath.Join(p.dir, "base"), filepath.Join(p.dir, "next")
	for _, dir := range []string{p.BaseDir, p.NextDir} {
		if err := writeTree(ctx, o.Repo, entries, dir, nil); err != nil {
			return err
		}
	}
	if p.Base, err = pins.Load(filepath.Join(p.BaseDir, "pins")); err != nil {
		return err
	}
	if err := checkRound(o.Round, p.Base); err != nil {
		return err
	}
	p.Next = o.Round.Next(p.Base)
	engine := *o.Engine
	engine.Set, p.Engine = p.Next, &engine
	if err := p.move(ctx); err != nil {
		return err
	}
	if p.complete {
		if p.Next, err = pins.Load(filepath.Join(p.NextDir, "pins")); err != nil {
			return err
		}
		engine.Set = p.Next
		if err := p.notice(); err != nil {
			return err
		}
	}
	p.changes, err = compare(ctx, o.Round, entries, p.NextDir)
	if err == nil && p.complete && len(p.changes) == 0 {
		err = verdict.Failf("nothing is left to change: main has the round already")
	}
	return err
}

// move brings pins and stacks to what the round has.
func (p *Prepared) move(ctx context.Context) (err error) {
	r, err := patches.OpenToWrite(ctx, p.NextDir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	source := func(ctx context.Context, pin *pins.Pin, _ string) (*git.Repo, error) {
		return p.Engine.Repository(ctx, pin.Name)
	}
	sessions := map[string]*patches.Session{}
	defer func() {
		for _, x := range sessions {
			err = errors.Join(err, x.Close())
		}
	}()
	p.complete = true
	var plain []pins.Change
	for _, m := range p.Round.Moves() {
		stacked, err := p.hasStack(m)
		if err != nil {
			return err
		}
		if !stacked {
			lock := *m.Lock
			plain = append(plain, pins.Change{Name: m.Pin, Edit: func(file []byte) ([]byte, error) { return pins.WriteLock(file, lock) }})
			continue
		}
		x, result, err := rebase(ctx, r, m, source)
		if x != nil {
			sessions[m.Stack] = x
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			p.StackErrors[m.Stack] = err
		} else {
			p.Stacks[m.Stack] = result
		}
		p.complete = p.complete && err == nil && result.Verdict() == verdict.Pass
	}
	if p.Report, err = p.report(ctx, sessions); err != nil {
		return err
	}
	if !p.complete {
		return nil
	}
	if _, err := pins.EditAll(filepath.Join(p.NextDir, "pins"), plain...); err != nil {
		return err
	}
	for _, stack := range slices.Sorted(maps.Keys(sessions)) {
		if err := p.write(ctx, sessions[stack], stack); err != nil {
			return err
		}
	}
	return nil
}

// hasStack says whether there are patches on a member: a pin may name a stack
// that nobody has made yet.
func (p *Prepared) hasStack(m *round.Member) (bool, error) {
	if m.Stack == "" {
		return false, nil
	}
	_, err := os.Stat(filepath.Join(p.BaseDir, patches.Folder, m.Stack, patches.SeriesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func rebase(ctx context.Context, r *patches.Repository, m *round.Member, source patches.Source) (*patches.Session, *patches.Result, error) {
	onto, err := git.ParseID(m.To.ID)
	if err != nil {
		return nil, nil, err
	}
	x, err := r.Session(ctx, m.Stack, source)
	if err != nil {
		return nil, nil, err
	}
	x.Options.Bisect = true
	result, err := x.Rebase(ctx, onto)
	return x, result, err
}

// write stores one rebased stack together with the lock of its pin.
func (p *Prepared) write(ctx context.Context, x *patches.Session, stack string) error {
	before, err := readSeries(p.NextDir, stack)
	if err != nil {
		return err
	}
	for _, m := range p.Round.Moves() {
		if m.Stack != stack {
			continue
		}
		lock := *m.Lock
		lock.Patched = nil
		if _, err := x.Write(ctx, p.Stacks[stack], &lock); err != nil {
			return err
		}
	}
	after, err := readSeries(p.NextDir, stack)
	if err != nil {
		return err
	}
	p.dropped[stack] = droppedFiles(before, after)
	return nil
}

func readSeries(root, stack string) (*patches.Series, error) {
	data, err := os.ReadFile(filepath.Join(root, patches.Folder, stack, patches.SeriesFile))
	if err != nil {
		return nil, err
	}
	s, problems := patches.ParseSeries(stackPath(stack)+"/"+patches.SeriesFile, data)
	if len(problems) > 0 {
		return nil, problems
	}
	return s, nil
}

// notice makes NOTICE follow the pins.
func (p *Prepared) notice() error {
	path := filepath.Join(p.NextDir, Notice)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // a repository without one
	}
	if err != nil {
		return err
	}
	moved, err := check.MoveNotice(data, p.Base, p.Next)
	if err != nil {
		return err
	}
	return os.WriteFile(path, moved, 0o644)
}
