// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/pipelines/build"
)

func newPinsWhy() *cobra.Command {
	return &cobra.Command{
		Use:               "why NAME",
		Short:             "Show who needs a pin",
		Long:              "Show what is built from a pin, and the pins, contracts and patches that hang on it.",
		Example:           "  dist pins why zinc",
		Args:              cli.Args(cobra.ExactArgs(1)),
		ValidArgsFunction: completePins,
		RunE: func(cmd *cobra.Command, args []string) error {
			set, _, err := loadPins(cmd)
			if err != nil {
				return err
			}
			uses, err := set.Why(args[0], build.RecipePins())
			if err != nil {
				return err
			}
			env := cli.From(cmd)
			if env.JSON {
				return env.PrintJSON(uses)
			}
			t := cli.Table{}
			line := func(name string, values ...string) {
				if s := strings.Join(values, ", "); s != "" {
					t.Add(name, s)
				}
			}
			line(uses.Name, uses.What)
			line("recipes", uses.Recipes...)
			line("group", uses.Group)
			line("moves with", uses.Siblings...)
			line("version from", uses.Follows)
			line("gives version to", uses.Followers...)
			line("contract with", uses.Contracts...)
			line("stack", uses.Stack)
			if uses.None() {
				line("used by", "nothing here")
			}
			return t.Write(env.Out, false)
		},
	}
}
