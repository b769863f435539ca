// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package round

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/patches"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
)

// Fetch brings the content of what moves into the store, verified, with inputs
// and submodules, and writes the locks into the round; for a pin with a stack
// also the history and the files that a rebase onto its new version reads, so
// that it needs no network. It notes why a proposal can only be a draft. What
// went wrong with a member is in Errors too. Nothing that was fetched is run.
func (f *Found) Fetch(ctx context.Context, stacks *patches.Repository) error {
	if err := f.Err(); err != nil {
		return err
	}
	for _, m := range f.Round.Moves() {
		if err := f.fetch(ctx, stacks, m); err != nil {
			f.Errors[m.Pin] = err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	if f.Round.Mixed {
		f.Round.draft("only a part of the group moves")
	}
	return f.Err()
}

func (f *Found) fetch(ctx context.Context, stacks *patches.Repository, m *Member) error {
	lock, err := f.resolution.Lock(ctx, m.Pin)
	if err != nil {
		return err
	}
	if lock.ID() != m.To.ID {
		return verdict.Failf("pin %s: %s was to be locked, and its content is that of %s", m.Pin, inert.Line(m.To.ID, 100), inert.Line(lock.ID(), 100))
	}
	m.Lock = lock
	m.Notes = nil
	for _, note := range f.resolution.Member(m.Pin).Notes {
		m.Notes = append(m.Notes, inert.Line(note, 300))
	}
	if v := lock.ViaMirror; v != nil {
		f.Round.draft(fmt.Sprintf("%s was read through a mirror that stands in for %s", m.Pin, inert.Line(v.StandsIn, 200)))
	}
	if m.Stack == "" || stacks == nil {
		return nil
	}
	if _, err := os.Lstat(filepath.Join(stacks.Root, patches.Folder, m.Stack)); errors.Is(err, fs.ErrNotExist) {
		return nil // it has no patches yet
	}
	target, err := f.resolution.Target(m.Pin)
	if err == nil {
		err = bring(ctx, stacks, m.Stack, target)
	}
	if err != nil {
		return fmt.Errorf("stack %s: %w", m.Stack, err)
	}
	return nil
}

// bring gets what a rebase of a stack onto a target reads.
func bring(ctx context.Context, stacks *patches.Repository, name string, target *fetch.Target) error {
	s, err := stacks.Load(name)
	if err != nil {
		return err
	}
	base, err := s.NeedBase()
	if err != nil {
		return err
	}
	repo, err := target.History(ctx, base)
	if err != nil {
		return err
	}
	x, err := stacks.Session(ctx, name, func(context.Context, *pins.Pin, string) (*git.Repo, error) { return repo, nil })
	if err != nil {
		return err
	}
	defer x.Close()
	files, err := x.Lacking(ctx, target.Commit)
	if err != nil {
		return err
	}
	return target.EnsureFiles(ctx, files)
}

// draft notes why a proposal can only be a draft.
func (r *Round) draft(why string) {
	if !slices.Contains(r.Draft, why) {
		r.Draft = append(r.Draft, why)
	}
}
