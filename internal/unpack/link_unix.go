// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package unpack

import (
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// createFlags never follow or reuse what is there.
const createFlags = os.O_WRONLY | os.O_CREATE | os.O_EXCL | unix.O_NOFOLLOW

// linkTime sets the time of a link itself. All folders above it are folders
// that this package made.
func linkTime(dir, name string, t time.Time) error {
	ts := unix.NsecToTimespec(t.UnixNano())
	return unix.UtimesNanoAt(unix.AT_FDCWD, filepath.Join(dir, name), []unix.Timespec{ts, ts}, unix.AT_SYMLINK_NOFOLLOW)
}
