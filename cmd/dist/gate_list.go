// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/pipelines/round/gate"
)

func newGateList() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the gates, in the order in which they run",
		Example: `  dist gate list
  dist gate list --json`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			type row struct {
				Name string `json:"name"`
				What string `json:"what"`
			}
			env := cli.From(cmd)
			var rows []row
			table := cli.Table{Head: []string{"GATE", "WHAT"}}
			for _, g := range gate.All() {
				rows = append(rows, row{g.Name, g.What})
				table.Add(g.Name, g.What)
			}
			if env.JSON {
				return env.PrintJSON(rows)
			}
			return table.Write(env.Out, env.Color)
		},
	}
}
