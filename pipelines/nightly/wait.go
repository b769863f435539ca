// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package nightly

import (
	"context"
	"errors"
	"slices"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/nightly/ledger"
	"github.com/1bit-MONSTER/engine/pipelines/nightly/proposal"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

// open says whether a proposal of the very same round still stands, so that
// nothing is to be done but wait. One that no longer merges with main is made
// anew; one whose branch somebody removed was declined.
func (r *resolving) open(ctx context.Context, p *ledger.Proposal) (bool, error) {
	if r.o.Mode != round.Live {
		return true, nil
	}
	remote, ref, there, err := r.pushed(ctx, p.Branch)
	if err != nil {
		return false, err
	}
	if !there && r.memory.Retried.After(p.At) {
		return false, nil
	}
	if !there {
		return false, verdict.Heldf("it was proposed as %s and somebody removed that branch: reject the version, or 'dist nightly retry %s'", p.Branch, r.group.Name)
	}
	if string(ref.ID) != p.Commit {
		return true, nil // a person works on it
	}
	spec := git.FetchSpec{Refs: []git.Refspec{{From: ref.Name, To: "refs/dist/proposals/" + r.group.Name}}, Depth: 2}
	if err := r.repo.Fetch(ctx, remote, spec); err != nil {
		return false, err
	}
	conflicts, err := proposal.Conflicts(ctx, r.repo, r.base, ref.ID)
	var missing *git.MissingObject
	var unknown *git.Unknown
	if errors.As(err, &missing) || errors.As(err, &unknown) { // a clone without the commits in between cannot tell
		return true, nil
	}
	return !conflicts, err
}

// free looks whether the branch of the group's proposals may be moved, before
// the work is done that it is for: while a person works on it, nothing is tried.
func (r *resolving) free(ctx context.Context) error {
	if r.o.Mode != round.Live {
		return nil
	}
	branch := proposal.Branch(r.group.Name)
	_, ref, there, err := r.pushed(ctx, branch)
	if err != nil {
		return err
	}
	if there && !slices.Contains(r.ours(r.memory), ref.ID) {
		return &proposal.Occupied{Branch: branch, Head: ref.ID}
	}
	return nil
}

// pushed asks the remote of the proposals where a branch is, if it is there.
func (r *resolving) pushed(ctx context.Context, branch string) (remote git.Remote, ref git.Ref, there bool, err error) {
	if remote, err = r.pushRemote(ctx); err != nil {
		return remote, ref, false, err
	}
	name := "refs/heads/" + branch
	refs, err := git.LsRemote(ctx, remote, name)
	if err != nil {
		return remote, ref, false, err
	}
	ref, there = refs.Find(name)
	return remote, ref, there, nil
}

// wait is for a person to merge what is proposed.
func (r *resolving) wait(context.Context) (Outcome, error) {
	p := r.memory.Proposal
	r.report.Branch, r.report.Commit = p.Branch, git.ID(p.Commit)
	r.report.Why = "it is proposed as " + p.Branch + " and waits for a person"
	return Stopped, nil
}
