// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package child

import (
	"os/exec"
	"syscall"
)

// prepare gives the program a process group of its own, and has the kernel
// kill it when the thread that starts it ends. Package syscall looks once more, after
// setting that, whether the parent is still there.
func prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
