// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
	"github.com/1bit-MONSTER/engine/pipelines/toolchain"
)

func newToolchainLock() *cobra.Command {
	var n network
	cmd := &cobra.Command{
		Use:   "lock NAME...",
		Short: "Lock what a toolchain is made of",
		Long: `Resolve what a toolchain is made of now, download it, and write the lock.

Debian packages are chosen by apt's own solver as on an empty disk, from lists
that the archive signed; the lock has each by name, version, sha256 and path in
the archive's pool, and no address. It is committed, so its files must stay:
the pocket is release, which changes at point releases only. A pin that
follows another pocket is resolved in the run that uses it.`,
		Example: `  dist toolchain lock debian-bookworm-build
  dist toolchain lock zig rust --mirrors mirrors.yaml`,
		Args:              cli.Args(cobra.MinimumNArgs(1)),
		ValidArgsFunction: completeToolchains,
		RunE: func(cmd *cobra.Command, args []string) error {
			e, dir, err := n.engine(cmd)
			if err != nil {
				return err
			}
			list, err := toolchainPins(e.Set, args)
			if err != nil {
				return err
			}
			for _, p := range list {
				if err := toolchain.Lockable(p); err != nil {
					return err
				}
			}
			rows, err := e.Update(cmd.Context(), list, fetch.UpdateOptions{PinsDir: dir})
			if err != nil {
				return err
			}
			env := cli.From(cmd)
			if env.JSON {
				if err := env.PrintJSON(rows); err != nil {
					return err
				}
			} else if err := printUpdated(env, rows); err != nil {
				return err
			}
			return cli.Done(fetch.WorstOf(rows, func(r fetch.Updated) verdict.Verdict { return r.Verdict }))
		},
	}
	n.flags(cmd)
	return cmd
}
