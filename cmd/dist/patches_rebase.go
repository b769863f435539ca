// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/patches"
)

// stackFlags choose a stack: the patch files of that name, or, with --branch,
// the commits of a branch in the repository that --git-dir names.
type stackFlags struct {
	base, branch, onto string
	accept             []string
}

func (f *stackFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.branch, "branch", "", "take the commits of this branch of --git-dir instead of patch files")
	cmd.Flags().StringVar(&f.base, "base", "", "revision that the branch starts from (default: where it left --onto)")
}

func (f *stackFlags) addOnto(cmd *cobra.Command) {
	f.add(cmd)
	cmd.Flags().StringVar(&f.onto, "onto", "", "the new base: a revision of the upstream's repository")
	cmd.Flags().StringArrayVar(&f.accept, "accept", nil, "a patch file whose findings you have looked at (never a conflict); repeatable")
}

// open starts a session; write opens the repository to be written. done ends
// both.
func (f *stackFlags) open(cmd *cobra.Command, name string, write bool) (x *patches.Session, done func(), err error) {
	ctx := cmd.Context()
	if f.onto == "" {
		return nil, nil, verdict.Usagef("say with --onto which commit is the new base")
	}
	if f.branch == "" {
		if f.base != "" {
			return nil, nil, verdict.Usagef("--base goes with --branch: a stack knows its base")
		}
		r, err := openPatches(cmd, write)
		if err != nil {
			return nil, nil, err
		}
		if x, err = r.Session(ctx, name, upstreamSource(cmd)); err != nil {
			r.Close()
			return nil, nil, err
		}
		x.Options.Accept = f.accept
		return x, func() { x.Close(); r.Close() }, nil
	}
	if write {
		return nil, nil, verdict.Usagef("--write goes with patch files, not with --branch")
	}
	dir, err := cmd.Flags().GetString("git-dir")
	if err != nil {
		return nil, nil, err
	}
	if dir == "" {
		return nil, nil, verdict.Usagef("--branch needs --git-dir: the repository that has the branch and the upstream")
	}
	repo, err := git.Open(ctx, dir)
	if err != nil {
		return nil, nil, verdict.Usagef("--git-dir: %s", err)
	}
	tip, err := repo.CommitInfo(ctx, f.branch)
	if err != nil {
		return nil, nil, verdict.Usagef("--branch: %s", err)
	}
	base, err := f.start(cmd, repo, tip.ID)
	if err != nil {
		return nil, nil, err
	}
	if x, err = patches.BranchSession(ctx, repo, name, base, tip.ID); err != nil {
		return nil, nil, err
	}
	x.Options.Accept = f.accept
	return x, func() { x.Close() }, nil
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

func newPatchesRebase() *cobra.Command {
	var f stackFlags
	var write, noBisect bool
	var settled, settledBranch string
	cmd := &cobra.Command{
		Use:   "rebase NAME --onto REV",
		Short: "Merge a stack onto another commit, with a verdict for each patch",
		Long: `Merge every patch of a stack onto another commit of the upstream, in the object
store, and say what becomes of each:

  unchanged              the same text
  moved                  merged without a conflict
  upstreamed             upstream has it; dropped
  empty                  nothing is left of it; dropped
  probably upstreamed    kept, but upstream has gained its lines by itself
  wrong place            merged without a conflict, into another function
  lost lines             settled by policy or record, and lines of upstream's went
  conflict               left out; the upstream commit behind it is named
  needs a conflicting one

It goes on past a conflict. Nothing is written without --write, and nothing
unless every patch is fine or accepted with --accept.

To settle a conflict: 'dist patches edit NAME --to DIR', 'git rebase' there onto
the new base, and then this command with --settled DIR: it records how, and
replays it now and whenever the same conflict comes again.

With --branch it works on any branch of the repository that --git-dir names.

Exit codes: 0 all fine, 3 a conflict, 1 something else needs a look.`,
		Example: `  dist patches rebase llama-hrx --onto v0.5.0
  dist patches rebase llama-hrx --onto v0.5.0 --settled ~/edit --write
  dist patches rebase mine --git-dir ~/src/llama.cpp --branch mine --onto origin/master`,
		Args: cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			x, done, err := f.open(cmd, args[0], write)
			if err != nil {
				return err
			}
			defer done()
			env := cli.From(cmd)
			onto, err := x.Resolve(cmd.Context(), f.onto)
			if err != nil {
				return err
			}
			if settled != "" {
				if err := learn(cmd, x, settled, settledBranch, onto); err != nil {
					return err
				}
			}
			x.Options.Bisect = !noBisect
			r, err := x.Rebase(cmd.Context(), onto)
			if err != nil {
				return err
			}
			if err := showRebase(env, r); err != nil {
				return err
			}
			if !write || r.Verdict() != verdict.Pass {
				if write {
					env.Notef("nothing was written")
				}
				return cli.Done(r.Verdict())
			}
			im, err := x.Write(cmd.Context(), r, nil)
			if err != nil {
				return err
			}
			for _, n := range im.Notes {
				env.Notef("note: %s", n)
			}
			env.Notef("written: %d patches, %d changed, %d dropped", len(im.Files), len(im.Changed), len(im.Dropped))
			return nil
		},
	}
	f.addOnto(cmd)
	cmd.Flags().BoolVar(&write, "write", false, "write series, patch files and lock when everything is fine")
	cmd.Flags().BoolVar(&noBisect, "no-bisect", false, "do not look for the upstream commit behind each conflict")
	cmd.Flags().StringVar(&settled, "settled", "", "folder of a repository where a person has rebased the stack onto REV")
	cmd.Flags().StringVar(&settledBranch, "settled-branch", "HEAD", "the branch there")
	return cmd
}

