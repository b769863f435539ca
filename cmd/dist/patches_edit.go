// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/patches"
	"github.com/1bit-MONSTER/engine/pipelines/build"
)

func newPatchesEdit() *cobra.Command {
	var to string
	var f stackFlags
	cmd := &cobra.Command{
		Use:   "edit NAME",
		Short: "Make a work tree with the commits of a stack",
		Long: `Make a git repository for a person: the stack's commits on their base, on a
branch of the stack's name, checked out. Change, reorder, add and drop commits
there with git as you like, then take them back with 'dist patches refresh'.

With --onto REV git is in the middle of rebasing the stack there, stopped at the
first conflict that nothing settles, with all three sides in the files. Finish
it with 'git rebase --continue'; 'dist patches refresh' then moves pin and stack
and records how the conflicts were settled.

The repository borrows objects from the upstream's one, which has to stay.`,
		Example: `  dist patches edit llama-vulkan          # in the cache folder; the path is shown
  dist patches edit llama-vulkan --to ~/edit/llama-vulkan
  dist patches edit llama-hrx --onto v0.5.0`,
		Args: cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := editFolder(to, args[0])
			if err != nil {
				return err
			}
			if f.onto != "" {
				return editOnto(cmd, &f, args[0], dir)
			}
			repo, err := openPatches(cmd, false)
			if err != nil {
				return err
			}
			a, err := repo.Edit(cmd.Context(), args[0], dir, upstreamSource(cmd))
			if err != nil {
				return err
			}
			return showApplied(cli.From(cmd), a)
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "folder for the work tree; it must not exist or be empty (default: edit/NAME in the cache)")
	f.addTarget(cmd)
	f.network.flags(cmd)
	f.addAccept(cmd)
	f.addMove(cmd)
	return cmd
}

// editOnto makes the work tree for a person who settles conflicts.
func editOnto(cmd *cobra.Command, f *stackFlags, name, dir string) error {
	x, err := f.open(cmd, name, false)
	if err != nil {
		return err
	}
	defer x.done()
	r, err := x.Rebase(cmd.Context(), x.onto)
	if err != nil {
		return err
	}
	a, err := x.EditOnto(cmd.Context(), r, f.onto, dir)
	if err != nil {
		return err
	}
	env := cli.From(cmd)
	if err := showApplied(env, a); err != nil {
		return err
	}
	if len(a.Conflicts) > 0 {
		env.Notef("settle the conflict there, 'git add' the files, 'git rebase --continue', then 'dist patches refresh %s'", name)
	}
	return nil
}

// editFolder is where the work tree of a stack is.
func editFolder(dir, stack string) (string, error) {
	if dir != "" {
		return dir, nil
	}
	if err := patches.CheckName(stack); err != nil {
		return "", err
	}
	cache, err := build.DefaultCache()
	if err != nil {
		return "", err
	}
	return filepath.Join(cache.Dir, "edit", stack), nil
}
