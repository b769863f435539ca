// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package round

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
)

func TestResolve(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := w.resolve(nil)
	if f.Err() != nil || len(f.Round.Moves()) != 0 || !f.Round.At.Equal(midnight) || f.Round.Members[0].Stack != "one" {
		t.Errorf("nothing is new: %+v, %v", f.Round, f.Err())
	}
	still := f.Round.ID
	// The integration repository moves, and neither child: the same round.
	w.integrate("../one.git", w.a1, w.b1)
	if f = w.resolve(nil); f.Round.ID != still || f.Round.Members[0].To != f.Round.Members[0].From {
		t.Errorf("only the parent moved: %+v", f.Round)
	}
	a2, b2, p2 := w.move()
	f = w.resolve(nil)
	if err := f.Err(); err != nil {
		t.Fatal(err)
	}
	want := []Version{{ID: string(a2), Via: string(p2)}, {ID: string(b2), Via: string(p2)}}
	for i, m := range f.Round.Members {
		if m.To != want[i] || !m.Moves() || f.Behind[m.Pin] != "2 commits of its integration repository" {
			t.Errorf("%+v, behind %q", m, f.Behind[m.Pin])
		}
	}
	if f.Round.ID == still || f.Round.ID != f.Round.Identify() || f.Round.Members[0].Ours == "" || f.Round.Members[1].Ours == f.Round.Members[0].Ours {
		t.Errorf("%+v", f.Round)
	}
	sighted := *f.Round
	// A newer pair comes; the earlier one is taken all the same.
	a3 := w.one.Commit("main", "a3", gittest.Files{"f": "newer\n" + text})
	w.integrate("../moved.git", a3, b2)
	if f = w.resolve(nil); f.Round.ID == sighted.ID || f.Round.Members[0].To.ID != string(a3) {
		t.Errorf("%+v", f.Round)
	}
	if f = w.resolve(sighted.Members); f.Err() != nil || f.Round.ID != sighted.ID {
		t.Errorf("%+v, %v", f.Round, f.Err())
	}
	// One half stays.
	half := slices.Clone(sighted.Members)
	half[0].To = half[0].From
	if f = w.resolve(half); f.Err() != nil || len(f.Round.Moves()) != 1 || f.Round.Moves()[0].Pin != "two" {
		t.Errorf("%+v, %v", f.Round, f.Err())
	}
	// What was seen is gone.
	w.whole.Commit("main", "anew", gittest.Files{"x": "x"}, gittest.Onto())
	f = w.resolve(sighted.Members)
	var left *fetch.LeftBranch
	if err := f.Err(); !errors.As(err, &left) || verdict.Of(err) != verdict.Held || len(f.Errors) != 2 {
		t.Errorf("%v", err)
	}
	if err := f.Fetch(t.Context(), w.stacks()); verdict.Of(err) != verdict.Held {
		t.Errorf("it was fetched: %v", err)
	}
	// Members that say nothing, and others than the group's.
	set := w.load()
	members := []*pins.Pin{set.Pin("one"), set.Pin("two")}
	for _, to := range [][]Member{half[:1], {{Pin: "side"}}} {
		if _, err := Resolve(t.Context(), w.e, w.root, "pair", members, to); err == nil {
			t.Errorf("taken: %+v", to)
		}
	}
}

// The pin's file and what decides over a rebase are part of the round, what is for people is not.
func TestOursSum(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	dir := filepath.Join(root, "patches", "s")
	sum := func() string {
		t.Helper()
		s, err := oursSum(root, "p", "s")
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	pin := func(text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(root, "pins"), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, "pins", "p.yaml"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	pin("a: pin\n")
	bare := sum()
	pin("a: mended pin\n")
	if sum() == bare {
		t.Error("the pin's file does not count")
	}
	if err := os.MkdirAll(dir+"/resolutions", 0o777); err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{sum(): "nothing"}
	for _, c := range []struct {
		file   string
		counts bool
	}{{"series", true}, {"a.patch", true}, {"policy.yaml", true}, {"resolutions/x.yaml", true}, {"README.md", false}, {"other/x", false}} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, c.file)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, c.file), []byte("text\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		s := sum()
		if _, same := seen[s]; same == c.counts {
			t.Errorf("%s: the sum is new: %v", c.file, !same)
		}
		seen[s] = c.file
	}
}

func TestFetch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a2, b2, _ := w.move()
	before, err := os.ReadFile(w.root + "/pins/one.yaml")
	if err != nil {
		t.Fatal(err)
	}
	f := w.fetched(nil)
	r := f.Round
	for i, want := range []git.ID{a2, b2} {
		l := r.Members[i].Lock
		if l == nil || l.Commit != string(want) || l.Sum == "" || l.Patched != nil {
			t.Errorf("%+v", l)
		}
	}
	if l := r.Members[0].Lock; l.Via.URL != "../moved.git" || len(l.Excluded) != 1 {
		t.Errorf("%+v", l)
	}
	if !slices.ContainsFunc(r.Draft, func(s string) bool {
		return strings.Contains(s, "one was read through a mirror") && strings.Contains(s, "mirror/moved")
	}) || len(r.Draft) != 2 {
		t.Errorf("draft: %q", r.Draft)
	}
	if now, err := os.ReadFile(w.root + "/pins/one.yaml"); err != nil || string(now) != string(before) {
		t.Error("the pin was written")
	}
	next := r.Next(w.e.Set)
	if next.Pin("one").Lock.Commit != string(a2) || w.e.Set.Pin("one").Lock.Commit != string(w.a1) || next.Pin("side") != w.e.Set.Pin("side") {
		t.Error("the pins with the round's locks are wrong, or the old ones changed")
	}
	// A part of the group, marked so.
	half := slices.Clone(r.Members)
	half[1].To = half[1].From
	f = w.resolve(half)
	f.Round.Mixed = true
	if err := f.Fetch(t.Context(), w.stacks()); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(f.Round.Draft, "only a part of the group moves") || f.Round.Members[1].Lock != nil {
		t.Errorf("%+v", f.Round)
	}
}

