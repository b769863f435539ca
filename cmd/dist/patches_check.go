// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/patches"
)

func newPatchesCheck() *cobra.Command {
	return &cobra.Command{
		Use:   "check [NAME...]",
		Short: "Check stacks against their base, their lock and themselves",
		Long: `Check that the series and the patch files are well formed, that each patch
applies exactly to what it was written for, that the tree after each is the one
in the lock of the pin and the last has its sum, that exporting the rebuilt
commits gives the same bytes, and that each patch states its Upstream-Status:

  inappropriate [reason]   it is only for us
  pending                  it is to be sent
  submitted <address>      it was sent
  backport <address>       the upstream has it, later than the base

Without a repository that has the base the verdict is skipped, not pass.`,
		Example: `  dist patches check
  dist patches check llama-vulkan --git-dir ~/src/llama.cpp`,
		RunE: func(cmd *cobra.Command, names []string) error {
			env := cli.From(cmd)
			repo, err := openPatches(cmd, false)
			if err != nil {
				return err
			}
			if len(names) == 0 {
				if names, err = repo.Names(); err != nil {
					return err
				}
			}
			for _, name := range names {
				if err := patches.CheckName(name); err != nil {
					return err
				}
			}
			all := []*patches.Checked{}
			var verdicts []verdict.Verdict
			table := cli.Table{Head: []string{"STACK", "PATCHES", "VERDICT", "TREE"}}
			for _, name := range names {
				c := repo.Check(cmd.Context(), name, upstreamSource(cmd))
				all = append(all, c)
				verdicts = append(verdicts, c.Verdict)
				table.Add(c.Stack, strconv.Itoa(c.Patches), string(c.Verdict), orDash(c.Tree.Short()))
				if c.Why != "" {
					env.Notef("%s", c.Why)
				}
			}
			if env.JSON {
				err = env.PrintJSON(all)
			} else if len(all) > 0 {
				err = table.Write(env.Out, env.Color)
			} else {
				env.Notef("there are no stacks to check")
			}
			if err != nil {
				return err
			}
			return cli.Done(verdict.Worst(verdicts...))
		},
	}
}
