// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package gate

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/clock"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/rmtree"
	"github.com/1bit-MONSTER/engine/internal/sandbox"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/patches"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
)

func TestMain(m *testing.M) {
	sandbox.Main() // where this process is the first of a build step, it stays there
	os.Exit(m.Run())
}

var now = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// A world is a repository of ours with pins, upstreams behind mirrors, a cache
// and a store. Moves are made as a person makes them, with the fetch engine.
type world struct {
	t        *testing.T
	dir      string // the repository: pins, patches, ci
	base     string // the same as on main
	cache    string
	e        *fetch.Engine
	upstream map[string]*gittest.Repo
}

// newWorld makes upstreams and pins of these names, which follow main, and
// groups.
func newWorld(t *testing.T, groups string, names ...string) *world {
	t.Helper()
	top := t.TempDir()
	w := &world{t: t, dir: filepath.Join(top, "next"), base: filepath.Join(top, "base"), cache: filepath.Join(top, "cache"), upstream: map[string]*gittest.Repo{}}
	st, err := store.Open(filepath.Join(w.cache, "store"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rmtree.All(w.cache) })
	w.e = &fetch.Engine{
		Mirrors: &fetch.Mirrors{AllowHTTP: true, URLs: map[string]fetch.Mirror{}},
		Store:   st, CacheDir: w.cache, Clock: clock.Fixed(now),
	}
	if groups == "" {
		groups = "[]\n"
	}
	w.write("pins/groups.yaml", groups)
	for _, name := range names {
		w.follow(name, "")
	}
	return w
}

// follow adds an upstream and a pin on its main branch; more is further YAML.
func (w *world) follow(name, more string) *gittest.Repo {
	w.t.Helper()
	if !strings.Contains(more, "track:") {
		more += "track: {kind: git-branch, branch: main}\n"
	}
	up := gittest.New(w.t)
	w.upstream[name] = up
	w.e.Mirrors.URLs["https://up.example/"+name+".git"] = fetch.Mirror{To: up.Dir()}
	w.write("pins/"+name+".yaml", "name: "+name+"\nwhat: a test\nupstream: https://up.example/"+name+".git\nlicense: MIT\nuse: child\n"+more)
	return up
}

// bumped makes a world whose only pin, a, moved by a commit since the last one.
func bumped(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, "", "a")
	commits(w.upstream["a"], 1)
	w.update("a")
	w.commit()
	commits(w.upstream["a"], 2)
	w.update("a")
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

// edit replaces text in a file.
func (w *world) edit(name, old, new string) {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		w.t.Fatal(err)
	}
	if !strings.Contains(string(data), old) {
		w.t.Fatalf("%s has no %q:\n%s", name, old, data)
	}
	w.write(name, strings.Replace(string(data), old, new, 1))
}

func (w *world) load() *pins.Set {
	w.t.Helper()
	set, err := pins.Load(filepath.Join(w.dir, "pins"))
	if err != nil {
		w.t.Fatal(err)
	}
	w.e.Set = set
	return set
}

// update moves pins to their newest versions.
func (w *world) update(names ...string) {
	w.t.Helper()
	for _, name := range names {
		w.updateTo(name, fetch.UpdateOptions{})
	}
}

func (w *world) updateTo(name string, o fetch.UpdateOptions) {
	w.t.Helper()
	o.PinsDir = filepath.Join(w.dir, "pins")
	rows, err := w.e.Update(w.t.Context(), []*pins.Pin{w.load().Pin(name)}, o)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, r := range rows {
		if r.Verdict != verdict.Pass {
			w.t.Fatalf("update %s: %s: %s", r.Name, r.Verdict, r.Why)
		}
	}
	w.confirm()
}

// confirm takes the mark off that all these locks come from a mirror.
func (w *world) confirm() {
	w.t.Helper()
	for _, p := range w.load().Pins {
		if p.ViaMirror() {
			lock := *p.Lock
			lock.ViaMirror = nil
			if _, err := pins.Edit(filepath.Join(w.dir, "pins"), p.Name, func(f []byte) ([]byte, error) { return pins.WriteLock(f, lock) }); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	w.load()
}

// commit makes what there is now main.
func (w *world) commit() {
	w.t.Helper()
	if err := os.RemoveAll(w.base); err != nil {
		w.t.Fatal(err)
	}
	if err := os.CopyFS(w.base, os.DirFS(w.dir)); err != nil {
		w.t.Fatal(err)
	}
}

// subject is what gates see of the one group that moved.
func (w *world) subject(groups ...string) *Subject {
	w.t.Helper()
	w.load()
	list, err := Present{Repo: w.dir, Base: w.base, Engine: w.e, Now: now, Groups: groups}.Subjects(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	if len(list) != 1 {
		w.t.Fatalf("%d groups moved", len(list))
	}
	s := list[0]
	s.Log = io.Discard
	return s
}

// offline makes the subject see nothing but what is here, as in a night.
func offline(s *Subject) *Subject {
	e := *s.Engine
	e.Offline, e.Mirrors = true, &fetch.Mirrors{AllowHTTP: true, URLs: map[string]fetch.Mirror{}}
	for from := range s.Engine.Mirrors.URLs {
		e.Mirrors.URLs[from] = fetch.Mirror{To: "/nonexistent"}
	}
	s.Engine = &e
	return s
}

// gate runs one gate on a subject.
func (w *world) gate(name string, s *Subject) Result {
	w.t.Helper()
	g, err := Find(name)
	if err != nil {
		w.t.Fatal(err)
	}
	return Run(w.t.Context(), s, []Gate{g}, "")[0]
}

// wants compares a result with a verdict and texts of its sentence.
func (w *world) wants(what string, r Result, v verdict.Verdict, person bool, texts ...string) {
	w.t.Helper()
	if r.Verdict != v || r.Person != person {
		w.t.Errorf("%s: %s (person: %v): %s; want %s (%v)\n%s", what, r.Verdict, r.Person, r.Why, v, person, r.Details)
	}
	if v != verdict.Pass && r.Why == "" {
		w.t.Errorf("%s: no sentence", what)
	}
	for _, text := range texts {
		if !strings.Contains(r.Why, text) {
			w.t.Errorf("%s: the sentence lacks %q: %s", what, text, r.Why)
		}
	}
}

// details compares a result's details.
func (w *world) details(what string, r Result, texts ...string) {
	w.t.Helper()
	for _, text := range texts {
		if !strings.Contains(r.Details, text) {
			w.t.Errorf("%s: the details lack %q:\n%s", what, text, r.Details)
		}
	}
}

// patch puts a commit of ours on a pin as its stack.
func (w *world) patch(name string, files gittest.Files) {
	w.t.Helper()
	up := w.upstream[name]
	lock := w.load().Pin(name).Lock
	up.Git("branch", "-f", "ours", lock.Commit)
	up.Commit("ours", "Change it\n\nUpstream-Status: inappropriate", files)
	r, err := patches.OpenToWrite(w.t.Context(), w.dir)
	if err != nil {
		w.t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Import(w.t.Context(), name, patches.From{Where: up.Dir(), Branch: "ours"}); err != nil {
		w.t.Fatal(err)
	}
	w.load()
}