// A stack that does not hold on main is an error of its member.
func TestFetchOfABrokenStack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.move()
	w.write("repo/patches/one/series", "none.patch\n")
	f := w.resolve(nil)
	err := f.Fetch(t.Context(), w.stacks())
	if verdict.Of(err) != verdict.Fail || f.Errors["one"] == nil || f.Errors["two"] != nil || !strings.Contains(err.Error(), "none.patch") {
		t.Errorf("%v", err)
	}
}

func TestArchive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a2, b2, _ := w.move()
	f := w.fetched(nil)
	r := f.Round
	base := w.e.Set
	archive := gittest.New(t)
	w.e.Mirrors.URLs["https://archive.example/a.git"] = fetch.Mirror{To: archive.Dir()}
	w.e.Mirrors.URLs["https://archive.example/none.git"] = fetch.Mirror{To: gittest.ClosedPort(t) + "/a.git"}
	refuses := gittest.New(t)
	server := gittest.Serve(t, filepath.Dir(refuses.Dir()), gittest.ServerOptions{ReadOnly: true})
	w.e.Mirrors.URLs["https://archive.example/full.git"] = fetch.Mirror{To: server.URL + "/repo.git"}
	remote := func(name string) []fetch.ArchiveRemote {
		return []fetch.ArchiveRemote{{URL: "https://archive.example/" + name + ".git"}}
	}
	rows, err := r.Archive(t.Context(), w.e, base, nil)
	if verdict.Of(err) != verdict.Skipped || len(rows) != 2 || rows[0].Verdict != verdict.Skipped || rows[0].Why != fetch.NoArchive || !slices.Contains(r.Draft, fetch.NoArchive) {
		t.Errorf("%+v, %v", rows, err)
	}
	rows, err = r.Archive(t.Context(), w.e, base, remote("a"))
	if err != nil || len(rows) != 2 || rows[0].Verdict != verdict.Pass || len(rows[0].Held) != 1 {
		t.Errorf("%+v, %v", rows, err)
	}
	for name, id := range map[string]git.ID{"one": a2, "two": b2} {
		if got := archive.Git("rev-parse", fetch.KeptRef(name, id)); got != string(id) {
			t.Errorf("%s: %s", name, got)
		}
	}
	if rows, err = r.Archive(t.Context(), w.e, base, remote("none")); verdict.Of(err) != verdict.Infra || len(rows) != 2 {
		t.Errorf("%+v, %v", rows, err)
	}
	if rows, err = r.Archive(t.Context(), w.e, base, remote("full")); verdict.Of(err) != verdict.Fail || len(rows) != 2 {
		t.Errorf("%+v, %v", rows, err)
	}
	r.Members[0].Lock = nil
	if _, err := r.Archive(t.Context(), w.e, base, remote("a")); err == nil {
		t.Error("a round without locks was archived")
	}
}

func TestRoundFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.move()
	r := w.fetched(nil).Round
	file := filepath.Join(t.TempDir(), "round.json")
	if err := Write(file, r); err != nil {
		t.Fatal(err)
	}
	got, err := Read(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, got); diff != "" {
		t.Error(diff)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	good := string(data)
	for name, c := range map[string]struct{ old, new, text string }{
		"another schema":     {`"schema": 1`, `"schema": 2`, "schema 2, and this program knows 1"},
		"an unknown field":   {`"group":`, `"grp": 1, "group":`, `"grp"`},
		"something after it": {"\n}\n", "\n}\n{}\n", "after its end"},
		"another version":    {`"id": "` + string(w.a1), `"id": "` + string(w.b1), "its id is"},
		"another lock":       {`"commit": "` + r.Members[0].To.ID + `",`, `"commit": "` + string(w.b1) + `",`, "its lock is for"},
		"a path for a group": {`"group": "pair"`, `"group": "../pair"`, "no name"},
		"a path for a pin":   {`"pin": "two"`, `"pin": "../two"`, "no name"},
		"a pin twice":        {`"pin": "two"`, `"pin": "one"`, "twice"},
		"no JSON":            {"{", "", "no round"},
		"no base":            {`"base": "`, `"base": "--`, "its base"},
	} {
		bad := strings.Replace(good, c.old, c.new, 1)
		if bad == good {
			t.Errorf("%s: nothing was changed", name)
		}
		if err := os.WriteFile(file, []byte(bad), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(file); err == nil || !strings.Contains(err.Error(), c.text) || verdict.Of(err) != verdict.Fail {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Read(file + ".none"); verdict.Of(err) != verdict.Infra {
		t.Errorf("%v", err)
	}
	if err := os.Symlink(file, file+".link"); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(file + ".link"); err == nil {
		t.Error("a link was followed")
	}
}
