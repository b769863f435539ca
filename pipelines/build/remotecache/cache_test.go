// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package remotecache

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/rmtree"
	"github.com/1bit-MONSTER/engine/pipelines/build"
)

func TestHitGivesTheSameBytesWithoutBuilding(t *testing.T) {
	h := newHub(t)
	a := newMachine(t, h.address(t), pushing)
	made := a.make(t, "demo")
	if made.From != "" || made.Hit || a.runs.Load() != 1 {
		t.Fatalf("the first build: %+v, %d runs", made, a.runs.Load())
	}
	want := listing(t, made.Path)

	// The same machine after its store was deleted.
	if err := a.Store.Remove(t.Context(), made.Key); err != nil {
		t.Fatal(err)
	}
	again := a.make(t, "demo")
	if again.From != h.address(t).String() || again.Hit || len(again.Steps) != 0 || a.runs.Load() != 1 {
		t.Errorf("after the store was deleted: %+v, %d runs", again, a.runs.Load())
	}
	if got := listing(t, again.Path); got != want || again.Sum != made.Sum || again.Size != made.Size {
		t.Errorf("it gives\n%s\nwant\n%s", got, want)
	}

	// Another one, which does not even fetch a toolchain.
	b := newMachine(t, h.address(t))
	there := b.make(t, "demo")
	if there.From == "" || there.Sum != made.Sum || b.runs.Load() != 0 || b.fetched.Load() != 0 {
		t.Errorf("on another machine: %+v, %d runs, %d fetches", there, b.runs.Load(), b.fetched.Load())
	}
	if got := listing(t, there.Path); got != want {
		t.Errorf("it gives\n%s\nwant\n%s", got, want)
	}
	// From then on the store has it, and nobody is asked.
	asked := h.asked.Load()
	if third := b.make(t, "demo"); !third.Hit || third.From != "" || h.asked.Load() != asked {
		t.Errorf("the next time: %+v, %d requests", third, h.asked.Load()-asked)
	}
	a.warned(t, "")
	b.warned(t, "")
}

func TestMissBuilds(t *testing.T) {
	h := newHub(t)
	m := newMachine(t, h.address(t)) // does not push
	if made := m.make(t, "demo"); made.From != "" || m.runs.Load() != 1 {
		t.Errorf("got %+v, %d runs", made, m.runs.Load())
	}
	if other := newMachine(t, h.address(t)); other.make(t, "demo").From != "" {
		t.Error("it was pushed though nobody said so")
	}
	m.warned(t, "")
}

// writes counts the requests that change something.
func writes(n *int) func(http.ResponseWriter, *http.Request, http.Handler) {
	var mu sync.Mutex
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			mu.Lock()
			*n++
			mu.Unlock()
		}
		next.ServeHTTP(w, r)
	}
}

func TestSecondPushDoesNothing(t *testing.T) {
	h := newHub(t)
	a, b := newMachine(t, h.address(t), pushing), newMachine(t, h.address(t))
	b.make(t, "demo") // built before the registry had it
	a.make(t, "demo")
	n := 0
	h.fail(writes(&n))
	a.make(t, "demo")
	pushingToo := newMachine(t, h.address(t), pushing)
	pushingToo.Builder.Store = b.Store
	pushingToo.make(t, "demo")
	if n != 0 {
		t.Errorf("%d requests changed something", n)
	}
	pushingToo.warned(t, "")
}

func TestWhatTheStoreHasIsPushedLater(t *testing.T) {
	h := newHub(t)
	a := newMachine(t, h.address(t))
	a.make(t, "demo")
	b := newMachine(t, h.address(t), pushing)
	b.Builder.Store = a.Store
	if again := b.make(t, "demo"); !again.Hit || b.runs.Load() != 0 {
		t.Fatalf("got %+v", again)
	}
	if c := newMachine(t, h.address(t)); c.make(t, "demo").From == "" {
		t.Error("it was not pushed")
	}
}

// What was pulled from one registry is not passed on to another as if it had
// been built here: a signature says that it was.
func TestWhatWasPulledIsNotPushed(t *testing.T) {
	first, second := newHub(t), newHub(t)
	newMachine(t, first.address(t), pushing).make(t, "demo")
	b := newMachine(t, first.address(t))
	b.make(t, "demo")
	c := newMachine(t, second.address(t), pushing)
	c.Builder.Store = b.Store
	if again := c.make(t, "demo"); !again.Hit || second.asked.Load() != 0 {
		t.Errorf("got %+v, %d requests", again, second.asked.Load())
	}
}

