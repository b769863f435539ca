// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/clock"
	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

// day returns a moment of the tests' time: midnight of a day plus some.
func day(n int, plus ...time.Duration) time.Time {
	t := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, n)
	for _, d := range plus {
		t = t.Add(d)
	}
	return t
}

// A world is a distribution's repository and what is needed to work with it.
type world struct {
	t      *testing.T
	remote *gittest.Repo
	main   git.ID
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, remote: gittest.New(t)}
	for i := range 4 {
		w.main = w.remote.Commit("main", "change", gittest.Files{"a": fmt.Sprint(i)})
	}
	w.remote.Commit("other", "change", gittest.Files{"b": "b"})
	return w
}

// clone makes a clone as a workflow's checkout does.
func (w *world) clone() *git.Repo {
	w.t.Helper()
	dir := filepath.Join(w.t.TempDir(), "clone")
	c := git.Command("", "-c", "protocol.file.allow=always", "clone", "--quiet", "--single-branch", "--depth", "1",
		"--branch", "main", "file://"+w.remote.Dir(), dir)
	if _, err := c.Run(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	r, err := git.Open(w.t.Context(), dir)
	if err != nil {
		w.t.Fatal(err)
	}
	if !r.Shallow() {
		w.t.Fatal("the clone is not shallow: the test shows nothing")
	}
	return r
}

func (w *world) place() git.Remote { return git.Remote{URL: w.remote.Dir(), Allow: []string{"file"}} }

// options are those of a live run with a clone and a cache of its own.
func (w *world) options(now time.Time) Options {
	return Options{Repo: w.clone(), Remote: w.place(), Mode: round.Live, CacheDir: w.t.TempDir(), Clock: clock.Fixed(now)}
}

func open(t *testing.T, o Options) *Ledger {
	t.Helper()
	l, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func (w *world) add(l *Ledger, events ...Event) {
	w.t.Helper()
	if err := l.Append(w.t.Context(), events...); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) memory(l *Ledger, group string) *Memory {
	w.t.Helper()
	m, err := l.Memory(w.t.Context(), group)
	if err != nil {
		w.t.Fatal(err)
	}
	return m
}

// file returns a file of the branch at the remote.
func (w *world) file(name string) string {
	w.t.Helper()
	return w.remote.Git("show", Branch+":"+name)
}

func wantVerdict(t *testing.T, err error, v verdict.Verdict, texts ...string) {
	t.Helper()
	if err == nil || verdict.Of(err) != v || verdict.ExitCode(err) == verdict.ExitUsage {
		t.Fatalf("got %v (%s, exit %d), want %s", err, verdict.Of(err), verdict.ExitCode(err), v)
	}
	wantTexts(t, err, texts)
}

func wantUsage(t *testing.T, err error, texts ...string) {
	t.Helper()
	if verdict.ExitCode(err) != verdict.ExitUsage {
		t.Fatalf("got %v, want a usage error", err)
	}
	wantTexts(t, err, texts)
}

func wantTexts(t *testing.T, err error, texts []string) {
	t.Helper()
	for _, s := range texts {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("the error %q does not say %q", err, s)
		}
	}
}

func wantNote(t *testing.T, l *Ledger, text string) {
	t.Helper()
	if !slices.ContainsFunc(l.Notes(), func(n string) bool { return strings.Contains(n, text) }) {
		t.Errorf("no note says %q: %q", text, l.Notes())
	}
}

// Short ways to write events.

const zinc, night1 = "zinc", "2026-10-01-a1"

func v(id string) round.Version { return round.Version{ID: id, Name: "v-" + id} }

func sight(locked, newest string) Event { return sightOf(zinc, [3]string{zinc, locked, newest}) }

func sightOf(group string, members ...[3]string) Event {
	e := Event{Kind: Sighted, Night: night1, Group: group}
	for _, m := range members {
		e.Members = append(e.Members, Sight{Pin: m[0], Locked: v(m[1]), Newest: v(m[2])})
	}
	return e
}

func began(n int) Event {
	return Event{Kind: Began, Night: night1, Group: zinc, RoundID: roundID(n), Try: 1}
}

func roundID(n int) string { return fmt.Sprintf("%016x", n) }

func ended(night string, vd verdict.Verdict) Event {
	return Event{Kind: Ended, Night: night, Group: zinc, State: "gates", Verdict: vd}
}

func proposed(n int, commit git.ID) Event {
	return Event{Kind: Proposed, Night: night1, Group: zinc, RoundID: roundID(n), Branch: "bump/zinc", Commit: string(commit)}
}

// at gives each event a time.
func at(t time.Time, events ...Event) []Event {
	for i := range events {
		events[i].At = t
	}
	return events
}
