// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux && amd64

package build

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/parts"
	"github.com/1bit-MONSTER/engine/internal/rmtree"
	"github.com/1bit-MONSTER/engine/internal/sandbox"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/patches"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
)

// TestCMakeUpstream takes a small CMake project with a submodule and a declared
// download through the whole path: update, lock, sandboxed build with the
// machine's tools, the program runs, twice the same.
func TestCMakeUpstream(t *testing.T) {
	for _, part := range []string{"git", "cmake", "ninja", "gcc"} {
		parts.Need(t, part)
	}
	u := newUpstream(t)
	p := u.lock(t)
	if len(p.Lock.Submodules) != 1 {
		t.Fatalf("the lock's submodules are %+v", p.Lock.Submodules)
	}

	// The download is declared and in no input: red, and named.
	_, err := u.build(t)
	if err == nil || !strings.Contains(err.Error(), "CMakeLists.txt:") || !strings.Contains(err.Error(), "greeting") {
		t.Fatalf("with an undeclared download: %v", err)
	}

	u.give(t, p)
	built, err := u.build(t)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(filepath.Join(built.Path, "bin", "hello")).CombinedOutput()
	if err != nil || string(out) != "hello from a submodule and a download\n" {
		t.Errorf("the program says %q, %v", out, err)
	}
	if again, err := u.build(t); err != nil || !again.Hit {
		t.Errorf("the second time: %+v, %v", again, err)
	}
	r, err := u.builder(t).Reproduce(t.Context(), u.planned(t), nil)
	if err != nil || !r.Equal {
		t.Errorf("reproduced: %+v, %v", r, err)
	}
}

