// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/toolchain"
)

// newToolchain returns 'dist toolchain', which holds the commands about what
// things are built with.
func newToolchain() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "toolchain",
		Short: "Lock and unpack what components are built with",
		Long: `A toolchain is a pin with the use build-tool whose lock has something to build
with: Debian packages by sha256, Go's toolchain, archives, or an OCI image by
digest. It is unpacked once into the store, read-only, and is the root of the
sandbox in which a component is built.`,
	}
	return cli.Group(cmd, newToolchainList(), newToolchainLock(), newToolchainFetch(), newToolchainPath())
}

// toolchainPins returns the toolchains that a user named, or all.
func toolchainPins(set *pins.Set, names []string) ([]*pins.Pin, error) {
	list, err := namedPins(set, names, toolchain.Is)
	if err != nil {
		return nil, err
	}
	for _, p := range list {
		if p.Use != pins.BuildTool {
			return nil, verdict.Usagef("pin %s is no toolchain: its use is %s, not %s", p.Name, p.Use, pins.BuildTool)
		}
	}
	return list, nil
}

// completeToolchains completes names of toolchains.
func completeToolchains(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	set, _, err := loadPins(cmd)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var names []cobra.Completion
	for _, p := range set.Pins {
		if toolchain.Is(p) {
			names = append(names, cobra.CompletionWithDesc(p.Name, p.What))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
