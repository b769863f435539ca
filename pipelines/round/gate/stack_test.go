// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package gate

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/patches"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

// rebase moves the stack of a pin to the newest commit of its upstream, as a
// night does: in the engine, with the guilty commit looked for.
func (w *world) rebase(name string, onto git.ID) *patches.Result {
	w.t.Helper()
	e := w.e
	if err := e.EnsureBlobs(w.t.Context(), name, []git.ID{onto}, nil); err != nil {
		w.t.Fatal(err)
	}
	r, err := patches.Open(w.t.Context(), w.dir)
	if err != nil {
		w.t.Fatal(err)
	}
	x, err := r.Session(w.t.Context(), name, func(_ context.Context, pin *pins.Pin, _ string) (*git.Repo, error) {
		return e.Repository(w.t.Context(), pin.Name)
	})
	if err != nil {
		w.t.Fatal(err)
	}
	defer x.Close()
	x.Options.Bisect = true
	result, err := x.Rebase(w.t.Context(), onto)
	if err != nil {
		w.t.Fatal(err)
	}
	return result
}

// stackWorld is a pin with one patch, and a subject in which it moves.
func stackWorld(t *testing.T) (*world, *Subject) {
	t.Helper()
	w := newWorld(t, "")
	up := w.follow("a", "stack: a\n")
	up.Commit("main", "one", gittest.Files{"a.c": "one\ntwo\nthree\nfour\nfive\nsix\nseven\n", "b.c": "x\n"})
	w.update("a")
	w.patch("a", gittest.Files{"a.c": "one\ntwo\nTHREE\nfour\nfive\nsix\nseven\n"})
	w.commit()
	s := w.subject("a")
	s.Round.Members[0].To = round.VersionOf(&pins.Lock{Commit: "1111111111111111111111111111111111111111"})
	return w, s
}

func TestStack(t *testing.T) {
	t.Parallel()
	w, s := stackWorld(t)
	up := w.upstream["a"]

	s.Stacks = map[string]*patches.Result{"a": w.rebase("a", up.Commit("main", "elsewhere", gittest.Files{"b.c": "y\n"}))}
	r := w.gate("stack", s)
	w.wants("clean", r, verdict.Pass, false)
	w.details("clean", r, "change-it.patch: unchanged")

	up.Commit("main", "harmless", gittest.Files{"b.c": "z\n"})
	guilty := up.Commit("main", "Rename three `@everyone`", gittest.Files{"a.c": "one\ntwo\ndrei\nfour\nfive\nsix\nseven\n"})
	onto := up.Commit("main", "harmless too", gittest.Files{"b.c": "zz\n"})
	s.Stacks = map[string]*patches.Result{"a": w.rebase("a", onto)}
	r = w.gate("stack", s)
	w.wants("conflict", r, verdict.Conflict, false, "stack a: change-it.patch: conflict: broken by "+guilty.Short(), "Rename three")
	w.details("conflict", r, "in conflict: a.c", "drei")

	lost := *s.Stacks["a"]
	lost.Patches = []patches.PatchResult{{File: "change-it.patch", Outcome: patches.LostLines}}
	s.Stacks = map[string]*patches.Result{"a": &lost}
	w.wants("lost lines", w.gate("stack", s), verdict.Fail, false, "change-it.patch: lost lines")
	lost.Patches[0].Accepted = patches.LostLines
	w.wants("accepted", w.gate("stack", s), verdict.Pass, false)

	s.Stacks, s.StackErrors = nil, map[string]error{"a": verdict.Infraf("the disk is full")}
	w.wants("not tried", w.gate("stack", s), verdict.Infra, false, "the disk is full")
	s.StackErrors = nil
	w.wants("forgotten", w.gate("stack", s), verdict.Infra, false, "was not tried")
	s.Round.Members[0].To = s.Round.Members[0].From
	w.wants("it stays", w.gate("stack", s), verdict.Pass, false)
}

// In a work tree the patches must lead to what the lock says.
func TestStackOfAWorkTree(t *testing.T) {
	t.Parallel()
	w, _ := stackWorld(t)
	w.wants("as locked", w.gate("stack", w.subject("a")), verdict.Pass, false)
	w.edit("patches/a/change-it.patch", "+THREE", "+three!")
	r := w.gate("stack", w.subject("a"))
	if r.Verdict == verdict.Pass || r.Why == "" {
		t.Errorf("a changed patch: %+v", r)
	}
	if err := os.RemoveAll(filepath.Join(w.dir, "patches", "a")); err != nil {
		t.Fatal(err)
	}
	w.wants("gone", w.gate("stack", w.subject("a")), verdict.Fail, false, "patches/a is gone")
}

// What reads patched sources says nothing where there are none.
func TestWithoutStackNothingIsSaidOfPatchedSources(t *testing.T) {
	t.Parallel()
	w, s := stackWorld(t)
	s.StackErrors = map[string]error{"a": &patches.Conflict{Patch: "x.patch", Files: []string{"a.c"}}}
	for _, r := range Run(t.Context(), s, All(), "") {
		switch r.Gate {
		case "stack":
			w.wants("stack", r, verdict.Conflict, false, "x.patch")
		case "contracts", "build":
			w.wants(r.Gate, r, verdict.Skipped, false, "the stack does not apply")
		}
	}
}
