// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package round

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/clock"
	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/rmtree"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/patches"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/build"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
	"github.com/1bit-MONSTER/engine/pipelines/toolchain/toolchaintest"
)

// A world is our repository with a group of two submodules of one integration
// repository, one of them with a patch, a pin beside it and a toolchain, and
// their upstreams, which are folders.
//
//	one    the group's member with the stack
//	two    the group's other member
//	side   a pin that is in no group, with a patch
//	tools  an archive that recipes are built with
type world struct {
	t                     *testing.T
	dir, root             string
	e                     *fetch.Engine
	one, two, whole, side *gittest.Repo
	a1, b1                git.ID
}

var midnight = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

const text = "1\n2\n3\n4\n5\n6\n7\n8\n9\n"

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), one: gittest.New(t), two: gittest.New(t), whole: gittest.New(t), side: gittest.New(t)}
	t.Cleanup(func() { rmtree.All(w.dir) })
	w.root = filepath.Join(w.dir, "repo")
	s, err := store.Open(w.dir + "/cache/store")
	if err != nil {
		t.Fatal(err)
	}
	archive := toolchaintest.Tar([]toolchaintest.File{{Name: "tools/bin/cc", Text: "cc", Mode: 0o755}})
	w.write("files/tools.tar.gz", string(archive))
	w.e = &fetch.Engine{
		Store: s, CacheDir: w.dir + "/cache", Clock: clock.Fixed(midnight),
		Mirrors: &fetch.Mirrors{URLs: map[string]fetch.Mirror{"https://up.example/files/": {To: w.dir + "/files/"}}},
	}
	for name, r := range map[string]*gittest.Repo{"one": w.one, "moved": w.one, "two": w.two, "whole": w.whole, "side": w.side} {
		w.e.Mirrors.URLs["https://up.example/"+name+".git"] = fetch.Mirror{To: r.Dir(), StandsIn: "mirror/" + name}
	}
	w.pin("one", "track: {kind: gitlink, of: 'https://up.example/whole.git', branch: main, path: one, allowed-urls: ['https://up.example/moved.git']}\nstack: one\nexclude:\n  - {path: weights, why: large}\n")
	w.pin("two", "track: {kind: gitlink, of: 'https://up.example/whole.git', branch: main, path: two}\n")
	w.pin("side", "track: {kind: git-branch, branch: main}\nstack: side\n")
	w.write("repo/pins/tools.yaml", fmt.Sprintf("name: tools\nwhat: a test\nlicense: MIT\nuse: build-tool\ntrack: {kind: index, url: 'https://up.example/files/index.json', format: json, select: '{version}', schemes: [{pattern: '{semver}'}]}\n"+
		"lock:\n  version: 1.0.0\n  date: 2026-01-01T00:00:00Z\n  files:\n    - {name: tools.tar.gz, url: 'https://up.example/files/tools.tar.gz', sha256: %x, size: %d}\n", sha256.Sum256(archive), len(archive)))
	w.write("repo/pins/groups.yaml", "- name: pair\n  members: [one, two]\n  split: allowed\n")
	w.a1 = w.one.Commit("main", "a1", gittest.Files{"f": text, "weights": "large\n", "LICENSE": "MIT\n"})
	w.b1 = w.two.Commit("main", "b1", gittest.Files{"b": "1\n", "LICENSE": "MIT\n"})
	w.integrate("../one.git", w.a1, w.b1)
	w.side.Commit("main", "s1", gittest.Files{"s": text, "LICENSE": "MIT\n"})
	set := w.load()
	rows, err := w.e.Update(t.Context(), []*pins.Pin{set.Pin("one"), set.Pin("side")}, fetch.UpdateOptions{PinsDir: w.root + "/pins"})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.Verdict != verdict.Pass {
			t.Fatalf("%+v", r)
		}
	}
	w.patch("one", w.one, w.a1, "f", "1\n2\n3\n4\n5\n6\n7\n8\nours\n")
	w.patch("side", w.side, git.ID(w.side.Git("rev-parse", "main")), "s", text+"ours\n")
	w.load()
	return w
}

func (w *world) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) pin(name, rest string) {
	w.write("repo/pins/"+name+".yaml", fmt.Sprintf("name: %s\nwhat: a test\nupstream: https://up.example/%s.git\nlicense: MIT\nuse: child\n%s", name, name, rest))
}

// integrate commits a pair to the integration repository.
func (w *world) integrate(url string, a, b git.ID) git.ID {
	return w.whole.Commit("main", "integrate", gittest.Files{
		".gitmodules": "[submodule \"one\"]\n\tpath = one\n\turl = " + url + "\n[submodule \"two\"]\n\tpath = two\n\turl = ../two.git\n",
	}, gittest.Submodule("one", a), gittest.Submodule("two", b))
}

