// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package patches

import "os"

// scratchFolder is where scratch repositories are made.
func scratchFolder() string { return os.TempDir() }

// ours is known on Linux only, where such folders are in a place that all users
// share.
func ours(os.FileInfo) bool { return true }
