// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/pins"
)

// newPins returns 'dist pins', which holds the commands about pins.
func newPins() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pins",
		Short: "Show and move what every upstream is pinned to",
		Long: `A pin is an upstream that we follow: how its newest version is found, and the
lock that says what we use now. An unlocked pin was never resolved, a resolved
one names its version, a verified one also has the sums of its content; only
verified locks are built.`,
	}
	return cli.Group(cmd, newPinsList(), newPinsShow(), newPinsGraph(), newPinsWhy(), newPinsHold(), newPinsUnhold(),
		newPinsCheck(), newPinsUpdate(), newPinsRollback(), newPinsVerify(), newPinsArchive())
}

// loadPins reads all pins of the repository, and returns their folder.
func loadPins(cmd *cobra.Command) (*pins.Set, string, error) {
	repo, err := repository(cmd)
	if err != nil {
		return nil, "", err
	}
	dir := pinsDir(repo)
	set, err := pins.Load(dir)
	return set, dir, err
}

// pinsDir is the folder of a repository's pins, as messages show it.
func pinsDir(repo string) string { return shorten(filepath.Join(repo, "pins")) }
