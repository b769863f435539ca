// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"context"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// CommitsOf returns the commits from a base to a tip as a stack. Their file
// names are those that their patch files would have. A merge among them is a
// Fail that names it.
func CommitsOf(ctx context.Context, repo *git.Repo, name string, base, tip git.ID) (Commits, error) {
	s := Commits{Name: name, Base: base}
	ids, err := repo.RevList(ctx, git.Range{From: []git.ID{base}, To: tip, Reverse: true})
	if err != nil {
		return s, err
	}
	c, err := repo.CatFile(ctx)
	if err != nil {
		return s, err
	}
	defer c.Close()
	commits := make([]*git.Commit, len(ids))
	for i, id := range ids {
		if commits[i], err = c.Commit(id); err != nil {
			return s, err
		}
		if len(commits[i].Parents) > 1 {
			return s, verdict.Failf("%s is a merge: a stack is a row of commits; linearise it, with 'git rebase' for example", id)
		}
	}
	parent := base
	subjects := make([]string, len(ids))
	for i, commit := range commits {
		if len(commit.Parents) == 0 || commit.Parents[0] != parent {
			return s, verdict.Failf("%s does not follow on %s: the base must be a commit of the branch's own history", commit.ID.Short(), parent.Short())
		}
		parent = commit.ID
		subjects[i] = commit.Subject()
		s.Patches = append(s.Patches, StackCommit{Commit: commit.ID})
	}
	for i, file := range FileNames(subjects) {
		s.Patches[i].File = file
	}
	return s, nil
}
