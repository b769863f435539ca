// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/patches"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
)

// stackFlags choose a stack: the patch files of that name, or, with --branch,
// the commits of a branch in the repository that --git-dir names.
type stackFlags struct {
	base, branch, onto string
	accept             []string
	network            network
	update             fetch.UpdateOptions
	moves              bool // the pin is to move: the rules for that hold
}

func (f *stackFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.branch, "branch", "", "take the commits of this branch of --git-dir instead of patch files")
	cmd.Flags().StringVar(&f.base, "base", "", "revision that the branch starts from (default: where it left --onto)")
}

func (f *stackFlags) addOnto(cmd *cobra.Command) {
	f.add(cmd)
	f.addTarget(cmd)
	f.network.flags(cmd)
	f.addAccept(cmd)
}

// addTarget adds the flag with the new base.
func (f *stackFlags) addTarget(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.onto, "onto", "", "the new base: a tag, a branch or a full commit of the upstream (with --git-dir: any revision there)")
}

func (f *stackFlags) addAccept(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.accept, "accept", nil, "a patch file whose findings you have looked at (never a conflict); or moved, backwards or sideways, for a version that is no successor of the pin's; repeatable")
}

// accepted parts what was accepted into patch files and a direction.
func (f *stackFlags) accepted(stack patches.Commits) (files []string, err error) {
	for _, a := range f.accept {
		if d, err := fetch.ParseDirection(a); err == nil && d != "" {
			continue
		}
		if !slices.ContainsFunc(stack.Patches, func(p patches.StackCommit) bool { return p.File == a }) {
			return nil, verdict.Usagef("--accept %q: it is neither a patch file of %s nor one of moved, backwards, sideways", a, stack.Name)
		}
		files = append(files, a)
	}
	return files, nil
}

// addMove adds the flags for moving the pin of a stack.
func (f *stackFlags) addMove(cmd *cobra.Command) {
	f.moves = true
	cmd.Flags().StringVar(&f.update.Reason, "reason", "", "why that version is accepted (one line)")
	cmd.Flags().StringVar(&f.update.By, "by", "", "who accepts it (default: user.name of git)")
}

// A stackSession is a session with the commit that its stack goes to.
type stackSession struct {
	*patches.Session
	onto   git.ID
	target *fetch.Target // nil where nobody asks the upstream: --git-dir, or no pin
	engine *fetch.Engine // with a target
	repo   *patches.Repository
}

func (x *stackSession) done() {
	x.Close()
	if x.repo != nil {
		x.repo.Close()
	}
}

// lock is the pin's lock on the new base, nil where the pin stays.
func (x *stackSession) lock(ctx context.Context) (*pins.Lock, error) {
	if x.target == nil {
		return nil, nil
	}
	return x.target.Lock(ctx)
}

// open starts a session; write opens the repository to be written. A stack on
// a pin is brought here with all that a rebase needs. done ends the session.
func (f *stackFlags) open(cmd *cobra.Command, name string, write bool) (*stackSession, error) {
	ctx := cmd.Context()
	if f.onto == "" {
		return nil, verdict.Usagef("say with --onto which commit is the new base")
	}
	if f.branch == "" {
		if f.base != "" {
			return nil, verdict.Usagef("--base goes with --branch: a stack knows its base")
		}
		r, err := openPatches(cmd, write)
		if err != nil {
			return nil, err
		}
		x, err := f.openStack(cmd, r, name)
		if err != nil {
			r.Close()
			return nil, err
		}
		return x, nil
	}
	if write {
		return nil, verdict.Usagef("--write goes with patch files, not with --branch")
	}
	dir, err := cmd.Flags().GetString("git-dir")
	if err != nil {
		return nil, err
	}
	if dir == "" {
		return nil, verdict.Usagef("--branch needs --git-dir: the repository that has the branch and the upstream")
	}
	repo, err := git.Open(ctx, dir)
	if err != nil {
		return nil, verdict.Usagef("--git-dir: %s", err)
	}
	tip, err := repo.CommitInfo(ctx, f.branch)
	if err != nil {
		return nil, verdict.Usagef("--branch: %s", err)
	}
	base, err := f.start(cmd, repo, tip.ID)
	if err != nil {
		return nil, err
	}
	s, err := patches.BranchSession(ctx, repo, name, base, tip.ID)
	if err != nil {
		return nil, err
	}
	return f.settle(cmd, &stackSession{Session: s})
}

