// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux && amd64

package daggerrunner

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/build"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
)

// Each of these builds on this machine and on the engine, in stores that know
// nothing of each other, and compares.

// TestEngineBuildsServe builds this repository's program 1bit.
func TestEngineBuildsServe(t *testing.T) {
	r, _ := engine(t)
	pin, goRoot := pinnedGo(t)
	two := caches(t, filepath.Dir(goRoot))
	var results [2]*build.Result
	for i, runner := range []func(context.Context, build.Space) (build.Runner, error){
		nil, func(context.Context, build.Space) (build.Runner, error) { return r, nil },
	} {
		begin := time.Now()
		var err error
		results[i], err = build.Serve(t.Context(), build.Options{Repo: "../../..", Out: t.TempDir(), Cache: two[i], Go: pin, Runner: runner})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("runner %d: %v, %s", i, time.Since(begin).Round(time.Second), results[i].Component)
	}
	if results[0].Hit || results[1].Hit || results[0].Key != results[1].Key || results[0].SHA256 != results[1].SHA256 || results[0].Component != results[1].Component {
		t.Errorf("host %+v\nengine %+v", results[0], results[1])
	}
}

// sources provides one source, and toolchains as the locks name them.
type sources struct {
	*build.Locked
	dir string
}

func (s sources) Source(context.Context, string) (string, error) { return s.dir, nil }

// TestEngineBuildsC builds a small CMake project with the pinned toolchain for C
// and C++.
func TestEngineBuildsC(t *testing.T) {
	r, _ := engine(t)
	host, err := build.NewHostRunner(t.Context(), build.Sandboxed)
	if err != nil {
		t.Skipf("no sandbox to compare with: %v", err)
	}
	const debian = "debian-trixie-vulkan"
	set := livePins(t)
	cache, st := userCache(t)
	provider := sources{&build.Locked{Engine: &fetch.Engine{Set: set, Store: st, CacheDir: cache.Dir}}, t.TempDir()}
	root, err := provider.Toolchain(t.Context(), debian)
	if err != nil {
		t.Skipf("the toolchain %s is not to be had: %v", debian, err)
	}
	for name, text := range map[string]string{
		"CMakeLists.txt": "cmake_minimum_required(VERSION 3.24)\nproject(hello C CXX)\nadd_library(part STATIC part.cpp)\nadd_executable(hello main.c)\ntarget_link_libraries(hello part)\n",
		"part.cpp":       "#include <string>\n#include <cassert>\nextern \"C\" int part(int n) { assert(n > 0); return (int)std::string(n, 'x').size(); }\n",
		"main.c":         "#include <stdio.h>\nint part(int);\nint main(void) { printf(\"%d %s\\n\", part(7), __FILE__); return 0; }\n",
	} {
		file := filepath.Join(provider.dir, name)
		when := time.Unix(1_000_000_000, 0)
		if err := errors.Join(os.WriteFile(file, []byte(text), 0o644), os.Chtimes(file, when, when), os.Chtimes(provider.dir, when, when)); err != nil {
			t.Fatal(err)
		}
	}
	hello := &pins.Pin{Name: "hello", Track: pins.Track{Kind: pins.GitBranch}, Lock: &pins.Lock{Commit: "0", Sum: "t1:hello", Date: time.Unix(1_000_000_000, 0)}}
	set.Pins = append(set.Pins, hello)
	slices.SortFunc(set.Pins, func(a, b *pins.Pin) int { return strings.Compare(a.Name, b.Name) })
	flags := "-O2 -g -ffile-prefix-map=/src/=/ -ffile-prefix-map=/build/=/ -gno-record-gcc-switches"
	recipe := &build.Recipe{
		Name: "hello", What: "a test", Pins: []string{"hello"}, Toolchain: debian,
		Steps: []build.Step{
			{Name: "configure", Args: []string{"cmake", "-S", "/src/hello", "-B", "/build/b", "-G", "Ninja", "-DCMAKE_C_FLAGS=" + flags, "-DCMAKE_CXX_FLAGS=" + flags, "-DCMAKE_C_COMPILER=/usr/bin/gcc-14", "-DCMAKE_CXX_COMPILER=/usr/bin/g++-14"}},
			{Name: "build", Args: []string{"cmake", "--build", "/build/b"}},
			{Name: "install", Args: []string{"install", "-D", "/build/b/hello", "/out/bin/hello"}},
			{Name: "library", Args: []string{"install", "-D", "-m", "644", "/build/b/libpart.a", "/out/lib/libpart.a"}},
		},
		Outputs: []string{"bin/hello", "lib/libpart.a"},
	}
	var sums [2]*build.Built
	for i, c := range caches(t, filepath.Dir(root)) {
		st, err := c.Store()
		if err != nil {
			t.Fatal(err)
		}
		plan, err := build.MakePlan(build.PlanOptions{Context: t.Context(), Set: set, Store: st, Recipes: []*build.Recipe{recipe}}, "hello")
		if err != nil {
			t.Fatal(err)
		}
		b := &build.Builder{Store: st, Cache: c, Runner: []build.Runner{host, r}[i], Provider: provider}
		begin := time.Now()
		made, err := b.Build(t.Context(), plan)
		if err != nil {
			t.Fatal(err)
		}
		sums[i] = made[0]
		t.Logf("runner %d: %v, %s", i, time.Since(begin).Round(time.Millisecond), sums[i].Sum)
	}
	if sums[0].Hit || sums[1].Hit || sums[0].Key != sums[1].Key || sums[0].Sum != sums[1].Sum {
		t.Errorf("host %+v\nengine %+v", sums[0], sums[1])
	}
}
