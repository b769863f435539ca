// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

func newExport() *cobra.Command {
	var n network
	var to string
	var force bool
	cmd := &cobra.Command{
		Use:   "export NAME --to DIR",
		Short: "Write locked sources as files",
		Long: `Write the content of a pin's lock into a folder: modes as locked, and the date
of the lock on every file, folder and link, so that the same lock always gives
the same files. The folder must be empty or not exist, unless --force says that
what is in the way may be replaced.`,
		Example: `  dist export zinc --to /tmp/zinc
  dist export llama-vulkan --to src --offline`,
		Args:              cli.Args(cobra.ExactArgs(1)),
		ValidArgsFunction: completePins,
		RunE: func(cmd *cobra.Command, args []string) error {
			if to == "" {
				return verdict.Usagef("name the folder with --to")
			}
			e, _, err := n.engine(cmd)
			if err != nil {
				return err
			}
			p, err := e.Set.Named(args[0])
			if err != nil {
				return err
			}
			done, err := e.Export(cmd.Context(), p, to, force)
			if err != nil {
				return err
			}
			env := cli.From(cmd)
			if env.JSON {
				return env.PrintJSON(done)
			}
			env.Printf("%s: %d files, %.1f MB in %s\n", done.Name, done.Files, float64(done.Size)/1e6, shorten(done.To))
			return nil
		},
	}
	n.flags(cmd)
	cmd.Flags().StringVar(&to, "to", "", "the folder")
	cmd.Flags().BoolVar(&force, "force", false, "replace what is in the way")
	return cmd
}
