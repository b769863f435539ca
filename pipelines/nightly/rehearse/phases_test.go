// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package rehearse

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/nightly"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

// A phased night is one whose phases are looked at one by one, as in three jobs.
type phased struct {
	*World
	t     *testing.T
	clone string
	dir   string // what is handed on
}

// phases begins a night of the groups in a clone of its own.
func (w *World) phases(t *testing.T) *phased {
	t.Helper()
	dir := t.TempDir()
	p := &phased{w, t, filepath.Join(dir, "clone"), filepath.Join(dir, "night")}
	if err := w.Clone(t.Context(), p.clone); err != nil {
		t.Fatal(err)
	}
	return p
}

// open opens a phase, as a process of its own would.
func (p *phased) open(groups ...string) *nightly.Night {
	p.t.Helper()
	o, err := p.Night(p.t.Context(), filepath.Join(p.t.TempDir(), "unused"))
	if err != nil {
		p.t.Fatal(err)
	}
	o.Repo, o.Groups = p.clone, groups
	n, err := nightly.New(p.t.Context(), o)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { n.Close() })
	return n
}

func (p *phased) resolve(groups ...string) *nightly.Report {
	p.t.Helper()
	n := p.open(groups...)
	r, err := n.Resolve(p.t.Context(), p.dir)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := n.Close(); err != nil {
		p.t.Fatal(err)
	}
	return r
}

func (p *phased) gate(group string) {
	p.t.Helper()
	if _, err := p.open().Gate(p.t.Context(), round.Folder(filepath.Join(p.dir, group))); err != nil {
		p.t.Fatal(err)
	}
}

// propose runs the third phase and compares "group: verdict, state" of each.
func (p *phased) propose(want ...string) *nightly.Report {
	p.t.Helper()
	n := p.open()
	r, err := n.Propose(p.t.Context(), p.dir)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := n.Close(); err != nil {
		p.t.Fatal(err)
	}
	var got []string
	for _, g := range r.Groups {
		got = append(got, fmt.Sprintf("%s: %s, %s", g.Group, g.Verdict, g.State))
	}
	if strings.Join(got, "; ") != strings.Join(want, "; ") {
		p.t.Errorf("the third phase came to %q, want %q; %+v", got, want, r.Groups)
	}
	return r
}

// rewrite changes what the first phase left for the others.
func (p *phased) rewrite(change func(*nightly.Report)) {
	p.t.Helper()
	name := filepath.Join(p.dir, "night.json")
	data, err := os.ReadFile(name)
	if err != nil {
		p.t.Fatal(err)
	}
	r := &nightly.Report{}
	if err := json.Unmarshal(data, r); err != nil {
		p.t.Fatal(err)
	}
	change(r)
	if err := round.WriteJSON(name, r); err != nil {
		p.t.Fatal(err)
	}
}

// A third phase that runs again says what was recorded, and records nothing.
func TestProposeAgainSaysTheSame(t *testing.T) {
	t.Parallel()
	for name, gates := range map[string]bool{"proposed": true, "gates never ran": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := small(t)
			change(t, w)
			p := w.phases(t)
			p.resolve("greet", "hello")
			want := []string{"greet: infra, gates", "hello: pass, done"}
			if gates {
				p.gate("greet")
				want[0] = "greet: pass, wait"
			}
			first := p.propose(want...)
			events := w.memory(t, "greet").Events
			again := p.propose(want...)
			if a, b := first.Group("greet"), again.Group("greet"); a.Why != b.Why || a.Round != b.Round || a.Try != b.Try || a.Commit != b.Commit {
				t.Errorf("it said\n%+v\nand then\n%+v", a, b)
			}
			if now := w.memory(t, "greet").Events; now != events {
				t.Errorf("%d events were added", now-events)
			}
		})
	}
}

// What the state branch does not say was never handed on: nothing is proposed,
// and nothing is called passed.
func TestStateLostBetweenPhases(t *testing.T) {
	t.Parallel()
	w := small(t)
	change(t, w)
	p := w.phases(t)
	p.resolve("greet")
	p.gate("greet")
	if _, err := w.Main.Output(t.Context(), "update-ref", "-d", "refs/heads/nightly-state"); err != nil {
		t.Fatal(err)
	}
	r := p.propose("greet: infra, gates")
	if why := r.Groups[0].Why; !strings.Contains(why, "does not say that night") {
		t.Errorf("the reason is %q", why)
	}
	if got := refs(t, w.Main, "refs/heads/bump"); got != "" {
		t.Errorf("it was proposed: %s", got)
	}
	w.mustNight(t, []string{"greet: pass, wait"}, only("greet"))
}

