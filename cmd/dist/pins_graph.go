// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

func newPinsGraph() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "graph",
		Short: "Draw how the pins hang together",
		Long: `Draw how the pins hang together: groups, what each pin's version is read from,
contracts between pins, and stacks of patches. The drawing goes to standard
output, in Graphviz's language or as SVG; with --json the nodes and edges.`,
		Example: `  dist pins graph --format svg > pins.svg
  dist pins graph | dot -Tpdf > pins.pdf`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if format != "dot" && format != "svg" {
				return verdict.Usagef("--format %q is not one of dot, svg", format)
			}
			set, _, err := loadPins(cmd)
			if err != nil {
				return err
			}
			env, graph := cli.From(cmd), set.Graph()
			switch {
			case env.JSON:
				return env.PrintJSON(graph)
			case format == "svg":
				_, err = io.WriteString(env.Out, graph.SVG())
			default:
				_, err = io.WriteString(env.Out, graph.DOT())
			}
			return err
		},
	}
	cmd.Flags().StringVar(&format, "format", "dot", "dot or svg")
	return cmd
}
