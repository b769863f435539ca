// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package gguf_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/1bit-MONSTER/engine/engine/gguf"
	"github.com/1bit-MONSTER/engine/engine/gguf/gguftest"
)

func TestUnreadable(t *testing.T) {
	dir := t.TempDir()
	path := gguftest.File{}.Write(t, filepath.Join(dir, "m.gguf"))
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	result := make(chan error)
	go func() {
		if os.Getuid() == 0 { // root may read everything; this thread becomes nobody to the file system
			runtime.LockOSThread() // and ends with the goroutine
			unix.SetfsuidRetUid(65534)
		}
		_, err := gguf.Read(path)
		result <- err
	}()
	if err := <-result; !errors.Is(err, fs.ErrPermission) || err.Error() != path+": permission denied" {
		t.Errorf("got %v", err)
	}
}
