// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux && amd64

package gate

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/rmtree"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/patches"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/build"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

// What one phase hands on is all that the gates need, on another machine: the
// upstreams and the cache that it was made from are away.
func TestOnWhatWasHandedOn(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	if _, err := build.NewHostRunner(ctx, build.HostTools); err != nil {
		t.Skipf("skipped: %v", err)
	}
	w := newWorld(t, pair, "backend", "library")
	w.upstream["backend"].Commit("main", "one", gittest.Files{"src/a.c": uses})
	w.upstream["library"].Commit("main", "one", gittest.Files{"include/a.h": declares, "LICENSE": "one\n"})
	w.update("backend")
	w.commit()
	w.upstream["backend"].Commit("main", "two", gittest.Files{"src/b.c": "int x = LIB_FAST;\n"})
	w.upstream["library"].Commit("main", "two", gittest.Files{"LICENSE": "two\n"})
	base := w.load()

	stacks, err := patches.Open(ctx, w.dir)
	if err != nil {
		t.Fatal(err)
	}
	found, err := round.Resolve(ctx, w.e, w.dir, "pair", []*pins.Pin{base.Pin("backend"), base.Pin("library")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := found.Fetch(ctx, stacks); err != nil {
		t.Fatal(err)
	}
	receipts, err := found.Round.Archive(ctx, w.e, base, nil)
	if verdict.Of(err) != verdict.Skipped {
		t.Fatal(err)
	}
	found.Round.Night, found.Round.Try, found.Round.Base = "night", 1, "1111111111111111111111111111111111111111"
	recipes := []*build.Recipe{recipe("app", "backend", "cp /src/backend/src/b.c /out/out")}
	folder := round.Folder(filepath.Join(t.TempDir(), "pair"))
	t.Cleanup(func() { rmtree.All(string(folder)) })
	if _, err := folder.Hand(ctx, found.Round, w.e, round.HandOptions{Base: base, Stacks: stacks, Receipts: receipts, Recipes: recipes}); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{w.cache, w.upstream["backend"].Dir(), w.upstream["library"].Dir()} {
		if err := rmtree.All(dir); err != nil {
			t.Fatal(err)
		}
	}

	opened, err := folder.Open(ctx, base)
	if err != nil {
		t.Fatal(err)
	}
	w.cache = folder.Cache()
	s := &Subject{
		Round: opened.Round, Base: base, Next: opened.Next, BaseDir: w.dir, NextDir: w.dir, Engine: opened.Engine,
		Receipts: opened.Receipts, Now: now,
	}
	w.workshop(s, build.HostTools, recipes...)
	results := Run(ctx, s, All(), folder.Logs())
	want := `pins pass: 
archive skipped: ` + fetch.NoArchive + `
stack pass: 
signature skipped: the pin names no keys
submodules pass: 
license pass: pin library: the licence file LICENSE changed
size pass: 
downloads pass: 
contracts pass: 
build pass: 
hardware skipped: no hardware test is defined for app
`
	if diff := cmp.Diff(want, summary(results)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if v, draft := Decision(results); v != verdict.Pass || len(draft) != 3 {
		t.Errorf("decided %s, %q", v, draft)
	}
	for _, r := range results {
		if _, err := os.Stat(filepath.Join(string(folder), r.Log)); err != nil {
			t.Errorf("%s: %v", r.Gate, err)
		}
	}
}
