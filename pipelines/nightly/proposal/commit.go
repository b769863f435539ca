// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package proposal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// Commit stores a prepared round as one commit on top of its base and returns
// its id, which is a function of base and round alone. No ref points at it.
//
// What is committed is what NextDir held when it was prepared; what a gate did
// to it since has no say.
func Commit(ctx context.Context, repo *git.Repo, p *Prepared) (git.ID, error) {
	if !p.complete {
		return "", verdict.New(verdict.Conflict, "the patches do not all apply: there is nothing to commit")
	}
	for _, name := range p.changes.paths() {
		if err := mayChange(p.Round, name, p.changes[name] == nil); err != nil {
			return "", err
		}
	}
	objects, err := repo.Pending(ctx)
	if err != nil {
		return "", err
	}
	defer objects.Close()
	tree, err := p.changes.apply(objects, p.tree)
	if err != nil {
		return "", fmt.Errorf("round %s: %w", p.Round.ID, err)
	}
	id, err := objects.AddCommit(commitOf(p.Round, tree, p.dropped))
	if err != nil {
		return "", fmt.Errorf("round %s: %w", p.Round.ID, err)
	}
	return id, objects.Flush(ctx)
}

// scratch is a repository of the moment that reads the objects of another one.
func scratch(ctx context.Context, repo *git.Repo) (*git.Repo, func() error, error) {
	dir, err := os.MkdirTemp("", "dist-proposal-*")
	if err != nil {
		return nil, nil, err
	}
	done := func() error { return os.RemoveAll(dir) }
	s, err := git.Init(ctx, filepath.Join(dir, "scratch.git"))
	if err == nil {
		err = s.Borrow(ctx, repo)
	}
	if err != nil {
		return nil, nil, errors.Join(err, done())
	}
	return s, done, nil
}

// WriteBundle writes a commit as a bundle for somebody who has its parent base.
// The name in it is that of the branch to come.
func WriteBundle(ctx context.Context, repo *git.Repo, commit, base git.ID, branch, path string) (err error) {
	s, done, err := scratch(ctx, repo)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	ref := "refs/heads/" + branch
	if err := s.SetRef(ctx, ref, commit); err != nil {
		return err
	}
	return s.CreateBundleOn(ctx, path, base, ref)
}
