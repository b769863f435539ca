// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package gate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
)

// step is a pin that goes from one commit to another.
func step(t *testing.T, before, after gittest.Files, options ...gittest.Option) (*world, *Subject) {
	t.Helper()
	w := newWorld(t, "", "a")
	w.upstream["a"].Commit("main", "one", before)
	w.update("a")
	w.commit()
	w.upstream["a"].Commit("main", "two", after, options...)
	w.update("a")
	return w, w.subject()
}

func TestLicense(t *testing.T) {
	before := gittest.Files{"LICENSE": "Do what you want.\nNo warranty.\n", "third/COPYING": "theirs\n", "a": "1"}
	for _, c := range []struct {
		name    string
		after   gittest.Files
		options []gittest.Option
		person  bool
		texts   []string
		details []string
	}{
		{name: "unchanged", after: gittest.Files{"a": "2"}},
		{
			name: "changed", after: gittest.Files{"LICENSE": "Do what we want.\nNo warranty.\n"}, person: true,
			texts:   []string{"the licence file LICENSE changed"},
			details: []string{"--- a LICENSE on main\n+++ a LICENSE\n", "-Do what you want.\n+Do what we want.\n No warranty.\n"},
		},
		{
			name: "gone", after: gittest.Files{"a": "2"}, options: []gittest.Option{gittest.Delete("third/COPYING")}, person: true,
			texts: []string{"third/COPYING is gone"}, details: []string{"-theirs\n"},
		},
		{
			name: "new", after: gittest.Files{"b/NOTICE": "say so\n"}, person: true,
			texts: []string{"b/NOTICE is new"}, details: []string{"+say so\n"},
		},
		{
			name: "no text", after: gittest.Files{"LICENSE": "\xff\xfe"}, person: true,
			texts: []string{"LICENSE changed"}, details: []string{"LICENSE is no text: sha256"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w, s := step(t, before, c.after, c.options...)
			r := w.gate("license", offline(s))
			w.wants(c.name, r, verdict.Pass, c.person, c.texts...)
			w.details(c.name, r, c.details...)
		})
	}

	w, s := step(t, before, gittest.Files{"LICENSE": "new\n"})
	s.Next.Pin("a").License = "GPL-3.0-only"
	w.wants("what the pin says", w.gate("license", s), verdict.Pass, true, "was under MIT and is under GPL-3.0-only now", "LICENSE changed")

	// A night that was handed on without what main has.
	s = offline(w.subject())
	s.Base.Pin("a").Lock.Sum = "t1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
	r := w.gate("license", s)
	w.wants("main is not here", r, verdict.Pass, true, "LICENSE changed")
	w.details("main is not here", r, "is not here (sha256", "+new\n")

	s.Next.Pin("a").Lock.Sum = s.Base.Pin("a").Lock.Sum
	s.Next.Pin("a").Lock.Commit = strings.Repeat("1", 40)
	w.wants("the new one is not here", w.gate("license", s), verdict.Infra, false, "--offline")
}

func TestSubmodules(t *testing.T) {
	t.Parallel()
	modules := func(list ...string) gittest.Files {
		text := ""
		for _, x := range list {
			path, name, _ := strings.Cut(x, "=")
			text += fmt.Sprintf("[submodule %q]\n\tpath = %s\n\turl = https://up.example/%s.git\n", path, path, name)
		}
		return gittest.Files{".gitmodules": text}
	}
	w := newWorld(t, "", "a")
	var ids []git.ID
	for _, name := range []string{"x", "y"} {
		up := gittest.New(t)
		ids = commits(up, 2) // the same in both
		w.e.Mirrors.URLs["https://up.example/"+name+".git"] = fetch.Mirror{To: up.Dir()}
	}
	up := w.upstream["a"]
	up.Commit("main", "one", modules("sub/one=x", "sub/two=x"), gittest.Submodule("sub/one", ids[0]), gittest.Submodule("sub/two", ids[0]))
	w.update("a")
	w.commit()
	up.Commit("main", "two", modules("sub/one=x", "sub/two=x"), gittest.Submodule("sub/one", ids[1]), gittest.Submodule("sub/two", ids[0]))
	w.update("a")
	r := w.gate("submodules", w.subject())
	w.wants("another commit", r, verdict.Pass, false)
	w.details("another commit", r, "sub/one goes from "+string(ids[0])+" to "+string(ids[1]))

	up.Commit("main", "three", modules("sub/one=y", "sub/three=x"), gittest.Submodule("sub/three", ids[1]), gittest.Delete("sub/two"))
	w.update("a")
	r = w.gate("submodules", w.subject())
	w.wants("new, gone and elsewhere", r, verdict.Pass, true, "1 are new, 1 gone, 1 at another address")
	w.details("new, gone and elsewhere", r,
		"new: sub/three from https://up.example/x.git at "+string(ids[1]),
		"gone: sub/two from https://up.example/x.git",
		"sub/one was from https://up.example/x.git, is from https://up.example/y.git now")

	s := w.subject()
	s.Base.Pin("a").Lock = nil
	w.wants("the first lock", w.gate("submodules", s), verdict.Pass, true, "pin a comes with 2 submodules")
}

