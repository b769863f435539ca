// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package run

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// ownGroup puts the program into a process group of its own, so that all of
// it can be ended at once, and lets it die with us where the system can.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd.SysProcAttr)
}

func terminateGroup(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

// killGroup ends what is left of the group. The leader was reaped, but its
// number stays taken as long as the group has a member, so this cannot hit a
// stranger; with no member left it does nothing.
func killGroup(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

func signalOf(s *os.ProcessState) string {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return w.Signal().String()
	}
	return ""
}

// maxRSS is in bytes; Linux counts in KiB, macOS in bytes.
func maxRSS(s *os.ProcessState) int64 {
	u, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "linux" {
		return int64(u.Maxrss) << 10
	}
	return int64(u.Maxrss)
}
