// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/check"
)

func newNotice() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "notice",
		Short: "Keep NOTICE true to pins and go.mod",
		Long: `Keep the file NOTICE true: what of others is used, where it is from, its
copyright, its licence, and how it is used. It is generated from the pins and
go.mod; copyright and licence of Go modules come from their own files.`,
	}
	return cli.Group(cmd, newNoticeCheck(), newNoticeWrite())
}

func newNoticeCheck() *cobra.Command {
	return &cobra.Command{
		Use: "check", Short: "Compare NOTICE with what it should be", Args: cli.Args(cobra.NoArgs),
		Example: "  dist notice check",
		RunE: func(cmd *cobra.Command, _ []string) error {
			env := cli.From(cmd)
			root, err := repository(cmd)
			if err != nil {
				return err
			}
			diff, err := check.CheckNotice(cmd.Context(), root)
			if err != nil {
				return err
			}
			if env.JSON {
				if err := env.PrintJSON(map[string]any{"current": diff == "", "diff": diff}); err != nil {
					return err
				}
			}
			if diff != "" {
				if !env.JSON {
					env.Printf("%s", diff)
				}
				return verdict.Failf("NOTICE is not what pins and go.mod make it: run 'dist notice write'")
			}
			env.Printf("NOTICE is up to date\n")
			return nil
		},
	}
}

func newNoticeWrite() *cobra.Command {
	return &cobra.Command{
		Use: "write", Short: "Write NOTICE", Args: cli.Args(cobra.NoArgs),
		Example: "  dist notice write",
		RunE: func(cmd *cobra.Command, _ []string) error {
			env := cli.From(cmd)
			root, err := repository(cmd)
			if err != nil {
				return err
			}
			changed, err := check.WriteNotice(cmd.Context(), root)
			if err != nil {
				return err
			}
			if env.JSON {
				return env.PrintJSON(map[string]any{"changed": changed})
			}
			if changed {
				env.Printf("NOTICE written\n")
			} else {
				env.Printf("NOTICE is up to date\n")
			}
			return nil
		},
	}
}
