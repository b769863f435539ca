// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// memoryFolder is where Linux keeps files in memory.
const memoryFolder = "/dev/shm"

// enoughMemory is how much must be free there, in bytes; a rebase needs a tenth
// of it.
const enoughMemory = 1 << 30

// scratchFolder is where scratch repositories are made: in memory if there is
// room. Merging makes many small files, which some disks take a millisecond for
// each. A folder in TMPDIR goes first.
func scratchFolder() string {
	var s unix.Statfs_t
	if os.Getenv("TMPDIR") == "" && unix.Statfs(memoryFolder, &s) == nil && s.Type == unix.TMPFS_MAGIC &&
		s.Bavail*uint64(s.Bsize) >= enoughMemory && unix.Access(memoryFolder, unix.W_OK) == nil {
		return memoryFolder
	}
	return os.TempDir()
}

// ours tells whether a folder in a place that all users share is this user's.
func ours(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
