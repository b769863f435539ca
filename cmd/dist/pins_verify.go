// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
)

func newPinsVerify() *cobra.Command {
	var n network
	var online bool
	cmd := &cobra.Command{
		Use:   "verify [NAME...]",
		Short: "Compare content with the sums of its lock",
		Long: `Read the content of the named pins, or of all verified ones, and compare it with
their locks; what is not in the store is fetched first.

With --online each real upstream is asked as well, past all mirrors, whether it
has what is locked under the locked names. If so, the lock is no longer marked
via-mirror: commit the changed file.`,
		Example: `  dist pins verify zinc
  dist pins verify --offline
  dist pins verify --online`,
		Args:              cli.Args(cobra.ArbitraryArgs),
		ValidArgsFunction: completePins,
		RunE: func(cmd *cobra.Command, args []string) error {
			e, dir, err := n.engine(cmd)
			if err != nil {
				return err
			}
			list, err := namedPins(e.Set, args, verified)
			if err != nil {
				return err
			}
			rows, err := e.Verify(cmd.Context(), list, fetch.VerifyOptions{PinsDir: dir, Online: online})
			if err != nil {
				return err
			}
			env := cli.From(cmd)
			if env.JSON {
				if err := env.PrintJSON(rows); err != nil {
					return err
				}
			} else {
				table := cli.Table{Head: []string{"NAME", "SUM", "VERDICT"}}
				for _, r := range rows {
					table.Add(r.Name, shownSum(r.Sum), string(r.Verdict))
				}
				if err := table.Write(env.Out, env.Color); err != nil {
					return err
				}
				for _, r := range rows {
					if r.Why != "" {
						env.Notef("dist: %s", r.Why)
					}
					if r.Cleared {
						env.Printf("%s: the upstream has it; commit the pin's file\n", r.Name)
					}
				}
			}
			return cli.Done(fetch.WorstOf(rows, func(r fetch.VerifiedPin) verdict.Verdict { return r.Verdict }))
		},
	}
	n.flags(cmd)
	cmd.Flags().BoolVar(&online, "online", false, "ask the real upstreams, without mirrors")
	return cmd
}

// shownSum is a sum as a table shows it.
func shownSum(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
