// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux && amd64

package gate

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/sandbox"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/build"
	"github.com/1bit-MONSTER/engine/pipelines/toolchain/toolchaintest"
)

// recipe builds a component of a pin with a line of shell.
func recipe(name, pin, script string) *build.Recipe {
	return &build.Recipe{
		Name: name, What: "a test", Pins: []string{pin}, Toolchain: "root", Tools: []string{"sh", "cp", "grep"},
		Steps:   []build.Step{{Name: "compile", Args: []string{"sh", "-c", script}}},
		Outputs: []string{"out"},
	}
}

// workshop gives the subject what builds its recipes.
func (w *world) workshop(s *Subject, space build.Space, recipes ...*build.Recipe) {
	s.Recipes = recipes
	s.Workshop = func() (*build.Workshop, error) {
		cache := build.Cache{Dir: w.cache}
		return build.NewWorkshop(build.WorkshopOptions{
			Serve:  build.Options{Repo: s.NextDir, Out: filepath.Join(w.cache, "out"), Cache: cache},
			Engine: s.Engine, Space: space, Recipes: recipes,
		}), nil
	}
}

func TestBuild(t *testing.T) {
	t.Parallel()
	_, err := build.NewHostRunner(t.Context(), build.HostTools)
	var unavailable *sandbox.Unavailable
	if errors.As(err, &unavailable) {
		t.Skipf("skipped: %v", err)
	}
	w, s := step(t, gittest.Files{"a": "fits\n"}, gittest.Files{"a": "fits still\n"})
	s = offline(s)
	good := recipe("good", "a", "echo making it; cp /src/a/a /out/out")
	logs := filepath.Join(t.TempDir(), "logs")
	gate := func() Result {
		t.Helper()
		g, err := Find("build")
		if err != nil {
			t.Fatal(err)
		}
		return Run(t.Context(), s, []Gate{g}, logs)[0]
	}
	kept := func(name, text string) {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(logs, name))
		if err != nil || !strings.Contains(string(data), text) {
			t.Errorf("%s: %v, lacks %q:\n%s", name, err, text, data)
		}
	}

	other := recipe("other", "stranger", "exit 1")
	w.workshop(s, build.HostTools, good, other)
	r := gate()
	w.wants("good", r, verdict.Pass, false)
	w.details("good", r, "good: pass built, t1:")
	if strings.Contains(r.Details, "other") {
		t.Errorf("what is not fed was built: %s", r.Details)
	}
	kept("build-good.txt", "making it")
	r = gate()
	w.details("again", r, "good: pass as in the store")

	// The rest of the news is there too.
	bad := recipe("bad", "a", "for i in $(seq 100); do echo line $i; done; echo 'a.c:1: error: implicit declaration of lib_open'; exit 1")
	w.workshop(s, build.HostTools, bad, good)
	r = gate()
	w.wants("bad", r, verdict.Fail, false, `bad: step "compile": `)
	w.details("bad", r, "bad: fail", "a.c:1: error: implicit declaration of lib_open", "good: pass")
	if strings.Contains(r.Details, "line 1\n") || strings.Contains(r.Details, w.cache) || strings.Contains(r.Why, w.cache) {
		t.Errorf("too much: %s\n%s", r.Why, r.Details)
	}
	kept("build-bad.txt", "line 1\n")

	needs := recipe("needs", "stranger", "cp /in/bad/out /out/out")
	needs.Pins, needs.Needs = nil, []string{"bad"}
	w.workshop(s, build.HostTools, bad, needs)
	r = gate()
	w.wants("what needs it", r, verdict.Fail, false, "bad: step")
	w.details("what needs it", r, "needs: infra", "it needs bad, which was not built")

	cannot := recipe("cannot", "a", "exit 0")
	cannot.Unavailable = "no compiler is packaged"
	w.workshop(s, build.HostTools, good, cannot)
	r = gate()
	w.wants("cannot be built anywhere", r, verdict.Skipped, false, "cannot: ", "no compiler is packaged")
	if v, draft := Decision([]Result{{Gate: "pins", Verdict: verdict.Pass}, r}); v != verdict.Pass || len(draft) != 1 {
		t.Errorf("decided %s, %q", v, draft)
	}

	w.workshop(s, build.HostTools, other)
	r = gate()
	w.wants("nothing is fed", r, verdict.Pass, false)
	w.details("nothing is fed", r, "no component is built from what moves")

	w.workshop(s, build.HostTools, good)
	s.Workshop = func() (*build.Workshop, error) { return nil, verdict.Infraf("the cache cannot be written") }
	w.wants("no workshop", gate(), verdict.Infra, false, "the cache cannot be written")
}

// A toolchain that is not here is the machine's affair, not the round's.
// A component that nobody can build yet, since main's own pin does not say where
// its downloads come from, says nothing about a bump, and is no pass.
func TestBuildOfWhatMainOwes(t *testing.T) {
	t.Parallel()
	cmake := "project(a)\nfile(DOWNLOAD https://dl.example/x.bin x.bin)\n"
	w, s := step(t, gittest.Files{"CMakeLists.txt": cmake}, gittest.Files{"CMakeLists.txt": cmake, "b": "more\n"})
	needs := recipe("kernels", "b", "exit 1")
	needs.Needs = []string{"app"}
	w.workshop(s, build.HostTools, recipe("app", "a", "exit 1"), needs)
	w.wants("owing", w.gate("build", offline(s)), verdict.Skipped, false, "app cannot be built yet, on main neither", "pin a", "kernels cannot be built yet")
}

func TestBuildWithoutToolchain(t *testing.T) {
	t.Parallel()
	if _, err := build.NewHostRunner(t.Context(), build.Sandboxed); err != nil {
		t.Skipf("skipped: %v", err)
	}
	w, s := step(t, gittest.Files{"a": "1"}, gittest.Files{"a": "2"})
	lock := pins.Lock{Version: "12.15", Date: now}
	for _, d := range toolchaintest.Base() {
		lock.Files = append(lock.Files, d.Locked())
	}
	root := &pins.Pin{Name: "root", Use: pins.BuildTool, Lock: &lock, Track: pins.Track{
		Kind: pins.Deb, Packages: []string{"base-files"}, Suite: "bookworm", Pocket: pins.PocketRelease, Platform: "linux-amd64"}}
	s = offline(s)
	s.Engine.Set = &pins.Set{Pins: append(s.Next.Pins[:len(s.Next.Pins):len(s.Next.Pins)], root)}
	w.workshop(s, build.Sandboxed, recipe("good", "a", "exit 0"))
	w.wants("absent", w.gate("build", s), verdict.Infra, false, "--offline")

	root.Lock = nil
	w.wants("not locked", w.gate("build", s), verdict.Skipped, false, "root is unlocked")
}
