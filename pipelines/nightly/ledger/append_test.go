// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

// Many at once: every event is there, once, in a history without a fork.
func TestRaceOfAppenders(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const n = 8
	var wg sync.WaitGroup
	for i := range n {
		l := open(t, w.options(day(i)))
		wg.Go(func() {
			if err := l.Append(t.Context(), sight("1", fmt.Sprint(100+i)), sightOf("zig", [3]string{"zig", "1", fmt.Sprint(i)})); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, group := range []string{zinc, "zig"} {
		text := w.file("events/" + group + "/2026-10.jsonl")
		if strings.Count(text, "\n")+1 != n {
			t.Errorf("%s has not %d lines:\n%s", group, n, text)
		}
		for i := range n {
			if id := map[string]int{zinc: 100 + i, "zig": i}[group]; strings.Count(text, fmt.Sprintf(`"newest":{"id":"%d"`, id)) != 1 {
				t.Errorf("%s: %d is not there once", group, id)
			}
		}
	}
	if got := w.remote.Git("rev-list", "--count", "--first-parent", Branch); got != fmt.Sprint(n) {
		t.Errorf("%s commits", got)
	}
	w.remote.Git("fsck", "--strict", "--no-dangling")
}

// What was decided is decided again when another run was faster.
func TestCheckIsAskedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	slow, fast := open(t, w.options(day(1))), open(t, w.options(day(1)))
	asked := 0
	no := errors.New("no longer")
	err := slow.AppendIf(t.Context(), zinc, func(m *Memory) error {
		if asked++; asked == 1 {
			if m.Events != 0 {
				t.Errorf("first %+v", m)
			}
			w.add(fast, sight("1", "2"))
			return nil
		}
		if m.Events != 1 || m.Last().Members[0].Newest.ID != "2" {
			t.Errorf("then %+v", m)
		}
		return no
	}, sight("1", "3"))
	if err != no || asked != 2 {
		t.Errorf("asked %d times: %v", asked, err)
	}
	if m := w.memory(slow, zinc); m.Events != 1 {
		t.Errorf("it was written all the same: %+v", m)
	}
}

// The answer to a push gets lost, and another run comes in between: the event
// is there once.
func TestAnswerLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := w.options(day(30)) // with a month's end in between
	o.Clock = nil
	l := open(t, o)
	lines, err := l.encode(at(day(30), sight("1", "2"), began(1)))
	if err != nil {
		t.Fatal(err)
	}
	before := l.head
	w.add(l, lines[0].Event, lines[1].Event)
	w.add(open(t, w.options(day(31))), sight("1", "3"))
	l.setHead(before) // what it knew before
	asked := 0
	if err := l.AppendIf(t.Context(), zinc, func(*Memory) error { asked++; return nil }, lines[0].Event, lines[1].Event); err != nil {
		t.Fatal(err)
	}
	if m := w.memory(l, zinc); m.Events != 3 || m.Tries(roundID(1)) != 1 {
		t.Errorf("%+v", m)
	}
	if asked != 1 {
		t.Errorf("asked %d times; what is written needs no leave", asked)
	}
	if w.file("events/zinc/2026-11.jsonl") == "" {
		t.Error("no month's end: the test shows nothing")
	}
}

// A clock that goes back over a month's end does not change the order.
func TestOrderIsThatOfWriting(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := open(t, w.options(day(40)))
	for i, d := range []int{31, 20, 32, 10} {
		w.add(l, at(day(d), sight("1", fmt.Sprint(i+2)))...)
	}
	if got := newest(w.memory(l, zinc).Sightings); got != "2 3 4 5 " {
		t.Errorf("order %s", got)
	}
	// Many months at once.
	w.add(l, list(at(day(70), sight("1", "6")), at(day(100), sight("1", "7")), at(day(130), sight("1", "8")))...)
	if got := newest(w.memory(l, zinc).Sightings); got != "2 3 4 5 6 7 8 " {
		t.Errorf("order %s", got)
	}
	if got := w.remote.Git("ls-tree", "--name-only", Branch+":events/zinc"); got != "2026-11.jsonl\n2026-12.jsonl\n2027-01.jsonl\n2027-02.jsonl" {
		t.Errorf("files %s", got)
	}
}

func TestNothingIsWrittenOfABadBatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := open(t, w.options(day(1)))
	if err := l.Append(t.Context(), sight("1", "2"), Event{Kind: Ended, Group: zinc}); err == nil {
		t.Error("it was written")
	}
	if err := l.Append(t.Context()); err != nil {
		t.Errorf("nothing: %v", err)
	}
	if got := w.remote.Git("for-each-ref", "refs/heads/"+Branch); got != "" {
		t.Errorf("the branch is %s", got)
	}
}

