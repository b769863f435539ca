// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
)

func newPinsArchive() *cobra.Command {
	var n network
	cmd := &cobra.Command{
		Use:   "archive [NAME...]",
		Short: "Keep every locked commit in our own remotes",
		Long: `Push the locked commits of the named pins, or of all, and those of their
submodules, to the remotes that ` + fetch.ArchiveFile + ` lists, as
refs/pins/<name>/<commit>, and ask each remote afterwards whether it holds them.
Without remotes the verdict is skipped.`,
		Example: `  dist pins archive
  dist pins archive zinc --json`,
		Args:              cli.Args(cobra.ArbitraryArgs),
		ValidArgsFunction: completePins,
		RunE: func(cmd *cobra.Command, args []string) error {
			repo, err := repository(cmd)
			if err != nil {
				return err
			}
			e, _, err := n.engine(cmd)
			if err != nil {
				return err
			}
			list, err := namedPins(e.Set, args, verified)
			if err != nil {
				return err
			}
			remotes, err := fetch.LoadArchive(repo)
			if err != nil {
				return err
			}
			rows, err := e.Archive(cmd.Context(), list, remotes)
			if err != nil {
				return err
			}
			env := cli.From(cmd)
			if env.JSON {
				if err := env.PrintJSON(rows); err != nil {
					return err
				}
			} else {
				table := cli.Table{Head: []string{"NAME", "HELD BY", "VERDICT"}}
				for _, r := range rows {
					held := strings.Join(r.Held, " ")
					if held == "" {
						held = "-"
					}
					table.Add(r.Name, held, string(r.Verdict))
				}
				if err := table.Write(env.Out, env.Color); err != nil {
					return err
				}
				for _, r := range rows {
					if r.Why != "" {
						env.Notef("dist: pin %s: %s", r.Name, r.Why)
					}
				}
			}
			return cli.Done(fetch.WorstOf(rows, func(r fetch.Archived) verdict.Verdict { return r.Verdict }))
		},
	}
	n.flags(cmd)
	return cmd
}
