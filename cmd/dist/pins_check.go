// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
)

func newPinsCheck() *cobra.Command {
	var n network
	cmd := &cobra.Command{
		Use:   "check [NAME...]",
		Short: "Ask upstreams for their newest versions",
		Long: `Ask the upstreams of the named pins, or of all, for their newest versions: all
side by side, one request each. Nothing is fetched and no pin changes; the
answers are kept in the cache, where 'dist pins list' shows them.

The exit code is that of the worst verdict: fail for a tag that moved or a
branch that is gone, held for a tag outside the schemes or a rejected version,
infra for a host that did not answer.`,
		Example: `  dist pins check
  dist pins check zinc linux --json
  dist pins check --mirrors mirrors.yaml`,
		Args:              cli.Args(cobra.ArbitraryArgs),
		ValidArgsFunction: completePins,
		RunE: func(cmd *cobra.Command, args []string) error {
			e, _, err := n.engine(cmd)
			if err != nil {
				return err
			}
			list, err := namedPins(e.Set, args, nil)
			if err != nil {
				return err
			}
			rows, err := e.Check(cmd.Context(), list)
			if err != nil {
				return err
			}
			env := cli.From(cmd)
			if env.JSON {
				if err := env.PrintJSON(rows); err != nil {
					return err
				}
			} else if err := printChecked(env, rows); err != nil {
				return err
			}
			return cli.Done(fetch.WorstOf(rows, func(r fetch.Checked) verdict.Verdict { return r.Verdict }))
		},
	}
	n.flags(cmd)
	return cmd
}

func printChecked(env *cli.Env, rows []fetch.Checked) error {
	table := cli.Table{Head: []string{"NAME", "LOCKED", "NEWEST", "MOVES", "VERDICT"}}
	for _, r := range rows {
		newest, moves := "-", "-"
		if r.Newest != nil {
			newest, moves = shortVersion(r.Newest.Version, r.Newest.Commit), "no"
			if r.Moves {
				moves = "yes"
			}
		}
		table.Add(r.Name, shorten12(r.Locked), newest, moves, string(r.Verdict))
	}
	if err := table.Write(env.Out, env.Color); err != nil {
		return err
	}
	for _, r := range rows {
		if r.Why != "" {
			env.Notef("dist: pin %s: %s", r.Name, r.Why)
		}
		for _, note := range r.Notes {
			env.Notef("dist: pin %s: %s", r.Name, note)
		}
	}
	return nil
}
