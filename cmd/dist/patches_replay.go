// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

func newPatchesReplay() *cobra.Command {
	var f stackFlags
	var from, to, svg string
	var every int
	cmd := &cobra.Command{
		Use:   "replay NAME --from REV --to REV",
		Short: "See how a stack would have done on past commits of upstream's",
		Long: `Rebase a stack, as it is, onto every n-th commit of upstream's first-parent line
from one commit to another, and show what would have become of its patches.
Nothing is written but the picture.

The exit code says whether the replay was done, not how the stack did.`,
		Example: `  dist patches replay llama-hrx --from v0.4.0 --to v0.5.0 --every 50 --svg replay.svg`,
		Args:    cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if from == "" || to == "" {
				return verdict.Usagef("say with --from and --to which commits of the upstream are meant")
			}
			f.onto = to
			x, err := f.open(cmd, args[0], false)
			if err != nil {
				return err
			}
			defer x.done()
			first, err := x.find(cmd.Context(), from)
			if err != nil {
				return err
			}
			r, err := x.Replay(cmd.Context(), first, x.onto, every, nil)
			if err != nil {
				return err
			}
			if svg != "" {
				if err := os.WriteFile(svg, []byte(r.SVG()), 0o666); err != nil {
					return err
				}
			}
			env := cli.From(cmd)
			if env.JSON {
				return env.PrintJSON(r)
			}
			t := cli.Table{}
			t.Head, t.Rows = r.Table()
			if err := t.Write(env.Out, env.Color); err != nil {
				return err
			}
			env.Printf("\n%s passes on %d of %d commits\n", r.Stack, r.Survived(), len(r.Rows))
			return nil
		},
	}
	f.add(cmd)
	f.network.flags(cmd)
	cmd.Flags().StringVar(&from, "from", "", "the first commit")
	cmd.Flags().StringVar(&to, "to", "", "the last commit")
	cmd.Flags().IntVar(&every, "every", 1, "take every n-th commit between them")
	cmd.Flags().StringVar(&svg, "svg", "", "also draw a picture into this file")
	return cmd
}
