// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/parts"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/check"
)

// ciCommand holds what .ci/run is made of and nobody else needs.
func newCI() *cobra.Command {
	cmd := &cobra.Command{Use: "ci", Short: "Steps of .ci/run", Hidden: true}
	return cli.Group(cmd, newSummarize())
}

func newSummarize() *cobra.Command {
	return &cobra.Command{
		Use:   "summarize",
		Short: "Read the output of go test -json and say what it came to",
		Long: `Read the output of go test -json on standard input; print every failure with
its output, the skipped tests with their reasons, the table of real parts, and
as the last line "N passed, N failed, N skipped". It is a failure when a test
failed, a package did not build or end, no test passed, or no test used a part
that ONEBIT_REQUIRE names.`,
		Example: "  go test -json ./... | dist ci summarize",
		Args:    cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			env := cli.From(cmd)
			shown := env.Out
			if env.JSON {
				shown = env.Err
			}
			s, err := check.Summarize(env.In, shown, parts.Required())
			if err != nil {
				return err
			}
			if env.JSON {
				if err := env.PrintJSON(s); err != nil {
					return err
				}
			} else {
				table := cli.Table{Head: []string{"PART", "RUN", "SKIPPED", "FAILED", "REQUIRED", "VERSION"}}
				for _, p := range s.Parts {
					table.Add(p.Part, strconv.Itoa(p.Run), strconv.Itoa(p.Skipped), strconv.Itoa(p.Failed), yesNo(p.Required), p.Version)
				}
				if err := table.Write(env.Out, env.Color); err != nil {
					return err
				}
				fmt.Fprintf(env.Out, "\n%s\n", s.Line())
			}
			if !s.Pass() {
				return cli.Done(verdict.Fail)
			}
			return nil
		},
	}
}
