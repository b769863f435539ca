// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package daggerrunner

import (
	"context"
	"errors"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/1bit-MONSTER/engine/internal/rmtree"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/build"
)

var update = flag.Bool("update", false, "write the golden files anew")

// provider gives a folder, or a file, for each input, and tells the recorder
// which is which.
type provider struct {
	dir   string
	names map[string]string
}

func (p provider) make(kind, name string) (string, error) {
	dir := filepath.Join(p.dir, kind, filepath.FromSlash(name))
	p.names[dir] = kind + " " + name
	if strings.HasSuffix(name, ".txt") {
		return dir, errors.Join(os.MkdirAll(filepath.Dir(dir), 0o755), os.WriteFile(dir, nil, 0o644))
	}
	return dir, errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "file"), nil, 0o644))
}

func (p provider) Source(_ context.Context, pin string) (string, error) {
	return p.make("source", pin)
}

func (p provider) Input(_ context.Context, pin, name string) (string, error) {
	return p.make("download", pin+"/"+name)
}

func (p provider) Toolchain(_ context.Context, pin string) (string, error) {
	return p.make("toolchain", pin)
}

// fixturePins are pins of the names that recipes use, with locks that never
// change: one commit, one file, one download of each kind of use.
func fixturePins(t *testing.T) *pins.Set {
	t.Helper()
	set := livePins(t)
	for _, p := range set.Pins {
		p.Lock = &pins.Lock{
			Version: "v1.2.3", Commit: strings.Repeat("c", 40), Tree: strings.Repeat("e", 40), Sum: "t1:" + strings.Repeat("A", 43) + "=",
			Digest: "sha256:" + strings.Repeat("d", 64), Date: time.Unix(1_700_000_000, 0).UTC(),
			Files: []pins.File{{Name: "file", SHA256: strings.Repeat("f", 64), Size: 1}},
			Inputs: []pins.Input{
				{Name: "dependency", Kind: pins.InputGit, DeclaredIn: "CMakeLists.txt", Commit: strings.Repeat("a", 40), Sum: "t1:" + strings.Repeat("B", 43) + "=", Give: "FETCHCONTENT_SOURCE_DIR_DEPENDENCY"},
				{Name: "data.txt", Kind: pins.InputFile, DeclaredIn: "CMakeLists.txt", SHA256: strings.Repeat("9", 64)},
			},
		}
	}
	return set
}

func livePins(t *testing.T) *pins.Set {
	t.Helper()
	set, err := pins.Load("../../../pins")
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// recipes are those of containers only, each as if it could be built. What the
// program 1bit is built from is in the test of serve.
func recipes() []*build.Recipe {
	var all []*build.Recipe
	for _, r := range build.Recipes() {
		if r.WorkTree == "" {
			r.Unavailable = ""
			all = append(all, r)
		}
	}
	return all
}

// record builds a component as planned, with all that it needs, on the recorder.
// It returns what the recorder wrote and which inputs it was asked for, of the
// last of them.
func record(t *testing.T, set *pins.Set, all []*build.Recipe, name string) (plan *build.Plan, calls string, used []string) {
	t.Helper()
	cache := build.Cache{Dir: t.TempDir()}
	st, err := cache.Store()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rmtree.All(cache.Dir) })
	plan, err = build.MakePlan(build.PlanOptions{Context: t.Context(), Set: set, Store: st, Recipes: all}, name)
	if err != nil {
		t.Fatal(err)
	}
	r := newRecorder(t)
	runner := r.runner(t)
	b := &build.Builder{Store: st, Cache: cache, Runner: runner, Provider: provider{t.TempDir(), r.names}, CPUs: 0}
	for _, c := range plan.Components {
		if c.Key == "" {
			return plan, c.Name + " has no plan: " + c.Why + "\n", nil
		}
		r.calls.Reset()
		r.last, r.used = nil, map[string]bool{}
		r.nameOf = func(p string) string { return inStore(plan, st, p) }
		r.export = func(dir string) error { return makeOutputs(dir, c.Recipe.Outputs) }
		if _, err := b.Build(t.Context(), &build.Plan{Components: plan.Components[:slices.Index(plan.Components, c)+1]}); err != nil {
			t.Fatal(err)
		}
	}
	used = slices.Sorted(maps.Keys(r.used))
	return plan, r.calls.String(), used
}

// inStore names a component that was built before, and a folder that is being
// filled.
func inStore(plan *build.Plan, st *store.Store, p string) string {
	rel, err := filepath.Rel(st.Dir(), p)
	if err != nil || strings.HasPrefix(rel, "..") {
		return ""
	}
	for _, c := range plan.Components {
		if strings.HasPrefix(rel, filepath.Join("entries", string(c.Key))) {
			return "component " + c.Name
		}
	}
	if filepath.Base(rel) == "out" {
		return "the output"
	}
	return ""
}

// makeOutputs makes what a recipe promises.
func makeOutputs(dir string, patterns []string) error {
	for _, p := range patterns {
		name := filepath.Join(dir, strings.ReplaceAll(filepath.FromSlash(p), "*", "x"))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte("made\n"), 0o644)); err != nil {
			return err
		}
	}
	return nil
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "calls", name+".golden")
	if *update {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(got), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (go test ./pipelines/build/daggerrunner -update):\n%s", file, d)
	}
}

// TestCalls holds what an engine is asked for by each recipe.
func TestCalls(t *testing.T) {
	for _, r := range recipes() {
		t.Run(r.Name, func(t *testing.T) {
			_, calls, _ := record(t, fixturePins(t), recipes(), r.Name)
			golden(t, r.Name, calls)
		})
	}
}

// TestInputsAreThePlans compares, for the locks of today, what an engine is
// given with what the plan says, which is what the key is made of.
func TestInputsAreThePlans(t *testing.T) {
	tried := 0
	for _, r := range recipes() {
		t.Run(r.Name, func(t *testing.T) {
			plan, _, used := record(t, livePins(t), recipes(), r.Name)
			in := plan.Components[len(plan.Components)-1].Inputs
			if used == nil {
				t.Skipf("no plan yet: %s", plan.Components[len(plan.Components)-1].Why)
			}
			want := []string{"dist-step", "the output", "toolchain " + in.Toolchain.Name}
			for kind, list := range map[string][]build.Sum{"source": in.Sources, "download": in.Downloads, "component": in.Needs} {
				for _, s := range list {
					want = append(want, kind+" "+s.Name)
				}
			}
			slices.Sort(want)
			if d := cmp.Diff(want, used); d != "" {
				t.Error(d)
			}
			tried++
		})
	}
	if tried == 0 {
		t.Error("no recipe has a plan")
	}
}
