// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package run

import (
	"os"
	"os/exec"
)

// Systems without process groups: the program itself is ended, its children
// are not known to us.

func ownGroup(*exec.Cmd) {}

func terminateGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }

func killGroup(*exec.Cmd) {}

func signalOf(*os.ProcessState) string { return "" }

func maxRSS(*os.ProcessState) int64 { return 0 }