// settle fills in what does not depend on where the stack is.
func (f *stackFlags) settle(cmd *cobra.Command, x *stackSession) (*stackSession, error) {
	var err error
	if x.Options.Accept, err = f.accepted(x.Commits); err != nil {
		x.Close()
		return nil, err
	}
	if x.onto != "" {
		return x, nil
	}
	if x.onto, err = x.Resolve(cmd.Context(), f.onto); err != nil {
		x.Close()
		return nil, err
	}
	return x, nil
}

// openStack starts the session of a stack with patch files. Without --git-dir
// the upstream of its pin is asked for the new base, through the mirrors.
func (f *stackFlags) openStack(cmd *cobra.Command, r *patches.Repository, name string) (*stackSession, error) {
	ctx := cmd.Context()
	dir, err := cmd.Flags().GetString("git-dir")
	if err != nil {
		return nil, err
	}
	pin := r.PinOf(name)
	x := &stackSession{repo: r}
	source := upstreamSource(cmd)
	if dir == "" && pin != nil {
		s, err := r.Load(name)
		if err != nil {
			return nil, err
		}
		base, err := s.NeedBase()
		if err != nil {
			return nil, err
		}
		e, pinsDir, err := f.network.engine(cmd)
		if err != nil {
			return nil, err
		}
		e.Set = r.Pins
		f.update.To = f.onto
		for _, a := range f.accept {
			if d, err := fetch.ParseDirection(a); err == nil && d != "" {
				f.update.Accept = d
			}
		}
		if f.update.Accept != "" && f.update.By == "" {
			f.update.By = userName(cmd, pinsDir)
		}
		if f.moves {
			x.target, err = e.Target(ctx, pin.Name, f.update)
		} else {
			x.target, err = e.Look(ctx, pin.Name, f.onto)
		}
		if err != nil {
			return nil, err
		}
		x.engine = e
		repo, err := x.target.History(ctx, base)
		if err != nil {
			return nil, err
		}
		x.onto = x.target.Commit
		source = func(context.Context, *pins.Pin, string) (*git.Repo, error) { return repo, nil }
	}
	if x.Session, err = r.Session(ctx, name, source); err != nil {
		return nil, err
	}
	if x.target != nil {
		if err := x.bring(ctx, x.target); err != nil {
			x.Close()
			return nil, err
		}
		for _, n := range x.target.Notes {
			cli.From(cmd).Notef("note: pin %s: %s", pin.Name, n)
		}
	}
	return f.settle(cmd, x)
}

func (f *stackFlags) start(cmd *cobra.Command, repo *git.Repo, tip git.ID) (git.ID, error) {
	if f.base != "" {
		c, err := repo.CommitInfo(cmd.Context(), f.base)
		if err != nil {
			return "", verdict.Usagef("--base: %s", err)
		}
		return c.ID, nil
	}
	onto, err := repo.CommitInfo(cmd.Context(), f.onto)
	if err != nil {
		return "", verdict.Usagef("say with --base where the branch starts")
	}
	base, err := repo.MergeBase(cmd.Context(), tip, onto.ID)
	if err == nil && base == "" {
		err = verdict.Usagef("%s and %s have no history in common: say with --base where the branch starts", f.branch, f.onto)
	}
	return base, err
}

// find returns another commit that the upstream, or the repository of the
// session, calls so.
func (x *stackSession) find(ctx context.Context, revision string) (git.ID, error) {
	if x.target == nil {
		return x.Resolve(ctx, revision)
	}
	t, err := x.engine.Look(ctx, x.target.Pin.Name, revision)
	if err != nil {
		return "", err
	}
	if _, err := t.History(ctx, x.Commits.Base); err != nil {
		return "", err
	}
	return t.Commit, x.bring(ctx, t)
}

// bring gets the files that a rebase onto a target reads.
func (x *stackSession) bring(ctx context.Context, onto *fetch.Target) error {
	files, err := x.Lacking(ctx, onto.Commit)
	if err != nil {
		return err
	}
	return onto.EnsureFiles(ctx, files)
}