// learn takes over what a person settled.
func learn(cmd *cobra.Command, x *patches.Session, dir, branch string, onto git.ID) error {
	repo, err := git.Open(cmd.Context(), dir)
	if err != nil {
		return verdict.Usagef("--settled: %s", err)
	}
	tip, err := repo.CommitInfo(cmd.Context(), branch)
	if err != nil {
		return verdict.Usagef("--settled: %s", err)
	}
	list, err := x.Learn(cmd.Context(), repo, onto, tip.ID)
	if err != nil {
		return err
	}
	for _, r := range list {
		cli.From(cmd).Notef("learnt how %s was settled for %q", r.Path, r.Patch)
	}
	return nil
}

func showRebase(env *cli.Env, r *patches.Result) error {
	if env.JSON {
		return env.PrintJSON(struct {
			Verdict verdict.Verdict `json:"verdict"`
			*patches.Result
		}{r.Verdict(), r})
	}
	if r.RewrittenCount > 0 {
		env.Notef("note: upstream rewrote its history: %d commits of the old base are not in the new one", r.RewrittenCount)
		for _, u := range r.Rewritten {
			env.Notef("  %s %s", u.ID.Short(), u.Subject)
		}
	}
	t := cli.Table{Head: []string{"PATCH", "VERDICT", "BEHIND IT"}}
	for i := range r.Patches {
		p := &r.Patches[i]
		word := string(p.Outcome)
		if p.Accepted != "" {
			word += " (accepted)"
		}
		t.Add(p.File, word, p.Behind())
	}
	if err := t.Write(env.Out, env.Color); err != nil {
		return err
	}
	for i := range r.Patches {
		if text := r.Patches[i].Details(); text != "" {
			env.Printf("\n%s: %s\n%s", r.Patches[i].File, r.Patches[i].Outcome, text)
		}
	}
	_, err := fmt.Fprintf(env.Out, "\n%s onto %s: %s (%s)\n", r.Stack, r.NewBase.Short(), r.Verdict(), r.Summary())
	return err
}
