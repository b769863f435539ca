// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// A pin with a stack: its lock on another commit is made, and nothing written.
func TestTargetIsLockedWithoutWriting(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	up := gittest.New(t)
	first := up.Commit("main", "one", gittest.Files{"f": "1\n", "LICENSE": "MIT\n"})
	w.serve("demo", up, gittest.ServerOptions{})
	w.pin("demo", followMain+"stack: demo\n")
	w.must("demo")
	between := up.Commit("main", "two", gittest.Files{"f": "2\n"})
	tip := up.Commit("main", "three", gittest.Files{"f": "3\n", "g": "g\n"})
	before, err := os.ReadFile(w.pins + "/demo.yaml")
	if err != nil {
		t.Fatal(err)
	}
	w.load()
	target, err := w.e.Target(t.Context(), "demo", UpdateOptions{To: "main"})
	if err != nil {
		t.Fatal(err)
	}
	if target.Commit != tip {
		t.Errorf("got %s, want %s", target.Commit, tip)
	}
	repo, err := target.History(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := repo.IsAncestor(t.Context(), first, tip); !ok || err != nil {
		t.Errorf("the history is not here: %v, %v", ok, err)
	}
	var files []git.Entry
	for _, rev := range []git.ID{between, tip} {
		id, err := up.RevParse(t.Context(), string(rev)+":f")
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, git.Entry{Mode: git.ModeFile, Path: "f", ID: id})
	}
	if err := target.EnsureFiles(t.Context(), files); err != nil {
		t.Fatal(err)
	}
	if missing, err := repo.Missing(t.Context(), []git.ID{files[0].ID, files[1].ID}); err != nil || len(missing) > 0 {
		t.Errorf("missing %v, %v", missing, err)
	}
	// A blob that the upstream has not is an error with its path.
	gone := git.Entry{Mode: git.ModeFile, Path: "some/file", ID: git.HashObject("blob", []byte("nowhere"))}
	var lack *Lacking
	if err := target.EnsureFiles(t.Context(), []git.Entry{gone}); !errors.As(err, &lack) || lack.Blobs[0].Path != "some/file" {
		t.Errorf("got %v", err)
	}
	lock, err := target.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if lock.Commit != string(tip) || !strings.HasPrefix(lock.Sum, "t1:") || lock.Patched != nil {
		t.Errorf("got %+v", lock)
	}
	if now, err := os.ReadFile(w.pins + "/demo.yaml"); err != nil || string(now) != string(before) {
		t.Error("the pin was written")
	}
	// What is here needs nobody: offline, by its full id.
	w.e.Offline = true
	if target, err = w.e.Target(t.Context(), "demo", UpdateOptions{To: string(tip)}); err != nil {
		t.Fatal(err)
	}
	if _, err := target.History(t.Context(), first); err != nil {
		t.Error(err)
	}
	if again, err := target.Lock(t.Context()); err != nil || again.Sum != lock.Sum {
		t.Errorf("%+v, %v", again, err)
	}
}

// The rules for a person's update hold for a target too.
func TestTargetRules(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	up := gittest.New(t)
	first := up.Commit("main", "one", gittest.Files{"f": "1\n", "LICENSE": "MIT\n"})
	second := up.Commit("main", "two", gittest.Files{"f": "2\n"})
	w.local("demo", up)
	w.pin("demo", followMain+"stack: demo\n")
	w.must("demo")
	up.Commit("main", "three", gittest.Files{"f": "3\n"})
	for _, c := range []struct {
		name string
		o    UpdateOptions
		code int
		text string
	}{
		{name: "no revision", code: 2, text: "must be said"},
		{name: "no such revision", o: UpdateOptions{To: "none"}, code: 2, text: "no tag or branch"},
		{name: "an option", o: UpdateOptions{To: "--all"}, code: 2, text: "no tag or branch"},
		{name: "backwards", o: UpdateOptions{To: string(first)}, code: 4, text: "backwards"},
		{name: "backwards, accepted", o: UpdateOptions{To: string(first), Accept: DirectionBackwards, Reason: "r", By: "me"}},
		{name: "accepted for no reason", o: UpdateOptions{To: string(first), Accept: DirectionBackwards}, code: 2, text: "--reason"},
		{name: "nothing to accept", o: UpdateOptions{To: "main", Accept: DirectionBackwards, Reason: "r", By: "me"}, code: 2, text: "nothing to accept"},
		{name: "where it is", o: UpdateOptions{To: string(second)}},
	} {
		w.load()
		target, err := w.e.Target(t.Context(), "demo", c.o)
		if verdict.ExitCode(err) != c.code || err != nil && !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", c.name, err)
		}
		if err != nil || c.o.Accept == "" {
			continue
		}
		if lock, err := target.Lock(t.Context()); err != nil || lock.Accepted == nil || lock.Accepted.Why != "r" {
			t.Errorf("%s: %+v, %v", c.name, lock, err)
		}
	}
}

