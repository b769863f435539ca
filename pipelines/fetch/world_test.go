// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/clock"
	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// A world is a folder of pins, upstreams behind mirrors, a cache and a store.
type world struct {
	t    *testing.T
	e    *Engine
	pins string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	s, err := store.Open(dir + "/cache/store")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, pins: dir + "/pins", e: &Engine{
		Mirrors:  &Mirrors{AllowHTTP: true, URLs: map[string]Mirror{}},
		Store:    s,
		CacheDir: dir + "/cache",
		Clock:    clock.Fixed(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)),
	}}
	w.write("groups.yaml", "[]\n")
	return w
}

func (w *world) write(name, text string) {
	w.t.Helper()
	if err := os.MkdirAll(w.pins, 0o777); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.pins, name), []byte(text), 0o666); err != nil {
		w.t.Fatal(err)
	}
}

// pin writes a pin of upstream https://up.example/<name>.git; rest is YAML from
// the track on.
func (w *world) pin(name, rest string) {
	w.t.Helper()
	w.write(name+".yaml", fmt.Sprintf("name: %s\nwhat: a test\nupstream: https://up.example/%s.git\nlicense: MIT\nuse: child\n%s", name, name, rest))
}

const followMain = "track: {kind: git-branch, branch: main}\n"

const followTags = "track:\n  kind: git-tag\n  schemes:\n    - {pattern: 'b{build}'}\n"

// load reads the pins again.
func (w *world) load() *pins.Set {
	w.t.Helper()
	set, err := pins.Load(w.pins)
	if err != nil {
		w.t.Fatal(err)
	}
	w.e.Set = set
	return set
}

func (w *world) get(name string) *pins.Pin {
	w.t.Helper()
	p := w.load().Pin(name)
	if p == nil {
		w.t.Fatalf("no pin %s", name)
	}
	return p
}

// serve puts a repository where the upstream of that name is.
func (w *world) serve(name string, r *gittest.Repo, o gittest.ServerOptions) *gittest.Server {
	w.t.Helper()
	s := gittest.Serve(w.t, filepath.Dir(r.Dir()), o)
	w.e.Mirrors.URLs["https://up.example/"+name+".git"] = Mirror{To: s.URL + "/repo.git"}
	return s
}

// local is serve without a server: the mirror is a folder.
func (w *world) local(name string, r *gittest.Repo) {
	w.e.Mirrors.URLs["https://up.example/"+name+".git"] = Mirror{To: r.Dir()}
}

func (w *world) update(name string, o UpdateOptions) Updated {
	w.t.Helper()
	p := w.get(name)
	o.PinsDir = w.pins
	rows, err := w.e.Update(w.t.Context(), []*pins.Pin{p}, o)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, r := range rows {
		if r.Name == name {
			return r
		}
	}
	w.t.Fatalf("no row for %s", name)
	return Updated{}
}

// must updates and wants it to pass.
func (w *world) must(name string) *pins.Lock {
	w.t.Helper()
	if r := w.update(name, UpdateOptions{}); r.Verdict != verdict.Pass {
		w.t.Fatalf("update %s: %s: %s", name, r.Verdict, r.Why)
	}
	return w.get(name).Lock
}

// refused updates, wants a verdict and texts in the reason, and that neither
// pins nor store changed.
func (w *world) refused(name string, want verdict.Verdict, texts ...string) Updated {
	w.t.Helper()
	before := w.snapshot()
	r := w.update(name, UpdateOptions{})
	w.wants(r.Verdict, r.Why, want, texts...)
	if after := w.snapshot(); after != before {
		w.t.Errorf("pins or store changed:\n%s\nbefore:\n%s", after, before)
	}
	return r
}

func (w *world) wants(got verdict.Verdict, why string, want verdict.Verdict, texts ...string) {
	w.t.Helper()
	if got != want {
		w.t.Errorf("verdict %s (%s), want %s", got, why, want)
	}
	for _, text := range texts {
		if !strings.Contains(why, text) {
			w.t.Errorf("the reason lacks %q: %s", text, why)
		}
	}
	if strings.Contains(why, "\n") || why == "" {
		w.t.Errorf("the reason is not one sentence: %q", why)
	}
}

// snapshot is all pin files and all entries of the store.
func (w *world) snapshot() string {
	w.t.Helper()
	var b strings.Builder
	names, _ := filepath.Glob(w.pins + "/*.yaml")
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			w.t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s:\n%s\n", filepath.Base(name), data)
	}
	entries, err := w.e.Store.List()
	if err != nil {
		w.t.Fatal(err)
	}
	for _, x := range entries {
		if d := w.e.Store.Verify(x.Key); d != nil {
			w.t.Errorf("wrong in the store: %v", d)
		}
		fmt.Fprintln(&b, x.Key)
	}
	left, _ := filepath.Glob(w.e.Store.Dir() + "/tmp/w*")
	for _, x := range left {
		if !strings.HasSuffix(x, ".lock") {
			w.t.Errorf("left behind: %s", x)
		}
	}
	return b.String()
}

// entry is the path of a pin's source in the store.
func (w *world) entry(p *pins.Pin) string {
	w.t.Helper()
	entries, err := w.e.Content(w.t.Context(), p)
	if err != nil {
		w.t.Fatal(err)
	}
	return entries[0].Path
}

func (w *world) read(p *pins.Pin, name string) string {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.entry(p), name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

func id(n int) git.ID { return git.ID(fmt.Sprintf("%040x", n)) }