// patch imports one commit of ours as the stack of a pin.
func (w *world) patch(name string, up *gittest.Repo, base git.ID, file, text string) {
	w.t.Helper()
	up.Git("branch", "ours", string(base))
	up.Commit("ours", "Ours\n\nUpstream-Status: inappropriate", gittest.Files{file: text})
	r, err := patches.OpenToWrite(w.t.Context(), w.root)
	if err != nil {
		w.t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Import(w.t.Context(), name, patches.From{Where: up.Dir(), Branch: "ours"}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) load() *pins.Set {
	w.t.Helper()
	set, err := pins.Load(w.root + "/pins")
	if err != nil {
		w.t.Fatal(err)
	}
	w.e.Set = set
	return set
}

func (w *world) stacks() *patches.Repository {
	w.t.Helper()
	r, err := patches.Open(w.t.Context(), w.root)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// resolve resolves the pair.
func (w *world) resolve(to []Member) *Found {
	w.t.Helper()
	set := w.load()
	f, err := Resolve(w.t.Context(), w.e, w.root, "pair", []*pins.Pin{set.Pin("one"), set.Pin("two")}, to)
	if err != nil {
		w.t.Fatal(err)
	}
	return f
}

// fetched resolves and fetches the pair.
func (w *world) fetched(to []Member) *Found {
	w.t.Helper()
	f := w.resolve(to)
	f.Round.Base = w.a1 // any commit
	if err := f.Fetch(w.t.Context(), w.stacks()); err != nil {
		w.t.Fatal(err)
	}
	return f
}

// move lets both members move, one of them to another address.
func (w *world) move() (a2, b2, p2 git.ID) {
	a2 = w.one.Commit("main", "a2", gittest.Files{"f": "new\n" + text})
	b2 = w.two.Commit("main", "b2", gittest.Files{"b": "2\n"})
	return a2, b2, w.integrate("../moved.git", a2, b2)
}

// recipes are those of the world: lib is built from side, and is needed by app,
// which the pair feeds; broken can be built nowhere.
func recipes() []*build.Recipe {
	step := []build.Step{{Name: "build", Args: []string{"cc"}}}
	return []*build.Recipe{
		{Name: "lib", Pins: []string{"side"}, Toolchain: "tools", Steps: step, Outputs: []string{"lib"}},
		{Name: "app", Pins: []string{"one", "two"}, Needs: []string{"lib"}, Toolchain: "tools", Steps: step, Outputs: []string{"app"}},
		{Name: "broken", Pins: []string{"two"}, Toolchain: "tools", Steps: step, Outputs: []string{"x"}, Unavailable: "nobody has it"},
		{Name: "other", Pins: []string{"side"}, Toolchain: "tools", Steps: step, Outputs: []string{"x"}},
	}
}

func (w *world) options() HandOptions {
	return HandOptions{Base: w.load(), Stacks: w.stacks(), Recipes: recipes()}
}

func (w *world) hand(dir string, r *Round, o HandOptions) (Folder, *Handed) {
	w.t.Helper()
	f := Folder(filepath.Join(w.dir, "out", dir))
	h, err := f.Hand(w.t.Context(), r, w.e, o)
	if err != nil {
		w.t.Fatal(err)
	}
	return f, h
}

// away takes caches and upstreams out of reach.
func (w *world) away() {
	w.t.Helper()
	if err := os.Rename(w.e.CacheDir, w.e.CacheDir+".away"); err != nil {
		w.t.Fatal(err)
	}
	for _, r := range []*gittest.Repo{w.one, w.two, w.whole, w.side} {
		if err := os.Rename(r.Dir(), r.Dir()+".away"); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) open(f Folder) *Opened {
	w.t.Helper()
	o, err := f.Open(w.t.Context(), w.load())
	if err != nil {
		w.t.Fatal(err)
	}
	return o
}

// output puts something into the store as what a recipe made.
func (w *world) output(name string) store.Key {
	w.t.Helper()
	plan, err := build.MakePlan(build.PlanOptions{Context: w.t.Context(), Set: w.load(), Store: w.e.Store, Recipes: recipes()}, name)
	if err != nil {
		w.t.Fatal(err)
	}
	c := plan.Components[len(plan.Components)-1]
	if c.Key == "" {
		w.t.Fatalf("%s: %s", name, c.Why)
	}
	_, err = w.e.Store.Put(w.t.Context(), c.Key, store.Maker{
		Kind: "output", Name: name, Check: func(string, string) error { return nil },
		Fill: func(_ context.Context, path string) error { return os.WriteFile(path, []byte(name), 0o666) },
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return c.Key
}
