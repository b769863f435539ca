// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
)

func newPatchesLock() *cobra.Command {
	return &cobra.Command{
		Use:   "lock NAME",
		Short: "Write into the pin's lock what the patches lead to",
		Long: `Rebuild a stack and write the tree after each patch, and the sum of the last,
into the lock of its pin; write the patch files in their one form, under the
names that their subjects give. Use it when the pin was verified after the
import, or after editing the message of a patch by hand.

The patches are taken as they are: look at the difference before you commit it.`,
		Example: `  dist patches lock llama-vulkan`,
		Args:    cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			repo, err := openPatches(cmd, true)
			if err != nil {
				return err
			}
			defer repo.Close()
			im, err := repo.Lock(cmd.Context(), args[0], upstreamSource(cmd))
			if err != nil {
				return err
			}
			return showImported(cli.From(cmd), "locked", im)
		},
	}
}
