// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package rmtree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestAll(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a")
	deep := filepath.Join(dir, "b", "c")
	if err := os.MkdirAll(deep, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(deep, "file"), nil, 0o444); err != nil {
		t.Fatal(err)
	}
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(deep, "link")); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{deep, filepath.Dir(deep), dir} {
		if err := os.Chmod(d, 0o555); err != nil {
			t.Fatal(err)
		}
	}
	if err := All(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
	if _, err := os.Stat(outside); err != nil {
		t.Errorf("a link was followed: %v", err)
	}
	if err := All(dir); err != nil {
		t.Errorf("what is not there: %v", err)
	}
}
