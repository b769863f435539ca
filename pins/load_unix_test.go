// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package pins

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

// A pipe with the name of a pin file is refused, not waited for.
func TestLoadPipe(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/groups.yaml", []byte("[]\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(dir+"/x.yaml", 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "x.yaml is no regular file") {
		t.Errorf("got %v", err)
	}
}
