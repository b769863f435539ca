// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
)

func newPinsRollback() *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "rollback NAME --reason TEXT",
		Short: "Go back to a pin's version before this one",
		Long: `Restore a pin's file and its stack's folder as they were before the present
version, from the history of this repository, and reject that version so that
nothing moves there again. Nothing is fetched and nothing is committed.`,
		Example:           `  dist pins rollback hrx-system --reason 'ends the text at once on a prompt of 4,700 tokens'`,
		Args:              cli.Args(cobra.ExactArgs(1)),
		ValidArgsFunction: completePins,
		RunE: func(cmd *cobra.Command, args []string) error {
			if reason == "" {
				return verdict.Usagef("a rollback needs --reason: it stands beside the rejected version")
			}
			repo, err := repository(cmd)
			if err != nil {
				return err
			}
			set, _, err := loadPins(cmd)
			if err != nil {
				return err
			}
			p, err := set.Named(args[0])
			if err != nil {
				return err
			}
			done, err := fetch.Rollback(cmd.Context(), repo, p, reason)
			if err != nil {
				return err
			}
			env := cli.From(cmd)
			if env.JSON {
				return env.PrintJSON(done)
			}
			env.Printf("%s is back at %s, as of %s; %s is rejected\n", done.Name, shorten12(done.To), done.Of[:12], shorten12(done.From))
			what := done.File
			if done.Stack != "" {
				what += " and " + done.Stack
			}
			env.Printf("commit %s\n", what)
			return nil
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why this version is bad (one line)")
	return cmd
}
