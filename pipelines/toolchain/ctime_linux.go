// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package toolchain

import (
	"io/fs"
	"syscall"
)

func changeTime(st fs.FileInfo) (int64, uint64) {
	s := st.Sys().(*syscall.Stat_t)
	return s.Ctim.Nano(), s.Ino
}
