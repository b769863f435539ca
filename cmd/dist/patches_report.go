// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
)

func newPatchesReport() *cobra.Command {
	var f stackFlags
	cmd := &cobra.Command{
		Use:   "report NAME --onto REV",
		Short: "Describe a rebase in Markdown, for a pull request",
		Long: `Rebase a stack as 'dist patches rebase' does, without writing anything, and
describe it in Markdown: the verdicts, the upstream commit behind each conflict,
the conflicts with their three sides, and the range-diff of the stack. What
upstream wrote can do nothing there: no mention, reference, link or command.`,
		Example: `  dist patches report llama-hrx --onto v0.5.0 > report.md`,
		Args:    cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			x, err := f.open(cmd, args[0], false)
			if err != nil {
				return err
			}
			defer x.done()
			x.Options.Bisect = true
			r, err := x.Rebase(cmd.Context(), x.onto)
			if err != nil {
				return err
			}
			text, err := x.Report(cmd.Context(), r)
			if err != nil {
				return err
			}
			env := cli.From(cmd)
			if env.JSON {
				err = env.PrintJSON(map[string]any{"verdict": r.Verdict(), "markdown": text})
			} else {
				_, err = fmt.Fprint(env.Out, text)
			}
			if err != nil {
				return err
			}
			return cli.Done(r.Verdict())
		},
	}
	f.addOnto(cmd)
	return cmd
}
