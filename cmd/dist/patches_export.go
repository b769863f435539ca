// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/patches"
)

func newPatchesExport() *cobra.Command {
	var from patches.From
	var status, to string
	cmd := &cobra.Command{
		Use:   "export NAME --from URL|DIR --to FOLDER",
		Short: "Write the commits of a branch as files, outside of the repository",
		Long: `Write the commits of an edit tree or of any branch as a series and patch files
into a folder, in the form that a stack has. The stack itself stays as it is:
'dist patches refresh' changes that. The base is that of the stack or of its
pin, or the revision that --base names.`,
		Example: `  dist patches export llama-vulkan --from ~/edit/llama-vulkan --to /tmp/series
  dist patches export try --from ~/src/llama.cpp --branch try --base v0.5.0 --to /tmp/try`,
		Args: cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := setStatus(&from, status); err != nil {
				return err
			}
			if to == "" {
				return verdict.Usagef("the folder for the files must be said with --to")
			}
			repo, err := openPatches(cmd, false)
			if err != nil {
				return err
			}
			near(cmd, repo, args[0], &from)
			im, err := repo.Export(cmd.Context(), args[0], from, to)
			if err != nil {
				return err
			}
			return showImported(cli.From(cmd), "exported", im)
		},
	}
	addFrom(cmd, &from, &status, "https address, or folder of a repository on this machine")
	cmd.Flags().StringVar(&from.Base, "base", "", "revision that the branch starts from")
	cmd.Flags().StringVar(&to, "to", "", "folder for the files; it must not exist or be empty")
	return cmd
}
