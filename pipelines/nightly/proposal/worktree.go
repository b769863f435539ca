// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package proposal

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// baseTree returns the files of a commit of our own repository.
func baseTree(ctx context.Context, repo *git.Repo, commit git.ID) (git.ID, []git.Entry, error) {
	if _, err := git.ParseID(string(commit)); err != nil {
		return "", nil, err
	}
	c, err := repo.CommitInfo(ctx, string(commit))
	var unknown *git.Unknown
	if errors.As(err, &unknown) {
		return "", nil, verdict.Infraf("the commit %s of our main is not in this clone: fetch it, with 'git fetch --depth 1 origin %s'", commit.Short(), commit)
	}
	if err != nil {
		return "", nil, err
	}
	entries, err := repo.LsTree(ctx, c.Tree)
	return c.Tree, entries, err
}

// writeTree writes the files of a tree that keep accepts into a folder, which
// must not exist. Submodules are left out.
func writeTree(ctx context.Context, repo *git.Repo, entries []git.Entry, dir string, keep func(path string) bool) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	entries = slices.DeleteFunc(slices.Clone(entries), func(e git.Entry) bool { return keep != nil && !keep(e.Path) })
	return repo.WriteFiles(ctx, root, entries)
}
