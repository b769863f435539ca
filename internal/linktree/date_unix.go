// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package linktree

import (
	"time"

	"golang.org/x/sys/unix"
)

// DateLink sets the date of a symbolic link itself.
func DateLink(path string, date time.Time) error {
	t := unix.NsecToTimespec(date.UnixNano())
	return unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{t, t}, unix.AT_SYMLINK_NOFOLLOW)
}
