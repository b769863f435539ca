// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package proposal

import (
	"context"
	"errors"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

// A Standing says how main stands to a round that was proposed.
type Standing string

// The standings.
const (
	Open       Standing = "open"       // some pin is where the round found it
	Merged     Standing = "merged"     // main has the round's versions
	Superseded Standing = "superseded" // main went on without it, or past it
)

// StandingOf compares the pins of main with a round, whose locks are not
// needed. A round of which a part is on main is still open.
func StandingOf(ctx context.Context, repo *git.Repo, main git.ID, r *round.Round) (Standing, error) {
	tree, _, err := baseTree(ctx, repo, main)
	if err != nil {
		return "", err
	}
	cat, err := repo.CatFile(ctx)
	if err != nil {
		return "", err
	}
	defer cat.Close()
	standing := Merged
	for _, m := range r.Moves() {
		e, ok, err := cat.Lookup(tree, pinPath(m.Pin))
		if err != nil {
			return "", err
		}
		at := ""
		if ok {
			data, err := cat.Read(e.ID, "blob")
			if err != nil {
				return "", err
			}
			p, err := pins.Parse(data, pinPath(m.Pin))
			if err != nil {
				return "", err
			}
			at = p.Lock.ID()
		}
		switch {
		case !ok:
			standing = Superseded // the pin is gone
		case at == m.From.ID:
			return Open, nil
		case at != m.To.ID:
			standing = Superseded
		}
	}
	return standing, nil
}

// Conflicts says whether a proposed commit no longer merges into main. Neither
// needs more history than the commit's parent, so that a shallow clone does,
// into which the three were fetched; the error is a *git.MissingObject or
// *git.Unknown where it lacks one.
func Conflicts(ctx context.Context, repo *git.Repo, main, commit git.ID) (conflicts bool, err error) {
	ours, err := repo.CommitInfo(ctx, string(main))
	if err != nil {
		return false, err
	}
	theirs, err := repo.CommitInfo(ctx, string(commit))
	if err != nil {
		return false, err
	}
	if len(theirs.Parents) != 1 {
		return false, errors.New("a proposal is one commit on one of main's")
	}
	base, err := repo.CommitInfo(ctx, string(theirs.Parents[0]))
	if err != nil {
		return false, err
	}
	// A row of three commits made for this, because git looks for the common
	// ancestor in the history, which may be cut off here.
	s, done, err := scratch(ctx, repo)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, done()) }()
	var ids []git.ID
	for _, c := range []*git.Commit{base, ours, theirs} {
		made := git.Commit{Tree: c.Tree, Author: c.Committer, Committer: c.Committer, Message: "for a merge\n"}
		made.Author.Name, made.Author.Email = "x", "x"
		made.Committer = made.Author
		if len(ids) > 0 {
			made.Parents = ids[:1]
		}
		id, err := s.CommitTree(ctx, made)
		if err != nil {
			return false, err
		}
		ids = append(ids, id)
	}
	m, err := s.MergeTree(ctx, ids[1], ids[2])
	if err != nil {
		return false, err
	}
	return len(m.Conflicts) > 0, nil
}
