// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

func newPatchesBisect() *cobra.Command {
	var f stackFlags
	cmd := &cobra.Command{
		Use:   "bisect NAME PATCH --onto REV",
		Short: "Find an upstream commit that breaks a patch",
		Long: `Find a commit of upstream's first-parent line that the patches up to PATCH merge
onto the parent of, and not onto itself, while those before it merge onto it.
There may be several: it is a commit that breaks the patch, not the first.

Where upstream rewrote its history, the search begins where the old base left
the new one, and the commits that are gone are named.`,
		Example: `  dist patches bisect llama-hrx flash-attention.patch --onto v0.5.0`,
		Args:    cli.Args(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			x, err := f.open(cmd, args[0], false)
			if err != nil {
				return err
			}
			defer x.done()
			p, err := x.Engine.Bisect(cmd.Context(), x.Commits, args[1], x.onto, x.Options)
			if err != nil {
				return err
			}
			env := cli.From(cmd)
			if env.JSON {
				if err := env.PrintJSON(p); err != nil {
					return err
				}
				return cli.Done(verdict.Conflict)
			}
			env.Printf("%s: %s\n%s", p.File, p.Outcome, p.Details())
			return cli.Done(verdict.Conflict)
		},
	}
	f.addOnto(cmd)
	return cmd
}