// night.json went through machines that run upstream code: what it says of a
// group is not believed.
func TestNightFileIsNotBelieved(t *testing.T) {
	t.Parallel()
	hello := Files{"main.go": helloMain("hello again")}
	for name, x := range map[string]struct {
		change func(*nightly.Report)
		want   []string
	}{
		"a group left out":   {func(r *nightly.Report) { r.Groups = r.Groups[1:] }, []string{"greet: infra, gates", "hello: infra, gates"}},
		"not handed on":      {func(r *nightly.Report) { r.Groups[0].Handed = false }, []string{"greet: infra, gates", "hello: infra, gates"}},
		"another night":      {func(r *nightly.Report) { r.Night = "20200101-000000-abcdef" }, []string{"greet: infra, gates", "hello: infra, gates"}},
		"passed by itself":   {func(r *nightly.Report) { r.Night, r.Groups[0].Handed = "20200101-000000-abcdef", false }, []string{"greet: infra, gates", "hello: infra, gates"}},
		"no id of its round": {func(r *nightly.Report) { r.Groups[0].Round = "\x1b[31m" }, []string{"greet: infra, gates", "hello: infra, gates"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := small(t)
			change(t, w)
			w.must(t, "hello", hello)
			p := w.phases(t)
			p.resolve("greet", "hello")
			p.rewrite(x.change)
			p.propose(x.want...)
		})
	}
	t.Run("a group twice", func(t *testing.T) {
		t.Parallel()
		w := small(t)
		p := w.phases(t)
		p.resolve("hello")
		p.rewrite(func(r *nightly.Report) { r.Groups = append(r.Groups, r.Groups...) })
		if _, err := p.open().Propose(t.Context(), p.dir); verdict.Of(err) != verdict.Fail {
			t.Errorf("got %v", err)
		}
	})
	t.Run("none", func(t *testing.T) {
		t.Parallel()
		w := small(t)
		p := w.phases(t)
		p.resolve("hello")
		if err := os.Remove(filepath.Join(p.dir, "night.json")); err != nil {
			t.Fatal(err)
		}
		if _, err := p.open().Propose(t.Context(), p.dir); verdict.Of(err) != verdict.Infra || !strings.Contains(err.Error(), "first step") {
			t.Errorf("got %v", err)
		}
	})
}

// A night that could not ask an upstream knows nothing of it: it does not end
// the time for which the pin has been behind.
func TestNightWithoutNetworkDoesNotEndAlarm(t *testing.T) {
	t.Parallel()
	w := small(t)
	w.must(t, "hello", Files{"main.go": helloMain("again")})
	if err := w.Hold(t.Context(), "hello", "a test"); err != nil {
		t.Fatal(err)
	}
	w.mustNight(t, []string{"hello: held, hold"}, only("hello"))
	since, stuck := w.memory(t, "hello").StuckSince()
	if !stuck {
		t.Fatal("the pin is not behind")
	}
	for range 3 {
		w.Sleep(24 * time.Hour)
		up, err := w.Upstream(t.Context(), "hello")
		if err != nil {
			t.Fatal(err)
		}
		dir := up.Dir()
		if err := os.Rename(dir, dir+".away"); err != nil {
			t.Fatal(err)
		}
		if r, err := w.night(t, only("hello")); err != nil || r.Groups[0].State != nightly.Newest {
			t.Fatalf("%v %+v", err, r)
		}
		if err := os.Rename(dir+".away", dir); err != nil {
			t.Fatal(err)
		}
		if now, stuck := w.memory(t, "hello").StuckSince(); !stuck || !now.Equal(since) {
			t.Fatalf("it is behind since %s (%t), was since %s", now, stuck, since)
		}
	}
	o, err := w.Night(t.Context(), filepath.Join(t.TempDir(), "clone"))
	if err != nil {
		t.Fatal(err)
	}
	n, err := nightly.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	p, err := n.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range p.Groups {
		if g.Name == "hello" && g.Alarm == nil {
			t.Error("there is no alarm after three days")
		}
	}
}

// The reason of a round that is not tried any more is how its last try ended,
// on every night after.
func TestThrottleNamesLastTry(t *testing.T) {
	t.Parallel()
	w := small(t)
	w.must(t, "greet", Files{"greeting.go": "package main\n"}) // the patch has nothing to stand on
	for range 3 {
		w.mustNight(t, []string{"greet: conflict, gates"}, only("greet"))
		w.Sleep(24 * time.Hour)
	}
	for range 3 {
		r := w.mustNight(t, []string{"greet: held, throttle"}, only("greet"))
		if why := r.Groups[0].Why; strings.Count(why, "tried") != 2 || !strings.Contains(why, "the last time: ") || !strings.Contains(why, "stack") {
			t.Errorf("the reason is %q", why)
		}
		w.Sleep(24 * time.Hour)
	}
}

// A group of which no night can tell what is newest, for whatever reason, is an
// alarm too: its upstream may have moved.
func TestUnseenForThreeDaysIsAlarm(t *testing.T) {
	t.Parallel()
	w := small(t)
	w.mustNight(t, []string{"hello: pass, done"}, only("hello"))
	up, err := w.Upstream(t.Context(), "hello")
	if err != nil {
		t.Fatal(err)
	}
	alarm := func() bool {
		o, err := w.Night(t.Context(), filepath.Join(t.TempDir(), "clone"))
		if err != nil {
			t.Fatal(err)
		}
		n, err := nightly.New(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		defer n.Close()
		p, err := n.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		lines, err := n.Explain(t.Context(), "hello")
		if err != nil {
			t.Fatal(err)
		}
		told := slices.ContainsFunc(lines, func(l nightly.Line) bool { return l.What == "alarm" })
		for _, g := range p.Groups {
			if g.Name == "hello" {
				if told != (g.Alarm != nil) {
					t.Errorf("the page has the alarm %v, the story %v", g.Alarm, lines)
				}
				return g.Alarm != nil
			}
		}
		t.Fatal("no such group")
		return false
	}
	dir := up.Dir()
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	for day := range 4 {
		w.Sleep(24 * time.Hour)
		if r, err := w.night(t, only("hello")); err != nil || r.Groups[0].State != nightly.Newest {
			t.Fatalf("%v %+v", err, r)
		}
		if want, got := day >= 3, alarm(); got != want {
			t.Errorf("after %d days the alarm is %t", day, got)
		}
	}
	if err := os.Rename(dir+".away", dir); err != nil {
		t.Fatal(err)
	}
	w.mustNight(t, []string{"hello: pass, done"}, only("hello"))
	if alarm() {
		t.Error("the alarm does not end")
	}
}