// A pin does not move away from below its stack, in no way of updating.
func TestUpdateLeavesNoStackBehind(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	up := gittest.New(t)
	first := up.Commit("main", "one", gittest.Files{"f": "1\n", "LICENSE": "MIT\n"})
	w.local("demo", up)
	w.pin("demo", followMain+"stack: demo\n")
	w.must("demo")
	stack := filepath.Join(filepath.Dir(w.pins), "patches", "demo")
	if err := os.MkdirAll(stack, 0o777); err != nil {
		t.Fatal(err)
	}
	series := func(text string) {
		if err := os.WriteFile(filepath.Join(stack, "series"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	// Without patches, or with patches for another commit, there is nothing to
	// leave behind.
	series("# no patches yet\n")
	second := up.Commit("main", "two", gittest.Files{"f": "2\n"})
	w.must("demo")
	series("# base: " + string(first) + "\nours.patch\n")
	up.Commit("main", "three", gittest.Files{"f": "3\n"})
	w.must("demo")
	if w.get("demo").Lock.Commit == string(second) {
		t.Fatal("it did not move")
	}
	// Patches for the locked commit, with and without their trees in the lock.
	series("ours.patch\n")
	tip := up.Commit("main", "four", gittest.Files{"f": "4\n"})
	w.refused("demo", verdict.Held, "the patches of stack demo are for", "'dist patches rebase demo --onto "+string(tip)+" --write' moves pin and stack together")
	if err := os.RemoveAll(stack); err != nil {
		t.Fatal(err)
	}
	lock := w.get("demo").Lock
	lock.Patched = &pins.Patched{Tree: lock.Tree, Sum: lock.Sum, Steps: []pins.Step{{File: "ours.patch", Tree: lock.Tree}}}
	if _, err := pins.Edit(w.pins, "demo", func(file []byte) ([]byte, error) { return pins.WriteLock(file, *lock) }); err != nil {
		t.Fatal(err)
	}
	w.refused("demo", verdict.Held, "dist patches rebase demo")
	// Staying where it is, with less in it, is not moving; but the sum of the
	// patched tree is another one.
	text, err := os.ReadFile(w.pins + "/demo.yaml")
	if err != nil {
		t.Fatal(err)
	}
	w.write("demo.yaml", strings.Replace(string(text), "stack: demo\n", "stack: demo\nexclude: [{path: f, why: a test}]\n", 1))
	r := w.update("demo", UpdateOptions{To: lock.Commit})
	if r.Verdict != verdict.Pass || !strings.Contains(strings.Join(r.Notes, "\n"), "run 'dist patches lock demo'") {
		t.Errorf("got %+v", r)
	}
}

// A submodule that we patch is read from another repository, or another pin:
// the revision is one there, and both pins can move one after the other.
func TestTargetOfASubmodule(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]string{"a repository": "'https://up.example/whole.git', branch: main", "a pin": "whole"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			part, whole := gittest.New(t), gittest.New(t)
			one := part.Commit("main", "one", gittest.Files{"a": "one\n", "LICENSE": "MIT\n"})
			two := part.Commit("main", "two", gittest.Files{"a": "two\n"})
			modules := gittest.Files{".gitmodules": "[submodule \"part\"]\n\tpath = sub\n\turl = ../part.git\n", "LICENSE": "MIT\n"}
			whole.Commit("main", "one", modules, gittest.Submodule("sub", one))
			w := newWorld(t)
			w.serve("part", part, gittest.ServerOptions{})
			w.serve("whole", whole, gittest.ServerOptions{})
			w.pin("whole", followMain)
			w.pin("part", "track: {kind: gitlink, of: "+of+", path: sub}\nstack: part\n")
			w.must("whole")
			l := w.must("part")
			if l.Commit != string(one) {
				t.Fatalf("locked %+v", l)
			}
			l.Patched = &pins.Patched{Tree: l.Tree, Sum: l.Sum, Steps: []pins.Step{{File: "ours.patch", Tree: l.Tree}}}
			if _, err := pins.Edit(w.pins, "part", func(file []byte) ([]byte, error) { return pins.WriteLock(file, *l) }); err != nil {
				t.Fatal(err)
			}
			next := whole.Commit("main", "two", nil, gittest.Submodule("sub", two))
			if name == "a repository" {
				w.refused("part", verdict.Held, "--onto "+string(next)+" --write")
			}
			w.load()
			target, err := w.e.Target(t.Context(), "part", UpdateOptions{To: string(next)})
			if err != nil {
				t.Fatal(err)
			}
			if target.Commit != two {
				t.Errorf("got %s, want %s", target.Commit, two)
			}
			if _, err := target.History(t.Context(), one); err != nil {
				t.Fatal(err)
			}
			lock, err := target.Lock(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if lock.Commit != string(two) || lock.Via == nil || lock.Via.Commit != string(next) {
				t.Errorf("locked %+v", lock)
			}
		})
	}
}
