// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/patches"
	"github.com/1bit-MONSTER/engine/pipelines/inputs"
	"github.com/1bit-MONSTER/engine/pipelines/inputs/supply"
)

// supplyFlags are those of dist fetch that make a folder of inputs.
type supplyFlags struct {
	names []string
	to    string
}

func (s *supplyFlags) flags(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&s.names, "for", nil, "leave the inputs of this component, or of checks, in a folder; repeatable")
	cmd.Flags().StringVar(&s.to, "to", "", "with --for: the folder (default: "+inputs.Folder+" in the repository)")
	cmd.RegisterFlagCompletionFunc("for", func(cmd *cobra.Command, _ []string, to string) ([]cobra.Completion, cobra.ShellCompDirective) {
		names, directive := completeRecipes(cmd, s.names, to)
		return append(names, cobra.CompletionWithDesc(inputs.Checks, "what tests and checks need")), directive
	})
}

func (s *supplyFlags) asked(cmd *cobra.Command) bool {
	return cmd.Flags().Changed("for") || cmd.Flags().Changed("to")
}

func (s *supplyFlags) run(cmd *cobra.Command, n *network, args []string) error {
	switch {
	case cmd.Flags().Changed("for") && len(s.names) == 0:
		return verdict.Usagef("--for is empty: name a component, or %s", inputs.Checks)
	case cmd.Flags().Changed("to") && s.to == "":
		return verdict.Usagef("--to is empty: name a folder")
	case len(s.names) == 0:
		return verdict.Usagef("--to goes with --for: name a component")
	case len(args) > 0:
		return verdict.Usagef("--for names components: name no pins (%s)", strings.Join(args, ", "))
	}
	repo, err := repository(cmd)
	if err != nil {
		return err
	}
	if s.to == "" {
		s.to = filepath.Join(repo, inputs.Folder)
	}
	e, _, err := n.engine(cmd)
	if err != nil {
		return err
	}
	stacks, err := patches.Open(cmd.Context(), repo)
	if err != nil {
		return err
	}
	defer stacks.Close()
	done, err := supply.Write(cmd.Context(), supply.Options{Repo: repo, Engine: e, Stacks: stacks}, s.names, s.to)
	if err != nil {
		return err
	}
	env := cli.From(cmd)
	if env.JSON {
		return env.PrintJSON(done)
	}
	env.Printf("%s: %s for %s, %s\n", shorten(done.To), count(done.Entries, "entry", "entries"), strings.Join(done.For, ", "), megabytes(done.Bytes))
	return nil
}
