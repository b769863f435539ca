// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

func newNightlyRetry() *cobra.Command {
	var f nightFlags
	var by string
	cmd := &cobra.Command{
		Use:   "retry GROUP",
		Short: "Have a group's round tried again",
		Long: `Have the tries of a group counted anew, so that the next night tries again what
failed too often, or proposes again what somebody declined. It is written onto
the branch nightly-state; with --mode dry-run only dry runs on this machine know
of it.`,
		Example:           "  dist nightly retry zinc",
		Args:              cli.Args(cobra.ExactArgs(1)),
		ValidArgsFunction: completeGroups,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.jobs, f.offline = 1, true
			if by == "" {
				repo, err := repository(cmd)
				if err != nil {
					return err
				}
				by = userName(cmd, repo)
			}
			if by == "" {
				return verdict.Usagef("it is recorded who asks for it: set user.name of git, or say --by NAME")
			}
			n, err := f.night(cmd, nil)
			if err != nil {
				return err
			}
			defer n.Close()
			if err := n.Retry(cmd.Context(), args[0], by); err != nil {
				return err
			}
			env := cli.From(cmd)
			if env.JSON {
				return env.PrintJSON(map[string]string{"group": args[0], "by": by, "mode": f.mode})
			}
			next := "night"
			if f.mode == string(round.DryRun) {
				next = "dry run here"
			}
			env.Printf("%s is tried again by the next %s\n", args[0], next)
			return nil
		},
	}
	f.remotes(cmd)
	cmd.Flags().StringVar(&f.mode, "mode", string(round.Live), "run: for everybody; dry-run: for this machine's dry runs")
	cmd.Flags().StringVar(&by, "by", "", "who asks for it (default: user.name of git)")
	return cmd
}
