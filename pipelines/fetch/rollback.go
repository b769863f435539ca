// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/treesum"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// A RolledBack is what a rollback did.
type RolledBack struct {
	Name  string `json:"name"`
	From  string `json:"from"` // the bad version, now rejected
	To    string `json:"to"`
	Of    string `json:"of"` // the commit of this repository that the files are from
	File  string `json:"file"`
	Stack string `json:"stack,omitempty"` // the folder that was restored
}

// Rollback restores a pin's file and its stack's folder as they were before the
// present version, from the history of this repository, and adds that version
// to the rejected ones. Holds and rejections stay. Nothing is committed.
func Rollback(ctx context.Context, repo string, p *pins.Pin, why string) (*RolledBack, error) {
	if p.Lock.ID() == "" {
		return nil, verdict.Usagef("pin %s has no lock to go back from", p.Name)
	}
	r, err := git.Open(ctx, repo)
	if err != nil {
		return nil, verdict.Usagef("the history cannot be read: %s", err)
	}
	file := "pins/" + p.Name + ".yaml"
	old, before, commit, err := previous(ctx, r, p, file)
	if err != nil {
		return nil, wrap(p, err)
	}
	done := &RolledBack{Name: p.Name, From: p.Lock.ID(), To: before.Lock.ID(), Of: string(commit.ID), File: p.File()}
	swap := func() error { return nil }
	for _, name := range []string{p.Stack, before.Stack} {
		if name != "" && done.Stack == "" {
			done.Stack = "patches/" + name
			if swap, err = prepareStack(ctx, r, repo, name, commit.Tree); err != nil {
				return nil, wrap(p, err)
			}
		}
	}
	restored, err := keepRules(old, p, pins.Reject{ID: p.Lock.ID(), Why: why})
	if err != nil {
		return nil, wrap(p, err)
	}
	// The pin's file is last: until it is written, the same again goes on from
	// any moment at which this one was killed.
	if err := swap(); err != nil {
		return nil, wrap(p, err)
	}
	_, err = pins.Edit(filepath.Join(repo, "pins"), p.Name, func(file []byte) ([]byte, error) {
		if err := p.StillIs(file); err != nil {
			return nil, err
		}
		return restored, nil
	})
	return done, err
}

// previous finds the youngest file of the pin in the history that has another
// lock, and one that was never rejected.
func previous(ctx context.Context, r *git.Repo, p *pins.Pin, file string) ([]byte, *pins.Pin, *git.Commit, error) {
	head, err := r.RevParse(ctx, "HEAD^{commit}")
	if err != nil {
		return nil, nil, nil, verdict.Usagef("this repository has no commit yet")
	}
	ids, err := r.RevList(ctx, git.Range{To: head, Paths: []string{file}})
	if err != nil {
		return nil, nil, nil, err
	}
	cat, err := r.CatFile(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	defer cat.Close()
	for _, id := range ids {
		c, err := cat.Commit(id)
		if err != nil {
			return nil, nil, nil, err
		}
		x, ok, err := cat.Lookup(c.Tree, file)
		if err != nil {
			return nil, nil, nil, err
		}
		if !ok {
			continue
		}
		text, err := cat.Read(x.ID, "blob")
		if err != nil {
			return nil, nil, nil, err
		}
		old, err := pins.Parse(text, file)
		if err != nil || old.Lock.ID() == "" || old.Lock.ID() == p.Lock.ID() {
			continue // older forms of the file may not read any more
		}
		if _, bad := p.Rejected(old.Lock.ID()); !bad {
			return text, old, c, nil
		}
	}
	return nil, nil, nil, verdict.Failf("the history has no earlier lock to go back to; a shallow clone must be completed first ('git fetch --unshallow')")
}

// keepRules carries hold and rejections of the present file over, and rejects
// one more version.
func keepRules(file []byte, now *pins.Pin, bad pins.Reject) ([]byte, error) {
	var err error
	if now.Hold != nil {
		if file, err = pins.SetHold(file, *now.Hold); err != nil {
			return nil, err
		}
	}
	for _, r := range append(now.Reject[:len(now.Reject):len(now.Reject)], bad) {
		if file, err = pins.AddReject(file, r); err != nil {
			return nil, err
		}
	}
	return file, nil
}

// prepareStack writes the stack's folder of a tree beside the present one, and
// returns what swaps them. A folder that a killed rollback has put there already
// stays.
func prepareStack(ctx context.Context, r *git.Repo, repo, name string, tree git.ID) (func() error, error) {
	folder := "patches/" + name
	target := filepath.Join(repo, filepath.FromSlash(folder))
	aside := filepath.Join(repo, "patches", "."+name+".restored")
	gone := aside + ".old"
	if _, err := os.Lstat(target); errors.Is(err, fs.ErrNotExist) {
		err = os.Rename(gone, target) // killed between the two steps of the swap
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	for _, left := range []string{aside, gone} {
		if err := os.RemoveAll(left); err != nil {
			return nil, err
		}
	}
	cat, err := r.CatFile(ctx)
	if err != nil {
		return nil, err
	}
	defer cat.Close()
	x, ok, err := cat.Lookup(tree, folder)
	if err != nil {
		return nil, err
	}
	if done, err := isFolder(ctx, r, target, x.ID, ok); err != nil || done {
		return func() error { return nil }, err
	}
	c := r.Command("--work-tree="+repo, "status", "--porcelain", "--", folder)
	c.Dir = repo
	res, err := c.Run(ctx)
	if err != nil {
		return nil, err
	}
	if len(strings.TrimSpace(string(res.Stdout))) > 0 {
		return nil, verdict.Usagef("%s has changes that are not committed: commit or undo them first", folder)
	}
	away := func() error {
		if err := os.Rename(target, gone); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if !ok {
		return func() error { return errors.Join(away(), os.RemoveAll(gone)) }, nil
	}
	report, err := cat.CheckTree(x.ID, git.Limits{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", folder, err)
	}
	if err := materialise(ctx, aside, []part{{repo: r, entries: report.Entries}}); err != nil {
		os.RemoveAll(aside)
		return nil, err
	}
	return func() error {
		if err := away(); err != nil {
			return err
		}
		if err := os.Rename(aside, target); err != nil {
			return err
		}
		return os.RemoveAll(gone)
	}, nil
}

// isFolder says whether a folder has the files of a tree, or is absent where
// there is none.
func isFolder(ctx context.Context, r *git.Repo, dir string, tree git.ID, exists bool) (bool, error) {
	if _, err := os.Lstat(dir); err != nil || !exists {
		return errors.Is(err, fs.ErrNotExist) && !exists, nil
	}
	want, err := treesum.FromGit(ctx, r, tree, treesum.Options{})
	if err != nil {
		return false, err
	}
	have, err := treesum.FromFolder(dir, treesum.FolderOptions{})
	return err == nil && have.Sum == want.Sum, nil // what cannot be summed is something else
}
