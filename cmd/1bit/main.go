// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Command 1bit serves models with the 1bit engine.
package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

func main() { os.Exit(run()) }

func run() int { return cli.MainArgs(newRoot(), exitCode, spelled(os.Args[1:])) }

// exitCode: 0 as it should be, 2 a command line that can not be understood, 1
// everything else.
func exitCode(err error) int {
	var usage *verdict.Usage
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		return verdict.ExitUsage
	}
	return 1
}

// newRoot returns 1bit with all its commands; one file a command.
func newRoot() *cobra.Command {
	root := cli.New("1bit", "Serve models with the 1bit engine", rootLong)
	cli.ErrorsNameCommand(root)
	return cli.Group(root, newServe(), newDevices(), newDoctor(), newVersion(), newMan())
}

const rootLong = `1bit serves models with the 1bit engine, over the OpenAI HTTP API.

Exit codes: 0 as it should be, 1 an error, 2 a command line that can not be
understood.`
