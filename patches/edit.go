// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/git"
)

// The refs that an edit tree remembers what it was made of.
const (
	editBase  = "refs/dist/base"  // the base of the stack
	editStack = "refs/dist/stack" // the last rebuilt commit when it was made
	// Of a tree in which the stack is being rebased:
	editOnto    = "refs/dist/onto"    // the new base
	editSettled = "refs/dist/settled" // the last commit before the first conflict
)

// Edit makes a git repository with a work tree for a person: the base, the
// stack's commits on it on a branch of the stack's name, checked out. It
// borrows the objects of the source's repository, which has to stay. dir must
// not exist or be empty.
func (r *Repository) Edit(ctx context.Context, name, dir string, source Source) (*Applied, error) {
	s, err := r.Load(name)
	if err != nil {
		return nil, err
	}
	if _, err := s.NeedBase(); err != nil {
		return nil, err
	}
	from, err := source(ctx, r.PinOf(name), name)
	if err != nil {
		return nil, err
	}
	a := &Applied{Stack: name, Base: s.Base, Tip: s.Base, Patches: len(s.Patches)}
	excluded := r.excluded(name)
	a.Dir, err = newFolder(dir, func(fresh string) error {
		repo, err := git.Init(ctx, filepath.Join(fresh, ".git"))
		if err == nil {
			err = repo.Borrow(ctx, from)
		}
		if err != nil {
			return err
		}
		if _, err := repo.CommitInfo(ctx, string(s.Base)); err != nil {
			return err
		}
		commits, trees, err := Rebuild(ctx, repo, s.Base, s)
		if err != nil {
			return err
		}
		if pin := r.PinOf(name); pin != nil && pin.Lock != nil && pin.Lock.Patched != nil && s.Series.Base == "" {
			if err := CheckSteps(s, pin.Lock, trees); err != nil {
				return err
			}
		}
		if n := len(commits); n > 0 {
			a.Tip = commits[n-1]
		}
		return checkOut(ctx, repo, a, fresh, excluded)
	})
	return a, err
}

// checkOut fills the work tree of a fresh repository without any filter.
func checkOut(ctx context.Context, repo *git.Repo, a *Applied, dir string, excluded map[string]bool) error {
	// Bytes stay as they are for the person's git too, and merges are plain ones,
	// whatever it is told elsewhere.
	info := filepath.Join(repo.Dir(), "info")
	if err := os.MkdirAll(info, 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(info, "attributes"), []byte("* -text -eol -filter -ident -working-tree-encoding !merge !conflict-marker-size !diff\n"), 0o666); err != nil {
		return err
	}
	for _, kv := range [][2]string{{"core.bare", "false"}, {"core.autocrlf", "false"}, {"core.fileMode", "true"}, {"core.symlinks", "true"}} {
		if _, err := repo.Output(ctx, "config", "--local", kv[0], kv[1]); err != nil {
			return err
		}
	}
	for ref, id := range map[string]git.ID{editBase: a.Base, editStack: a.Tip, "refs/heads/" + a.Stack: a.Tip} {
		if err := repo.SetRef(ctx, ref, id); err != nil {
			return err
		}
	}
	if _, err := repo.Output(ctx, "symbolic-ref", "HEAD", "refs/heads/"+a.Stack); err != nil {
		return err
	}
	commit, err := repo.CommitInfo(ctx, string(a.Tip))
	if err != nil {
		return err
	}
	a.Tree = commit.Tree
	entries, err := repo.LsTree(ctx, a.Tree) // and refuse what must not be on a disk
	if err != nil {
		return err
	}
	var skip strings.Builder
	for _, e := range entries {
		switch {
		case excluded[e.Path]:
			a.Excluded = append(a.Excluded, e.Path)
			skip.WriteString(e.Path + "\x00")
		case e.Mode == git.ModeSubmodule:
			a.Submodules = append(a.Submodules, e.Path)
		default:
			a.Files++
		}
	}
	work := []string{"--work-tree=" + dir}
	run := func(stdin string, args ...string) error {
		c := repo.Command(append(work, args...)...)
		c.Dir = dir
		c.Stdin = strings.NewReader(stdin)
		_, err := c.Run(ctx)
		return err
	}
	if err := run("", "read-tree", string(a.Tip)); err != nil {
		return err
	}
	if skip.Len() > 0 {
		if err := run(skip.String(), "update-index", "-z", "--skip-worktree", "--stdin"); err != nil {
			return err
		}
	}
	return run("", "checkout-index", "--all", "--quiet", "-u")
}
