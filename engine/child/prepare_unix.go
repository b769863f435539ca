// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix && !linux

package child

import (
	"os/exec"
	"syscall"
)

// prepare gives the program a process group of its own; the guard that bind
// starts is what ends it with us.
func prepare(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
