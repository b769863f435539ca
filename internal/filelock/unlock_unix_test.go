// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package filelock

import (
	"path/filepath"
	"syscall"
	"testing"
)

// A process that is just being started has a copy of every open file; it must
// not keep the lock.
func TestUnlockDespiteACopy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	a, err := Try(path)
	if a == nil || err != nil {
		t.Fatal(a, err)
	}
	fd, err := syscall.Dup(int(a.f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	if err := a.Unlock(); err != nil {
		t.Fatal(err)
	}
	b, err := Try(path)
	if b == nil || err != nil {
		t.Fatalf("the lock was kept by the copy: %v", err)
	}
	b.Unlock()
}
