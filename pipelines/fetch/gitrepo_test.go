// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// A git that was killed leaves locks and half packs; the next run clears them
// away, and a lock that may still be alive is waited for.
func TestLeftLocks(t *testing.T) {
	t.Parallel()
	up := gittest.New(t)
	up.Commit("main", "one", gittest.Files{"a": "one"})
	w := newWorld(t)
	w.serve("x", up, gittest.ServerOptions{})
	w.pin("x", followMain)
	l := w.must("x")
	up.Commit("main", "two", gittest.Files{"a": "two"})
	dir := w.e.CacheDir + "/git/x.git"
	left := []string{"shallow.lock", "config.lock", "refs/pins/x/" + l.Commit + ".lock", "objects/pack/tmp_pack_abc"}
	long := time.Now().Add(-time.Hour)
	for _, name := range left {
		if err := os.WriteFile(dir+"/"+name, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(dir+"/"+name, long, long); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now()
	if err := os.Chtimes(dir+"/shallow.lock", now, now); err != nil { // a fresh one
		t.Fatal(err)
	}
	w.must("x")
	for _, name := range left {
		if _, err := os.Stat(dir + "/" + name); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
}

func TestRepoFolder(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, address := range []string{
		"https://h.example/a/b.git", "https://h.example/a+b.git", "https://h.example/a/b", "https://h.example/../../x",
		"https://h.example/" + strings.Repeat("long", 100), "https://...", "https://-x/y",
	} {
		name := repoFolder(address)
		if other, twice := seen[name]; twice || strings.ContainsAny(name, "/\\") || name[0] == '.' || name[0] == '-' || len(name) > 120 {
			t.Errorf("the folder of %s is %q (%s)", address, name, other)
		}
		seen[name] = address
	}
}

func TestHoldDoesNotBindAPerson(t *testing.T) {
	t.Parallel()
	up := gittest.New(t)
	up.Commit("main", "one", gittest.Files{"a": "one"})
	w := newWorld(t)
	w.serve("x", up, gittest.ServerOptions{})
	w.pin("x", followMain+"hold: {reason: ours is better}\n")
	r := w.update("x", UpdateOptions{})
	if r.Verdict != verdict.Pass || !r.Changed || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "ours is better") {
		t.Errorf("%+v", r)
	}
}

// A proxy's and a host's failures, a full disk and more are git's own errors,
// tested there; here they only have to leave pins and store alone.
func TestUnreachableSubmoduleHost(t *testing.T) {
	t.Parallel()
	up := gittest.New(t)
	up.Commit("main", "one", modules("s", "../s.git", "r", "../r.git"), gittest.Submodule("s", id(4)), gittest.Submodule("r", id(5)))
	w := newWorld(t)
	w.serve("x", up, gittest.ServerOptions{})
	w.e.Mirrors.URLs["https://up.example/s.git"] = Mirror{To: gittest.ClosedPort(t)}
	w.e.Mirrors.URLs["https://up.example/r.git"] = Mirror{To: gittest.ClosedPort(t)}
	w.pin("x", followMain)
	// All that is missing is named at once.
	w.refused("x", verdict.Infra, "submodule s", "submodule r", "exclude these paths")
}
