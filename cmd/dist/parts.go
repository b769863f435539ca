// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/parts"
)

func newParts() *cobra.Command {
	return &cobra.Command{
		Use:   "parts",
		Short: "List the real parts that tests can use on this machine",
		Long: `List the real programs and files that tests use where they are present: which
are here, in which version, and how to get the others. A test that needs an
absent part is skipped, unless ONEBIT_REQUIRE (names, separated by commas)
names the part: then it fails. ONEBIT_TEST_<NAME> says where a part is that is
not on PATH, for example ONEBIT_TEST_LLAMA_SERVER.`,
		Example: "  dist parts\n  dist parts --json",
		Args:    cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			env := cli.From(cmd)
			all := parts.All(cmd.Context())
			if env.JSON {
				return env.PrintJSON(all)
			}
			table := cli.Table{Head: []string{"PART", "HERE", "VERSION, OR HOW TO GET IT"}}
			for _, p := range all {
				about := p.Version
				if !p.Present() {
					about = p.Absent
				}
				table.Add(p.Name, yesNo(p.Present()), about)
			}
			return table.Write(env.Out, env.Color)
		},
	}
}
