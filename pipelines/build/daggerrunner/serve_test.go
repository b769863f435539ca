// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux && amd64

package daggerrunner

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/pipelines/build"
	"github.com/1bit-MONSTER/engine/pipelines/toolchain"
)

// caches returns two empty caches that have what the user's own has of one
// entry, which is large, by a link.
func caches(t *testing.T, entry string) (two [2]build.Cache) {
	t.Helper()
	for i := range two {
		two[i] = build.Cache{Dir: t.TempDir()}
		st, err := two[i].Store()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(entry, filepath.Join(st.Dir(), "entries", filepath.Base(entry))); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { exec.Command("chmod", "-R", "u+w", two[i].Dir).Run() }) // a module cache is read-only
	}
	return two
}

func userCache(t *testing.T) (build.Cache, *store.Store) {
	t.Helper()
	cache, err := build.DefaultCache()
	if err != nil {
		t.Fatal(err)
	}
	st, err := cache.Store()
	if err != nil {
		t.Fatal(err)
	}
	return cache, st
}

// pinnedGo returns the pinned Go, and where the user's own cache has it.
func pinnedGo(t *testing.T) (build.GoPin, string) {
	t.Helper()
	_, st := userCache(t)
	lock := livePins(t).Pin("go").Lock
	g, err := toolchain.FetchGo(t.Context(), st, lock.Version, lock.Sum, nil)
	if err != nil {
		t.Fatal(err)
	}
	return build.GoPin{Version: lock.Version, Sum: lock.Sum, Date: lock.Date}, g.Dir
}

// A small repository with a program 1bit and no foreign module.
var project = map[string]string{
	"go.mod":                         "module github.com/1bit-MONSTER/engine\n\ngo 1.26.0\n",
	"go.sum":                         "",
	"VERSION":                        "2026.48\n",
	"LICENSE":                        "licence\n",
	"NOTICE":                         "notice\n",
	"README.md":                      "readme\n",
	"engine/serve/unit/1bit.service": "service\n",
	"engine/serve/unit/1bit.socket":  "socket\n",
	"cmd/1bit/main.go":               "package main\n\nfunc main() {}\n",
}

// TestCallsOfServe holds what an engine is asked for by the program 1bit.
func TestCallsOfServe(t *testing.T) {
	pin, goRoot := pinnedGo(t)
	pin.Date = time.Unix(1_700_000_000, 0).UTC()
	repo := t.TempDir()
	for name, text := range project {
		file := filepath.Join(repo, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	r := newRecorder(t)
	runner := r.runner(t)
	r.calls.Reset()
	r.last = nil
	real, err := filepath.EvalSymlinks(goRoot)
	if err != nil {
		t.Fatal(err)
	}
	r.names[real] = "toolchain go"
	cache := caches(t, filepath.Dir(goRoot))[0]
	r.nameOf = func(p string) string {
		return map[string]string{"src": "source engine", "mod": "downloads", "out": "the output"}[filepath.Base(p)]
	}
	r.export = func(dir string) error { return makeOutputs(dir, []string{"1bit"}) }
	_, err = build.Serve(t.Context(), build.Options{
		Repo: repo, Out: t.TempDir(), Cache: cache, Go: pin,
		Runner: func(context.Context, build.Space) (build.Runner, error) { return runner, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "serve", strings.ReplaceAll(r.calls.String(), pin.Version, "the pinned Go's version"))
}
