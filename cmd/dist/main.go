// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Command dist makes the 1bit engine distribution: it pins upstreams, fetches
// and verifies them, keeps our patches rebased, builds, tests and releases.
package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/sandbox"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

func main() {
	sandbox.Main() // where this process is the first of a build step, it stays there
	os.Exit(cli.Main(newRoot(), verdict.ExitCode))
}

// newRoot returns dist with all its commands; one file a command.
func newRoot() *cobra.Command {
	root := cli.New("dist", "Make the 1bit engine distribution", rootLong)
	root.PersistentFlags().String("repo", "", "the repository (default: the one around the current folder)")
	return cli.Group(root, newBuild(), newCI(), newExport(), newFetch(), newGate(), newHold(), newLicense(), newNightly(), newNotice(), newParts(), newPatches(), newPins(), newRehearse(), newReproduce(), newStore(), newToolchain(), newUnhold())
}

const rootLong = `dist makes the 1bit engine distribution: it pins every upstream, fetches and
verifies it, keeps our patches rebased on it, builds the engine and its
components reproducibly, and publishes the result.

Exit codes: 0 pass, 1 fail, 2 usage, 3 conflict (a patch no longer applies),
4 held (a rule says not to move), 5 infra (machine, network or service failed,
not the code), 6 skipped.`