func TestOtherSpacesNeverMeetTheRegistry(t *testing.T) {
	h := newHub(t)
	for _, space := range []build.Space{build.NoSandbox, build.HostTools, "network-open"} {
		m := newMachine(t, h.address(t), pushing)
		made := m.makeIn(t, "demo", space)
		again := m.makeIn(t, "demo", space)
		if made.From != "" || !again.Hit || m.runs.Load() != 1 {
			t.Errorf("%s: got %+v and %+v", space, made, again)
		}
	}
	if n := h.asked.Load(); n != 0 {
		t.Errorf("it was asked %d times", n)
	}
}

func TestOtherBytesFromTheSameInputsAreTold(t *testing.T) {
	h := newHub(t)
	newMachine(t, h.address(t), pushing).make(t, "demo")
	b := newMachine(t, h.address(t))
	b.text = "made otherwise\n"
	b.Builder.Remote = nil
	mine := b.make(t, "demo")
	b.Builder.Remote = b.cache
	b.cache.o.Push = true
	b.make(t, "demo")
	b.warned(t, "from the same inputs: see 'dist reproduce demo'")
	if c := newMachine(t, h.address(t)); c.make(t, "demo").Sum == mine.Sum {
		t.Error("the registry's entry was replaced")
	}
}

// What somebody changed in the store, so that its stat does not tell, does not
// leave this machine.
func TestDamagedEntryIsNotPushed(t *testing.T) {
	h := newHub(t)
	a := newMachine(t, h.address(t))
	made := a.make(t, "demo")
	file := filepath.Join(made.Path, "bin", "run")
	st, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Repeat("x", int(st.Size()))), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, 0o555); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(file, st.ModTime(), st.ModTime()); err != nil {
		t.Fatal(err)
	}
	a.cache.o.Push = true
	if _, err := a.try(t.Context(), component(t, "demo", build.Sandboxed)); err != nil {
		t.Fatal(err)
	}
	a.warned(t, "bin/run is not as it was when it was built")
	if b := newMachine(t, h.address(t)); b.make(t, "demo").From != "" {
		t.Error("it was pushed")
	}
}

// Builders that pull and push the same key at once all have the same bytes, and
// so has who comes later.
func TestManyAtOnce(t *testing.T) {
	h := newHub(t)
	var machines []*machine
	for range 4 {
		machines = append(machines, newMachine(t, h.address(t), pushing))
	}
	var g sync.WaitGroup
	c := component(t, "demo", build.Sandboxed)
	built := make([]*build.Built, len(machines))
	for i, m := range machines {
		g.Go(func() {
			var err error
			if built[i], err = m.try(t.Context(), c); err != nil {
				t.Error(err)
			}
		})
	}
	g.Wait()
	later := newMachine(t, h.address(t))
	last := later.make(t, "demo")
	if last.From == "" {
		t.Error("it was not pushed")
	}
	for i, b := range built {
		if b == nil || b.Sum != last.Sum {
			t.Errorf("machine %d has %+v", i, b)
		}
		machines[i].warned(t, "")
	}
	// And two processes with one store.
	m, n := newMachine(t, h.address(t)), newMachine(t, h.address(t))
	n.Builder.Store = m.Store
	asked := h.asked.Load()
	for _, m := range []*machine{m, n} {
		g.Go(func() {
			if _, err := m.try(t.Context(), c); err != nil {
				t.Error(err)
			}
		})
	}
	g.Wait()
	if m.runs.Load()+n.runs.Load() != 0 || h.asked.Load() == asked {
		t.Error("it was built once more")
	}
	if left, _ := os.ReadDir(filepath.Join(m.Store.Dir(), "tmp")); len(left) > 0 {
		t.Errorf("the store's tmp holds %v", left)
	}
}

func TestParanoidTakesADamagedEntryFromThere(t *testing.T) {
	h := newHub(t)
	m := newMachine(t, h.address(t), pushing)
	made := m.make(t, "demo")
	if err := rmtree.All(filepath.Join(made.Path, "lib")); err != nil {
		t.Fatal(err)
	}
	m.Paranoid = true
	if again := m.make(t, "demo"); again.From == "" || again.Sum != made.Sum || m.runs.Load() != 1 {
		t.Errorf("got %+v, %d runs", again, m.runs.Load())
	}
}
