// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package httpget

import (
	"os"

	"golang.org/x/sys/unix"
)

// lock takes the file for this process; false when another has it. The lock
// goes with the file.
func lock(f *os.File) bool { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil }
