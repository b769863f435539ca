// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
)

func newNightlyResolve() *cobra.Command {
	var f nightFlags
	var dir string
	cmd := &cobra.Command{
		Use:   "resolve --dir FOLDER [GROUP...]",
		Short: "First step: find, fetch, verify and archive what is newest",
		Long: `The first step of a night: ask the upstreams, decide what may move, fetch and
verify it, keep its commits in the archive, and write down what was seen. It
runs nothing that was fetched. With --mode run it pushes the branch
nightly-state and the archive's refs, nothing else.

It leaves night.json in the folder, and for each group that may move a folder
of its name with all that its gates need. Its exit code is the worst verdict of
the groups that ended here.`,
		Example:           "  dist nightly resolve --dir night --mode run",
		ValidArgsFunction: completeGroups,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := needFolder(dir, "dir"); err != nil {
				return err
			}
			dir, err := filepath.Abs(dir)
			if err != nil {
				return err
			}
			n, err := f.night(cmd, args)
			if err != nil {
				return err
			}
			defer n.Close()
			rep, err := n.Resolve(cmd.Context(), dir)
			if err != nil {
				return err
			}
			if err := showNight(cli.From(cmd), rep); err != nil {
				return err
			}
			return cli.Done(rep.Verdict())
		},
	}
	f.network.flags(cmd)
	f.modes(cmd)
	f.remotes(cmd)
	f.proposals(cmd)
	cmd.Flags().StringVar(&dir, "dir", "", "folder to hand on in; it must not exist or be empty")
	return cmd
}
