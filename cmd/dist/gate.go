// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/pipelines/round/gate"
)

// newGate returns 'dist gate', which holds the commands about gates.
func newGate() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "gate",
		Short: "Check what moved before it is proposed",
		Long: `A gate is a named check that a bump must pass before it is proposed or merged.
The nightly job runs them all; these commands run them by hand.`,
	}
	return cli.Group(cmd, newGateList(), newGateRun())
}

// completeGates offers the gates to the shell.
func completeGates(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var names []cobra.Completion
	for _, g := range gate.All() {
		names = append(names, cobra.CompletionWithDesc(g.Name, g.What))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
