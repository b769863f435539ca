// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// BenchmarkBuildNothingChanged times the whole program: exec, the look at all
// that could have changed, and git's word on the commit.
func BenchmarkBuildNothingChanged(b *testing.B) {
	dist, out := filepath.Join(b.TempDir(), "dist"), b.TempDir()
	if msg, err := exec.Command("go", "build", "-o", dist, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, msg)
	}
	run := func() {
		cmd := exec.Command(dist, "build", "--repo", "../..", "--out", out)
		cmd.Env = os.Environ()
		if msg, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, msg)
		}
	}
	run()
	run() // the first may have come too close to an edit to be remembered
	for b.Loop() {
		run()
	}
}
