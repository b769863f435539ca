// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/check"
)

func newLicense() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "license",
		Short: "Hold the copyright header on every file",
		Long: `Hold the two lines of copyright and licence at the top of every file of the
work tree that can hold a comment, tracked by git or not ignored by it.`,
	}
	return cli.Group(cmd,
		newHeaders("check", "Name every file without the header, and every file of unknown type",
			"  dist license check\n  dist license check --json", check.CheckHeaders),
		newHeaders("fix", "Add the header where it is missing",
			"  dist license fix", check.FixHeaders))
}

func newHeaders(use, short, example string, do func(context.Context, string) (*check.Headers, error)) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Example: example, Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			env := cli.From(cmd)
			root, err := repository(cmd)
			if err != nil {
				return err
			}
			h, err := do(cmd.Context(), root)
			if err != nil {
				return err
			}
			if env.JSON {
				if err := env.PrintJSON(h); err != nil {
					return err
				}
			}
			for _, name := range h.Fixed {
				env.Printf("%s: header added\n", name)
			}
			for _, p := range h.Problems {
				env.Notef("%s: %s", p.File, p.Why)
			}
			if n := len(h.Problems); n > 0 {
				return verdict.Failf("%s: see the lines above; 'dist license fix' adds missing headers", count(n, "file", "files"))
			}
			env.Printf("%s with the header, %d that carry none\n", count(h.Files, "file", "files"), h.Exempt)
			return nil
		},
	}
}
