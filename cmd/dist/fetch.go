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
	var s supplyFlags
	cmd := &cobra.Command{
		Use:   "fetch [NAME...]",
		Short: "Bring locked content into the store",
		Long: `Bring what the locks of the named pins, or of all verified ones, describe into
the store, verified against the lock. What is there already is not asked for.

With --for it leaves everything that a build of these components needs, and
nothing else, in a folder: sources, toolchains and Go modules. 'dagger call'
takes it from .dagger-inputs; a machine without network takes it as DIST_CACHE.
--for checks has what tests and checks need.`,
		Example: `  dist fetch
  dist fetch zinc --mirrors mirrors.yaml
  dist fetch --offline          # only checks that all is here
  dist fetch --for serve        # then: dagger call build --component serve
  dist fetch --for llama-vulkan --for checks --to /media/usb/inputs`,
		Args:              cli.Args(cobra.ArbitraryArgs),
		ValidArgsFunction: completePins,
		RunE: func(cmd *cobra.Command, args []string) error {
			if s.asked(cmd) {
				return s.run(cmd, &n, args)
			}
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
			return showRows(cli.From(cmd), rows, printFetched, func(r fetch.Fetched) verdict.Verdict { return r.Verdict })
		},
	}
	n.flags(cmd)
	s.flags(cmd)
	cmd.AddCommand(newFetchDeclared())
	return cmd
}

func printFetched(env *cli.Env, rows []fetch.Fetched) error {
	table := cli.Table{Head: []string{"NAME", "VERSION", "FILES", "SIZE", "VERDICT"}}
	for _, r := range rows {
		files, size := "-", "-"
		if r.Verdict == verdict.Pass {
			files, size = fmt.Sprint(r.Files), megabytes(r.Size)
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
