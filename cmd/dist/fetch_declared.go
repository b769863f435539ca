// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/fetch/declared"
)

func newFetchDeclared() *cobra.Command {
	var n network
	cmd := &cobra.Command{
		Use:   "declared NAME",
		Short: "Show what a pin's build files would download",
		Long: `Read the build files of a pin's locked source (CMake, Cargo, npm, pip, Go, Zig,
Meson, git submodules, scripts) and list what they would download. Nothing of
the source is executed.

The exit code is 1 when a build may download something that neither an input
nor a submodule of the lock covers.`,
		Example: `  dist fetch declared llama-vulkan
  dist fetch declared rocmfpx --json`,
		Args:              cli.Args(cobra.ExactArgs(1)),
		ValidArgsFunction: completePins,
		RunE: func(cmd *cobra.Command, args []string) error {
			e, _, err := n.engine(cmd)
			if err != nil {
				return err
			}
			p, err := e.Set.Named(args[0])
			if err != nil {
				return err
			}
			list, result, err := e.Downloads(cmd.Context(), p)
			if err != nil {
				return err
			}
			env := cli.From(cmd)
			if env.JSON {
				if list == nil {
					list = []declared.Declared{}
				}
				err = env.PrintJSON(struct {
					Name     string              `json:"name"`
					Declared []declared.Declared `json:"declared"`
					declared.Result
				}{p.Name, list, result})
			} else {
				err = declared.WriteText(env.Out, list)
			}
			if err != nil {
				return err
			}
			for _, s := range result.Stale {
				env.Notef("dist: pin %s: %s", p.Name, s.Sentence())
			}
			for _, u := range result.Uncovered {
				env.Notef("dist: pin %s: %s", p.Name, u.Sentence())
			}
			if len(result.Uncovered) > 0 {
				return cli.Done(verdict.Fail)
			}
			return nil
		},
	}
	n.flags(cmd)
	return cmd
}
