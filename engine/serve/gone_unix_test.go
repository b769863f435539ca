// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package serve

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// gone says whether a process has ended; a zombie that nobody waits for has.
func gone(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(rest, "Z")
}
