// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package fetch

import (
	"time"

	"golang.org/x/sys/unix"
)

// dateLink sets the date of a symbolic link itself.
func dateLink(path string, date time.Time) error {
	t := unix.NsecToTimespec(date.UnixNano())
	return unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{t, t}, unix.AT_SYMLINK_NOFOLLOW)
}
