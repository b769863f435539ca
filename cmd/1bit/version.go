// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/engine/version"
	"github.com/1bit-MONSTER/engine/internal/cli"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Say what this binary was made from",
		Long: `Say what this binary was made from: its version, the sum of its sources, and
the pins that feed it. The first line is always "1bit" and the version.`,
		Example: `  1bit version
  1bit version --json`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			env, info := cli.From(cmd), version.Get()
			if env.JSON {
				return env.PrintJSON(info)
			}
			env.Printf("1bit %s\nsource %s\n%s %s/%s\n", info.Version, info.Source, info.Go, info.OS, info.Arch)
			for _, p := range info.Pins {
				env.Printf("pin %s %s\n", p.Name, p.Version)
			}
			return nil
		},
	}
}
