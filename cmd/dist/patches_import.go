// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/patches"
)

func newPatchesImport() *cobra.Command {
	var from patches.From
	var status string
	cmd := &cobra.Command{
		Use:   "import NAME --from URL|DIR --branch BRANCH",
		Short: "Make a stack of the commits of a branch",
		Long: `Make a stack of the commits that a branch has and its base has not, the oldest
first: the series, a file for each commit, and the trees in the lock of the pin
that says 'stack: NAME', when that is verified. The base is the pin's commit, or
the revision that --base names.

Merges are dissolved where that loses nothing: every commit must find the files
that it changes exactly as its parent had them, and the last patch must give
exactly the branch's tree. Otherwise the merge is named and nothing is written.
Commits without changes are left out, and named. A message's first paragraph
becomes its subject; blanks at the ends of its lines go.`,
		Example: `  dist patches import llama-vulkan --from ~/src/llama.cpp --branch vulkan
  dist patches import llama-hrx --from https://github.com/ROCm/llama.cpp \
      --branch hrx-integration --base 3f1c… --status 'inappropriate [for gfx1151 only]'`,
		Args: cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := setStatus(&from, status); err != nil {
				return err
			}
			repo, err := openPatches(cmd, true)
			if err != nil {
				return err
			}
			defer repo.Close()
			near(cmd, repo, args[0], &from)
			im, err := repo.Import(cmd.Context(), args[0], from)
			if err != nil {
				return err
			}
			return showImported(cli.From(cmd), "imported", im)
		},
	}
	addFrom(cmd, &from, &status, "https address, or folder of a repository on this machine")
	cmd.Flags().StringVar(&from.Base, "base", "", "revision that the branch starts from (default: the commit of the pin)")
	return cmd
}
