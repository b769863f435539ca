// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package store

import "syscall"

func fifo(path string) error { return syscall.Mkfifo(path, 0o600) }
