// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/rmtree"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/pipelines/build"
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

// BenchmarkBuildAllNothingChanged times the whole program when the store has
// every component whose inputs are all locked, each with 200 files, beside
// entries that together are 20 GB.
func BenchmarkBuildAllNothingChanged(b *testing.B) {
	dist, cache, out := filepath.Join(b.TempDir(), "dist"), b.TempDir(), b.TempDir()
	if msg, err := exec.Command("go", "build", "-o", dist, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, msg)
	}
	b.Cleanup(func() { rmtree.All(cache) })
	run := func(want int, args ...string) []byte {
		cmd := exec.Command(dist, append([]string{"--repo", "../..", "--json"}, args...)...)
		cmd.Env = append(os.Environ(), "DIST_CACHE="+cache)
		text, _ := cmd.Output()
		if code := cmd.ProcessState.ExitCode(); code != want {
			b.Fatalf("%v: exit code %d\n%s", args, code, text)
		}
		return text
	}
	var plan struct{ Components []*build.PlannedComponent }
	if err := json.Unmarshal(run(0, "build", "--plan"), &plan); err != nil {
		b.Fatal(err)
	}
	run(0, "build", "--out", out) // serve itself is real
	st, err := store.Open(filepath.Join(cache, "store"))
	if err != nil {
		b.Fatal(err)
	}
	n := 1
	for _, c := range plan.Components {
		if c.Key != "" && c.Name != "serve" {
			fillStore(b, st, c.Key, 200, 1<<20)
			n++
		}
	}
	for i := range 20 {
		key, err := store.KeyOf(fmt.Sprintf("in:%064x", i))
		if err != nil {
			b.Fatal(err)
		}
		fillStore(b, st, key, 1, 1)
		e, err := st.Get(key)
		if err != nil {
			b.Fatal(err)
		}
		// Larger only now, since summing 20 GB takes a minute; no build reads it.
		big := filepath.Join(e.Path, "0")
		if err := errors.Join(os.Chmod(big, 0o644), os.Truncate(big, 1e9)); err != nil {
			b.Fatal(err)
		}
	}
	b.Logf("%d of %d components are in the store", n, len(plan.Components))
	all := []string{"build", "--all", "--offline", "--out", out}
	var made []build.Made
	if err := json.Unmarshal(run(1, all...), &made); err != nil {
		b.Fatal(err)
	}
	for _, m := range made {
		if m.Built != nil && !m.Hit {
			b.Fatalf("%s was built", m.Name)
		}
	}
	run(1, all...)
	for b.Loop() {
		run(1, all...) // a pin without a lock makes it fail
	}
}

// fillStore puts an output of so many sparse files into a store.
func fillStore(b *testing.B, st *store.Store, key store.Key, files int, size int64) {
	b.Helper()
	_, err := st.Put(b.Context(), key, store.Maker{
		Kind: "output", Name: "a test",
		Check: func(string, string) error { return nil },
		Fill: func(_ context.Context, dir string) error {
			if err := os.Mkdir(dir, 0o755); err != nil {
				return err
			}
			for i := range files {
				f, err := os.Create(filepath.Join(dir, fmt.Sprint(i)))
				if err != nil {
					return err
				}
				if err := f.Truncate(size); err != nil {
					return err
				}
				if err := f.Close(); err != nil {
					return err
				}
			}
			return nil
		},
	})
	if err != nil {
		b.Fatal(err)
	}
}