func wantDryRuns(t *testing.T, l *Ledger, want bool) {
	t.Helper()
	if got, err := l.DryRuns(); err != nil || got != want {
		t.Errorf("dry runs add to it: %t, %v, want %t", got, err, want)
	}
}

func TestDryRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := w.options(day(3))
	live := open(t, o)
	w.add(live, at(day(1), sight("1", "2"))...)
	tip := w.remote.Git("for-each-ref")

	dry := o
	dry.Mode = round.DryRun
	l := open(t, dry)
	wantDryRuns(t, l, false)
	if err := l.Probe(t.Context(), night1); err != nil {
		t.Fatal(err)
	}
	if err := l.Claim(t.Context(), zinc, "dry"); err != nil {
		t.Fatal(err)
	}
	w.add(l, sight("1", "3"), began(1), proposed(1, commit1), sightOf("zig", [3]string{"zig", "1", "2"}))
	second := open(t, dry)
	wantDryRuns(t, second, true)
	err := second.Claim(t.Context(), zinc, "dry-2")
	wantVerdict(t, err, verdict.Held, "another run on this machine works on zinc since 2026-10-04T00:00:00Z, in the night dry")
	m := w.memory(second, zinc)
	if got := newest(m.Sightings); got != "2 3 " || m.Tries(roundID(1)) != 1 || m.Proposal == nil || m.Claim == nil {
		t.Errorf("a dry run remembers %+v", m)
	}
	if all, err := second.Memories(t.Context()); err != nil || len(all) != 2 {
		t.Errorf("groups %v, %v", all, err)
	}
	refused := errors.New("no")
	if err := l.AppendIf(t.Context(), zinc, func(m *Memory) error {
		if m.Tries(roundID(1)) != 1 {
			t.Errorf("asked about %+v", m)
		}
		return refused
	}, began(1)); err != refused {
		t.Error(err)
	}

	// A live run with the same cache and clone knows nothing of it, and a dry
	// run's claim is in nobody's way.
	live = open(t, o)
	wantDryRuns(t, live, false)
	if m := w.memory(live, zinc); m.Events != 1 || m.Proposal != nil || m.Claim != nil {
		t.Errorf("a live run remembers %+v", m)
	}
	if list, err := live.Groups(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("groups %q, %v", list, err)
	}
	if now := w.remote.Git("for-each-ref"); now != tip {
		t.Errorf("a dry run changed the remote:\n%s", now)
	}
	if err := live.Claim(t.Context(), zinc, "live"); err != nil {
		t.Error(err)
	}

	// Lines of its own file are looked at as closely.
	f, err := os.OpenFile(filepath.Join(o.CacheDir, "nightly", "dry-run", "events", "zinc.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString(`{"kind":`)
	f.Close()
	w.add(l, sight("1", "4"))
	if got := newest(w.memory(l, zinc).Sightings); got != "2 3 4 " {
		t.Errorf("after half a line: %s", got)
	}
	wantNote(t, l, "zinc.jsonl:5 was skipped")
}

func TestStopped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := w.options(day(1))
	w.add(open(t, o), sight("1", "2"))
	o.Mode = round.Stopped
	l := open(t, o)
	for what, err := range map[string]error{
		"append": l.Append(t.Context(), began(1)), "claim": l.Claim(t.Context(), zinc, night1), "probe": l.Probe(t.Context(), night1),
	} {
		if verdict.Of(err) != verdict.Held {
			t.Errorf("%s: %v", what, err)
		}
	}
	if m := w.memory(l, zinc); m.Events != 1 {
		t.Errorf("%+v", m)
	}
}

// A clone without blobs gets those of the branch all the same.
func TestCloneWithoutBlobs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(open(t, w.options(day(1))), sight("1", "2"))
	s := gittest.Serve(t, filepath.Dir(w.remote.Dir()), gittest.ServerOptions{})
	dir := filepath.Join(t.TempDir(), "clone")
	if _, err := git.Command("", "-c", "protocol.http.allow=always", "clone", "--quiet", "--bare", "--filter=blob:none", "--single-branch", s.URL+"/repo.git", dir).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	o := w.options(day(2))
	var err error
	if o.Repo, err = git.Open(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	o.Remote = s.Remote("repo.git")
	l := open(t, o)
	w.add(l, sight("1", "3"))
	if m := w.memory(l, zinc); m.Events != 2 {
		t.Errorf("%+v", m)
	}
}
