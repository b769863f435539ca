// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package toolchain

import "io/fs"

func changeTime(fs.FileInfo) (int64, uint64) { return 0, 0 }
