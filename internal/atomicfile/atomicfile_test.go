// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestCreate(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := Write(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	failed := errors.New("failed")
	err := Create(path, 0o644, func(w io.Writer) error {
		w.Write([]byte("half"))
		return failed
	})
	if !errors.Is(err, failed) {
		t.Errorf("error is %v", err)
	}
	if data, _ := os.ReadFile(path); string(data) != "old" {
		t.Errorf("after a failure it holds %q", data)
	}
	if err := Write(path, []byte("new"), 0o640); err != nil {
		t.Fatal(err)
	}
	data, _ := os.ReadFile(path)
	st, err := os.Stat(path)
	if err != nil || string(data) != "new" || st.Mode().Perm() != 0o640 {
		t.Errorf("it holds %q, mode %v, %v", data, st.Mode(), err)
	}
	if err := Write(dir, nil, 0o644); err == nil {
		t.Error("a folder was replaced")
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
}