// TestPatchedUpstream builds a pin with patches: never without them, and from
// exactly the tree that its lock names.
func TestPatchedUpstream(t *testing.T) {
	for _, part := range []string{"git", "cmake", "ninja", "gcc"} {
		parts.Need(t, part)
	}
	u := newUpstream(t)
	u.plain(t)
	base := u.lock(t)
	u.main.Git("branch", "ours", base.Lock.Commit)
	u.main.Commit("ours", "Greet louder\n\nUpstream-Status: inappropriate", gittest.Files{
		"main.c": "#include <stdio.h>\nint main(void) { puts(\"HELLO\"); return 0; }\n",
	})
	root := filepath.Dir(u.dir)
	writer, err := patches.OpenToWrite(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := writer.Import(t.Context(), "hello", patches.From{Where: u.main.Dir(), Branch: "ours"}); err != nil {
		t.Fatal(err)
	}
	writer.Close()
	p := u.load(t)
	if p.Lock.Patched == nil {
		t.Fatal("the lock knows nothing of the patch")
	}
	if u.stacks, err = patches.Open(t.Context(), root); err != nil {
		t.Fatal(err)
	}
	built, err := u.build(t)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(filepath.Join(built.Path, "bin", "hello")).CombinedOutput(); err != nil || string(out) != "HELLO\n" {
		t.Errorf("the program says %q, %v", out, err)
	}

	p.Lock.Patched = nil
	if _, err := u.build(t); err == nil || !strings.Contains(err.Error(), "its lock has no tree with them") {
		t.Errorf("with a lock that knows nothing of the patch: %v", err)
	}
}

// plain makes the project one without submodule and download.
func (u *upstream) plain(t *testing.T) {
	t.Helper()
	u.main.Commit("main", "plain", gittest.Files{
		"CMakeLists.txt": "cmake_minimum_required(VERSION 3.24)\nproject(hello C)\nadd_executable(hello main.c)\n",
		"main.c":         "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 0; }\n",
	}, gittest.Delete(".gitmodules", "sub"))
	data := strings.Replace(upstreamPin, "track:", "stack: hello\ntrack:", 1)
	if err := os.WriteFile(filepath.Join(u.dir, "hello.yaml"), []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
	u.load(t)
}

// upstream is the project, its repositories, and an engine that finds them.
type upstream struct {
	main   *gittest.Repo
	stacks *patches.Repository
	dir    string // of the pin files
	engine *fetch.Engine
	cache  Cache
	dep    string // commit of the download
}

const upstreamPin = `name: hello
what: a test
upstream: https://up.example/hello.git
license: MIT
copyright: ["2026 A test"]
use: child
track:
  kind: git-branch
  branch: main
  every: day
`

func newUpstream(t *testing.T) *upstream {
	t.Helper()
	serve := func(r *gittest.Repo) string {
		return gittest.Serve(t, filepath.Dir(r.Dir()), gittest.ServerOptions{}).URL + "/repo.git"
	}
	sub, dep, main := gittest.New(t), gittest.New(t), gittest.New(t)
	subID := sub.Commit("main", "sub", gittest.Files{"sub.h": "#define FROM \"a submodule\"\n"})
	depID := dep.Commit("main", "dep", gittest.Files{"CMakeLists.txt": "add_library(greeting INTERFACE)\ntarget_include_directories(greeting INTERFACE ${CMAKE_CURRENT_SOURCE_DIR})\n", "greeting.h": "#define AND \"a download\"\n"})
	main.Commit("main", "main", gittest.Files{
		".gitmodules": "[submodule \"sub\"]\n\tpath = sub\n\turl = https://up.example/sub.git\n",
		"LICENSE":     "MIT\n",
		"CMakeLists.txt": fmt.Sprintf(`cmake_minimum_required(VERSION 3.24)
project(hello C)
include(FetchContent)
FetchContent_Declare(greeting GIT_REPOSITORY https://up.example/greeting.git GIT_TAG %s)
FetchContent_MakeAvailable(greeting)
add_executable(hello main.c)
target_link_libraries(hello PRIVATE greeting)
target_include_directories(hello PRIVATE sub)
`, depID),
		"main.c": "#include <stdio.h>\n#include \"sub.h\"\n#include \"greeting.h\"\nint main(void) { puts(\"hello from \" FROM \" and \" AND); return 0; }\n",
	}, gittest.Submodule("sub", subID))

	u := &upstream{main: main, dir: filepath.Join(t.TempDir(), "pins"), cache: Cache{t.TempDir()}, dep: string(depID)}
	t.Cleanup(func() { rmtree.All(u.cache.Dir) })
	if err := os.MkdirAll(filepath.Join(filepath.Dir(u.dir), "patches"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(u.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"hello.yaml": upstreamPin, "groups.yaml": "[]\n"} {
		if err := os.WriteFile(filepath.Join(u.dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	st, err := u.cache.Store()
	if err != nil {
		t.Fatal(err)
	}
	u.engine = &fetch.Engine{Store: st, CacheDir: u.cache.Dir, Mirrors: &fetch.Mirrors{AllowHTTP: true, URLs: map[string]fetch.Mirror{
		"https://up.example/hello.git":    {To: serve(main)},
		"https://up.example/sub.git":      {To: serve(sub)},
		"https://up.example/greeting.git": {To: serve(dep)},
	}}}
	u.load(t)
	return u
}

func (u *upstream) load(t *testing.T) *pins.Pin {
	t.Helper()
	set, err := pins.Load(u.dir)
	if err != nil {
		t.Fatal(err)
	}
	u.engine.Set = set
	return set.Pin("hello")
}

// lock resolves, fetches and locks the project.
func (u *upstream) lock(t *testing.T) *pins.Pin {
	t.Helper()
	done, err := u.engine.Update(t.Context(), []*pins.Pin{u.engine.Set.Pin("hello")}, fetch.UpdateOptions{PinsDir: u.dir})
	if err != nil || done[0].Verdict != verdict.Pass {
		t.Fatalf("%+v, %v", done, err)
	}
	p := u.load(t)
	if p.State() != pins.Verified {
		t.Fatalf("the lock is %+v", p.Lock)
	}
	return p
}

// give states the download as an input that is given to the build.
func (u *upstream) give(t *testing.T, p *pins.Pin) {
	t.Helper()
	p.Lock.Inputs = []pins.Input{{
		Name: "greeting", Kind: pins.InputGit, DeclaredIn: "CMakeLists.txt", URL: "https://up.example/greeting.git",
		Commit: u.dep, Give: "FETCHCONTENT_SOURCE_DIR_GREETING",
	}}
	inputs, _, err := u.engine.LockInputs(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	p.Lock.Inputs = inputs
}

func (u *upstream) planned(t *testing.T) *PlannedComponent {
	t.Helper()
	recipe := &Recipe{
		Name: "hello", What: "a test", Pins: []string{"hello"}, Toolchain: "none", Tools: append([]string{"gcc", "git"}, "cmake", "ninja", "install"),
		Steps: []Step{
			{Name: "configure", Args: []string{"cmake", "-S", "/src/hello", "-B", "/build/b", "-G", "Ninja", "-DCMAKE_C_FLAGS=-ffile-prefix-map=/src/=/", "{inputs:hello}"}},
			{Name: "build", Args: []string{"cmake", "--build", "/build/b"}},
			{Name: "install", Args: []string{"install", "-D", "/build/b/hello", "/out/bin/hello"}},
		},
		Outputs: []string{"bin/hello"},
	}
	plan, err := MakePlan(PlanOptions{
		Context: t.Context(), Recipes: []*Recipe{recipe}, Set: u.engine.Set, Store: u.engine.Store, Space: HostTools,
	}, "hello")
	if err != nil {
		t.Fatal(err)
	}
	if c := plan.Components[0]; c.Key != "" {
		return c
	}
	t.Fatal(plan.Components[0].Why)
	return nil
}

func (u *upstream) builder(t *testing.T) *Builder {
	t.Helper()
	runner, err := NewHostRunner(t.Context(), HostTools)
	var unavailable *sandbox.Unavailable
	if errors.As(err, &unavailable) {
		t.Skipf("skipped: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return &Builder{Store: u.engine.Store, Cache: u.cache, Runner: runner, Provider: &Locked{Engine: u.engine, Stacks: u.stacks}}
}

func (u *upstream) build(t *testing.T) (*Built, error) {
	t.Helper()
	return u.builder(t).one(t.Context(), u.planned(t), nil)
}