func TestSize(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		before, after int64
		jumped        bool
	}{
		{100e6, 150e6, false}, {100e6, 150e6 + 1, true}, {1000e6, 1400e6, false}, {1e3, 50e6, false}, {1e3, 51e6, true}, {500e6, 1e6, false}, {0, 60e6, true},
	} {
		if got := jumped(c.before, c.after); got != c.jumped {
			t.Errorf("from %d to %d: %v, want %v", c.before, c.after, got, c.jumped)
		}
	}
	w, s := step(t, gittest.Files{"a": strings.Repeat("x", 1e6)}, gittest.Files{"b": strings.Repeat("y", 2e6)})
	s = offline(s)
	r := w.gate("size", s)
	w.wants("grows", r, verdict.Pass, false)
	w.details("grows", r, "a: 1.0 MB -> 3.0 MB")

	files := func(size int64) *pins.Lock {
		return &pins.Lock{Version: fmt.Sprint(size), Files: []pins.File{{Name: "w", SHA256: "x", Size: size}, {Name: "v", SHA256: "x", Size: 1}}}
	}
	s.Base.Pin("a").Lock, s.Next.Pin("a").Lock = files(100e6), files(200e6)
	w.wants("weights", w.gate("size", s), verdict.Pass, true, "pin a grows from 100.0 MB to 200.0 MB")

	s = offline(w.subject())
	key, err := store.KeyOf(s.Base.Pin("a").Lock.Sum)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.e.Store.Remove(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	w.wants("made again from its repository", w.gate("size", s), verdict.Pass, false)
	s.Base.Pin("a").Lock.Commit, s.Base.Pin("a").Lock.Sum = strings.Repeat("1", 40), "t1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
	w.wants("main is not here", w.gate("size", s), verdict.Skipped, false, "how much it has on main is not known")
	s.Next.Pin("a").Lock = s.Base.Pin("a").Lock
	w.wants("the new one is not here", w.gate("size", s), verdict.Infra, false, "--offline")
}

func TestDownloads(t *testing.T) {
	t.Parallel()
	cmake := func(url string) gittest.Files {
		return gittest.Files{"CMakeLists.txt": "project(a)\nfile(DOWNLOAD " + url + " x.bin)\n"}
	}
	w, s := step(t, gittest.Files{"CMakeLists.txt": "project(a)\n"}, cmake("https://dl.example/x.bin"))
	r := w.gate("downloads", offline(s))
	w.wants("undeclared", r, verdict.Fail, false, "pin a: CMakeLists.txt:2:", "https://dl.example/x.bin", "is in no input of the pin")

	list, _, err := w.e.Downloads(t.Context(), s.Next.Pin("a"))
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	unused := []pins.Input{{Name: "x", Kind: pins.InputUnused, DeclaredIn: "CMakeLists.txt", SHA256: list[0].SHA256, Why: "not built"}}
	s.Next.Pin("a").Lock.Inputs = unused
	w.wants("unused", w.gate("downloads", s), verdict.Pass, false)

	w.upstream["a"].Commit("main", "three", gittest.Files{"CMakeLists.txt": "project(a)\nset(X 1)\nfile(DOWNLOAD https://dl.example/x.bin x.bin)\n"})
	w.update("a")
	s = w.subject()
	s.Next.Pin("a").Lock.Inputs = unused
	w.wants("the file changed", w.gate("downloads", s), verdict.Fail, false, "the input x says unused, but the file has changed since")

	// What main owes already is no reason to stop a bump, something new is.
	w, s = step(t, cmake("https://dl.example/x.bin"), gittest.Files{"CMakeLists.txt": "project(a)\nset(X 1)\nfile(DOWNLOAD https://dl.example/x.bin x.bin)\n"})
	w.wants("as on main", w.gate("downloads", s), verdict.Pass, true, "as on main already")
	w.upstream["a"].Commit("main", "three", cmake("https://dl.example/y.bin"))
	w.update("a")
	w.wants("another one", w.gate("downloads", w.subject()), verdict.Fail, false, "https://dl.example/y.bin")

	w, s = step(t, cmake("https://dl.example/x.bin"), gittest.Files{"CMakeLists.txt": "project(a)\n"})
	s.Next.Pin("a").Lock.Inputs = unused
	r = w.gate("downloads", s)
	w.wants("nothing left", r, verdict.Pass, false)
	w.details("nothing left", r, "CMakeLists.txt declares no download; remove it")
	s = offline(w.subject())
	s.Next.Pin("a").Lock.Commit = strings.Repeat("1", 40)
	w.wants("not here", w.gate("downloads", s), verdict.Infra, false, "--offline")
}
