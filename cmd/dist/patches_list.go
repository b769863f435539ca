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

func newPatchesList() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the stacks",
		Long: `List the stacks: the pin, the base, how many patches there are and how many of
them state how they stand with the upstream. Only files are read.`,
		Example: `  dist patches list
  dist patches list --json`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			env := cli.From(cmd)
			repo, err := openPatches(cmd, false)
			if err != nil {
				return err
			}
			names, err := repo.Names()
			if err != nil {
				return err
			}
			all := []*patches.Overview{}
			table := cli.Table{Head: []string{"STACK", "PIN", "BASE", "PATCHES", "STATED"}}
			v := verdict.Pass
			for _, name := range names {
				o, _ := repo.Look(name)
				all = append(all, o)
				if o.Error != "" {
					v = verdict.Fail
					env.Notef("%s", o.Error)
					table.Add(name, orDash(o.Pin), "-", "unreadable")
					continue
				}
				stated := 0
				for _, c := range o.Patches {
					if c.Status != "" {
						stated++
					}
				}
				table.Add(name, orDash(o.Pin), orDash(o.Base.Short()), strconv.Itoa(len(o.Patches)), strconv.Itoa(stated))
			}
			switch {
			case env.JSON:
				err = env.PrintJSON(all)
			case len(all) == 0:
				env.Notef("there are no stacks; 'dist patches import' makes one")
			default:
				err = table.Write(env.Out, env.Color)
			}
			if err != nil {
				return err
			}
			return cli.Done(v)
		},
	}
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
