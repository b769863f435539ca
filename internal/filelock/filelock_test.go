// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package filelock

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
)

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	a, err := Try(path)
	if a == nil || err != nil {
		t.Fatalf("a free lock: %v, %v", a, err)
	}
	if b, err := Try(path); b != nil || err != nil {
		t.Errorf("a held lock was given: %v, %v", b, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	told := 0
	if _, err := Wait(ctx, path, func() { told++; cancel() }); !errors.Is(err, context.Canceled) || told != 1 {
		t.Errorf("waiting for a held lock: %v, told %d times", err, told)
	}
	if _, err := Wait(t.Context(), path, func() { a.Unlock() }); err != nil {
		t.Errorf("waiting for a lock that is released: %v", err)
	}
	if _, err := Try(filepath.Join(path, "below")); err == nil {
		t.Error("a lock below a file was given")
	}
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	a, err := Folder(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Folder(ctx, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("a held lock: %v", err)
	}
	a.Unlock()
	b, err := Folder(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	b.Unlock()
	if _, err := Folder(t.Context(), filepath.Join(dir, "none")); err == nil {
		t.Error("a folder that is not there was locked")
	}
}
