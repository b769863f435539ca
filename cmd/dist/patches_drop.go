// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
)

func newPatchesDrop() *cobra.Command {
	return &cobra.Command{
		Use:   "drop NAME PATCH...",
		Short: "Take patches out of a stack",
		Long: `Take patches out of a stack. The later ones are merged onto what is left and
written anew; when one of them needs a dropped one, that is a conflict, which is
named, and nothing is changed.`,
		Example: `  dist patches drop llama-vulkan ssm-scan-for-mamba-1`,
		Args:    cli.Args(cobra.MinimumNArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			repo, err := openPatches(cmd, true)
			if err != nil {
				return err
			}
			defer repo.Close()
			im, err := repo.Drop(cmd.Context(), args[0], args[1:], upstreamSource(cmd))
			if err != nil {
				return err
			}
			return showImported(cli.From(cmd), "rewrote", im)
		},
	}
}
