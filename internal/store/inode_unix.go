// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package store

import (
	"io/fs"
	"syscall"
)

func inode(st fs.FileInfo) uint64 { return uint64(st.Sys().(*syscall.Stat_t).Ino) }
