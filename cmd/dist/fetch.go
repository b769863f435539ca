// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
)

func newFetch() *cobra.Command {
	var n network
	cmd := &cobra.Command{
		Use:   "fetch [NAME...]",
		Short: "Bring locked content into the store",
		Long: `Bring what the locks of the named pins, or of all verified ones, describe into
the store, verified against the lock. What is there already is not asked for.`,
		Example: `  dist fetch
  dist fetch zinc --mirrors mirrors.yaml
  dist fetch --offline          # only checks that all is here`,
		Args:              cli.Args(cobra.ArbitraryArgs),
		ValidArgsFunction: completePins,
		RunE: func(cmd *cobra.Command, args []string) error {
			e, _, err := n.engine(cmd)
			if err != nil {
				return err
			}
			list, err := namedPins(e.Set, args, verified)
			if err != nil {
				return err
			}
			rows, err := e.Fetch(cmd.Context(), list)
			if err != nil {
				return err
			}
			env := cli.From(cmd)
			if env.JSON {
				if err := env.PrintJSON(rows); err != nil {
					return err
				}
			} else if err := printFetched(env, rows); err != nil {
				return err
			}
			return cli.Done(fetch.WorstOf(rows, func(r fetch.Fetched) verdict.Verdict { return r.Verdict }))
		},
	}
	n.flags(cmd)
	cmd.AddCommand(newFetchDeclared())
	return cmd
}

func printFetched(env *cli.Env, rows []fetch.Fetched) error {
	table := cli.Table{Head: []string{"NAME", "VERSION", "FILES", "SIZE", "VERDICT"}}
	for _, r := range rows {
		files, size := "-", "-"
		if r.Verdict == verdict.Pass {
			files, size = fmt.Sprint(r.Files), fmt.Sprintf("%.1f MB", float64(r.Size)/1e6)
		}
		table.Add(r.Name, shortVersion(r.Version, r.Commit), files, size, string(r.Verdict))
	}
	if err := table.Write(env.Out, env.Color); err != nil {
		return err
	}
	for _, r := range rows {
		if r.Why != "" {
			env.Notef("dist: %s", r.Why)
		}
	}
	return nil
}
