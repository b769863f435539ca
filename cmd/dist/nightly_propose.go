// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
)

func newNightlyPropose() *cobra.Command {
	var f nightFlags
	var dir string
	cmd := &cobra.Command{
		Use:   "propose --dir FOLDER",
		Short: "Third step: check again, and push the branches of what passed",
		Long: `The third step of a night: verify what the gates left, push the branch of each
group that passed, and write down how every group ended, also of those whose
gates failed or never ended. It may push, and runs nothing that was fetched.

A branch on which a person committed is left alone.`,
		Example: "  dist nightly propose --dir night --mode run --out page",
		Args:    cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := needFolderThere(dir, "dir"); err != nil {
				return err
			}
			dir, err := filepath.Abs(dir)
			if err != nil {
				return err
			}
			f.offline, f.jobs = true, 1
			n, err := f.night(cmd, nil)
			if err != nil {
				return err
			}
			defer n.Close()
			rep, err := n.Propose(cmd.Context(), dir)
			if err != nil {
				return err
			}
			return f.finish(cmd, n, rep)
		},
	}
	f.modes(cmd)
	f.remotes(cmd)
	f.proposals(cmd)
	f.leaves(cmd)
	cmd.Flags().StringVar(&dir, "dir", "", "the folder that the first step left")
	return cmd
}
