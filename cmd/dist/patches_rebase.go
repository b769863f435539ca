// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/patches"
)

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

For a stack on a pin the upstream is asked for REV, as 'dist pins update --to'
does, and --write moves the pin's lock, verified, together with the stack.
With --git-dir nobody is asked: REV is one of that repository's.

To settle a conflict: 'dist patches edit NAME --onto REV', settle it there with
git, then 'dist patches refresh NAME'. It is recorded, and settles itself when
the same conflict comes again. --settled DIR does the same from any repository
in which a person has rebased the stack.

With --branch it works on any branch of the repository that --git-dir names.

Exit codes: 0 all fine, 3 a conflict, 1 something else needs a look.`,
		Example: `  dist patches rebase llama-hrx --onto v0.5.0
  dist patches rebase llama-hrx --onto v0.5.0 --write --mirrors mirrors.yaml
  dist patches rebase mine --git-dir ~/src/llama.cpp --branch mine --onto origin/master`,
		Args: cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			x, err := f.open(cmd, args[0], write)
			if err != nil {
				return err
			}
			defer x.done()
			env, onto := cli.From(cmd), x.onto
			if settled != "" {
				if err := learn(cmd, x.Session, settled, settledBranch, onto); err != nil {
					return err
				}
			}
			x.Options.Bisect = !noBisect
			r, err := x.Rebase(cmd.Context(), onto)
			if err != nil {
				return err
			}
			writes := write && r.Verdict() == verdict.Pass
			if !env.JSON || !writes { // one value on stdout, also when writing fails
				if err := showRebase(env, r, false); err != nil {
					return err
				}
			}
			if !writes {
				if write {
					env.Notef("nothing was written")
				}
				if f.branch == "" && settled == "" && r.Count(patches.Conflicting) > 0 {
					env.Notef("to settle it: 'dist patches edit %s --onto %s'", args[0], inert.Line(f.onto, 100))
				}
				return cli.Done(r.Verdict())
			}
			lock, err := x.lock(cmd.Context())
			if err != nil {
				return err
			}
			im, err := x.Write(cmd.Context(), r, lock)
			if err != nil {
				return err
			}
			if env.JSON {
				if err := showRebase(env, r, true); err != nil {
					return err
				}
			}
			for _, n := range im.Notes {
				env.Notef("note: %s", n)
			}
			env.Notef("written: %d patches, %d changed, %d dropped", len(im.Files), len(im.Changed), len(im.Dropped))
			x.noteBound(env)
			return nil
		},
	}
	f.addOnto(cmd)
	f.addMove(cmd)
	cmd.Flags().BoolVar(&write, "write", false, "write series, patch files and lock when everything is fine")
	cmd.Flags().BoolVar(&noBisect, "no-bisect", false, "do not look for the upstream commit behind each conflict")
	cmd.Flags().StringVar(&settled, "settled", "", "folder of a repository where a person has rebased the stack onto REV")
	cmd.Flags().StringVar(&settledBranch, "settled-branch", "HEAD", "the branch there")
	return cmd
}

// noteBound names the pins that are to follow the one that moved.
func (x *stackSession) noteBound(env *cli.Env) {
	if x.target == nil {
		return
	}
	for _, name := range x.target.Bound() {
		env.Notef("note: pin %s is read from the same place: run 'dist pins update %s'", name, name)
	}
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
		cli.From(cmd).Notef("learnt how %s was settled for %q", inert.Line(r.Path, 200), inert.Line(r.Patch, 100))
	}
	return nil
}

func showRebase(env *cli.Env, r *patches.Result, written bool) error {
	if env.JSON {
		return env.PrintJSON(struct {
			Verdict verdict.Verdict `json:"verdict"`
			Written bool            `json:"written"`
			*patches.Result
		}{r.Verdict(), written, r})
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
