// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/1bit-MONSTER/engine/internal/filelock"
	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// askLimit bounds one question to the remote.
const askLimit = 3 * time.Minute

// Refresh looks at the remote again. What the remote says counts, even where it
// lost events that this machine saw before: a note tells how many.
func (l *Ledger) Refresh(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refresh(ctx)
}

func (l *Ledger) refresh(ctx context.Context) error {
	if l.o.Remote.URL == "" {
		return verdict.Infraf("this clone has no remote origin: say with --state-remote where the branch %s is kept", Branch)
	}
	lock, err := l.lockLocal(ctx)
	if err != nil {
		return verdict.Infraf("the branch %s cannot be kept in this clone: %w", Branch, err)
	}
	defer lock.Unlock()
	before, err := l.localHead(ctx)
	if err != nil {
		return err
	}
	spec := git.FetchSpec{Refs: []git.Refspec{{From: remoteRef, To: LocalRef}}, Aside: true}
	if before == "" && l.o.Repo.Shallow() {
		spec.Depth = 1 // what a fresh clone needs is the last state, not how it came about
	}
	err = l.fetch(ctx, spec)
	if err != nil && l.breakLock() {
		err = l.fetch(ctx, spec)
	}
	var gone *git.RefGone
	switch {
	case errors.As(err, &gone):
		if err := l.gone(ctx, before); err != nil {
			return err
		}
		l.setHead("")
		return nil
	case err != nil:
		return l.unreadable(err)
	}
	head, err := l.localHead(ctx)
	if err != nil {
		return err
	}
	if before != "" && head != before {
		n, err := l.lost(ctx, before, head)
		switch {
		case err != nil:
			l.note("the branch %s at %s cannot be compared with what this clone saw before, which is not whole", Branch, l.where())
		case n > 0:
			l.note("the branch %s at %s lost %d events that were there before: what it says now counts", Branch, l.where(), n)
		}
	}
	l.setHead(head)
	return nil
}

// gone is what happens when the remote has no branch.
func (l *Ledger) gone(ctx context.Context, before git.ID) error {
	if before == "" {
		l.note("the branch %s is not at %s yet: nothing is remembered so far", Branch, l.where())
		return nil
	}
	n, err := l.lost(ctx, before, "")
	if err != nil {
		n = 0 // the clone's copy is not whole either
	}
	l.note("the branch %s is no longer at %s and %d events are lost: everything is counted anew", Branch, l.where(), n)
	return l.o.Repo.UpdateRef(ctx, LocalRef, "", before)
}

func (l *Ledger) fetch(ctx context.Context, spec git.FetchSpec) error {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	return l.o.Repo.Fetch(ctx, l.o.Remote, spec)
}

// lockLocal keeps other runs off LocalRef: two who move it at the same moment
// would fail each other.
func (l *Ledger) lockLocal(ctx context.Context) (*filelock.Lock, error) {
	return filelock.Wait(ctx, filepath.Join(l.common, "dist-"+Branch+".lock"), nil)
}

// breakLock removes git's own lock of LocalRef, which a killed run leaves, and
// says whether there was one. With lockLocal held it is nobody's: only we move
// that ref.
func (l *Ledger) breakLock() bool {
	return os.Remove(filepath.Join(l.common, filepath.FromSlash(LocalRef)+".lock")) == nil
}

func (l *Ledger) setLocal(ctx context.Context, id git.ID) error {
	lock, err := l.lockLocal(ctx)
	if err != nil {
		return err
	}
	defer lock.Unlock()
	if err = l.o.Repo.SetRef(ctx, LocalRef, id); err != nil && l.breakLock() {
		err = l.o.Repo.SetRef(ctx, LocalRef, id)
	}
	return err
}

func (l *Ledger) localHead(ctx context.Context) (git.ID, error) {
	id, err := l.o.Repo.RevParse(ctx, LocalRef+"^{commit}")
	var unknown *git.Unknown
	if errors.As(err, &unknown) {
		return "", nil
	}
	return id, err
}

// unreadable sorts out why the branch could not be fetched: a credential and an
// address are for the user to mend, all else may pass by itself.
func (l *Ledger) unreadable(err error) error {
	var auth *git.AuthRequired
	var bad *git.BadURL
	if errors.As(err, &auth) || errors.As(err, &bad) {
		return verdict.Usagef("the branch %s cannot be read: %v%s", Branch, err, l.hint())
	}
	return verdict.Infraf("the branch %s cannot be read: %w", Branch, err)
}

func (l *Ledger) hint() string {
	if l.o.TokenEnv == "" {
		return ""
	}
	return fmt.Sprintf(" (the credential is taken from %s)", l.o.TokenEnv)
}

// where is the remote, for people.
func (l *Ledger) where() string { return inert.Line(git.Mask(l.o.Remote.URL), 200) }
