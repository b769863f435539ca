// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/patches"
)

func newPatchesApply() *cobra.Command {
	var to string
	var asGit bool
	cmd := &cobra.Command{
		Use:   "apply NAME --to FOLDER",
		Short: "Write the patched tree of a stack into a folder",
		Long: `Rebuild the commits of a stack on its base, compare the tree after each with the
lock of the pin, and write the last one into a folder: files with the modes of
the tree and one date. Submodules are empty folders.

With --git the folder is a git repository with these commits, as of
'dist patches edit'.`,
		Example: `  dist patches apply llama-vulkan --to /tmp/llama
  dist patches apply llama-vulkan --to /tmp/llama --git`,
		Args: cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if to == "" {
				return verdict.Usagef("the folder must be said with --to")
			}
			repo, err := openPatches(cmd, false)
			if err != nil {
				return err
			}
			do := repo.Apply
			if asGit {
				do = repo.Edit
			}
			var a *patches.Applied
			if a, err = do(cmd.Context(), args[0], to, upstreamSource(cmd)); err != nil {
				return err
			}
			return showApplied(cli.From(cmd), a)
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "folder for the tree; it must not exist or be empty")
	cmd.Flags().BoolVar(&asGit, "git", false, "make it a git repository with the commits")
	return cmd
}
