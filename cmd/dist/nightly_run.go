// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import "github.com/spf13/cobra"

func newNightlyRun() *cobra.Command {
	var f nightFlags
	cmd := &cobra.Command{
		Use:   "run [GROUP...]",
		Short: "Do a whole night on this machine",
		Long: `Do a whole night on this machine, for all groups or some: resolve, gate and
propose, one after the other. The default is a dry run: it fetches, verifies,
rebases and builds into the cache, says what would be proposed, and touches
nothing else. What a dry run remembers (first sights, tries) no live run reads.

A night stands on the commit that is checked out; pins, patches and ci must be
as committed.`,
		Example: `  dist nightly run                          # what would happen tonight
  dist nightly run zinc --out out           # one group, with page and proposal
  dist nightly run --mode run               # the nightly job on one machine`,
		ValidArgsFunction: completeGroups,
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := f.night(cmd, args)
			if err != nil {
				return err
			}
			defer n.Close()
			rep, err := n.Run(cmd.Context())
			if err != nil {
				return err
			}
			return f.finish(cmd, n, rep)
		},
	}
	f.network.flags(cmd)
	f.modes(cmd)
	f.remotes(cmd)
	f.proposals(cmd)
	f.leaves(cmd)
	f.tools(cmd)
	return cmd
}
