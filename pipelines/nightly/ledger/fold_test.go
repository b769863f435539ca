// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"fmt"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

// list joins events of several moments.
func list(parts ...[]Event) []Event {
	var all []Event
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

func foldAt(now time.Time, parts ...[]Event) *Memory { return fold(zinc, now, list(parts...)) }

func newest(s []Sighting) string {
	out := ""
	for _, x := range s {
		out += x.Members[0].Newest.ID + " "
	}
	return out
}

func TestFirstSeen(t *testing.T) {
	t.Parallel()
	renamed := sight("1", "2")
	renamed.Members[0].Newest.Name = "v-other"
	via := sight("1", "2")
	via.Members[0].Newest.Via = "9"
	m := foldAt(day(9), at(day(1), sight("1", "2")), at(day(2), sight("1", "3")), at(day(3), renamed), at(day(4), via), at(day(5), sight("1", "2")))
	for _, x := range []struct {
		name string
		v    round.Version
		want time.Time
	}{
		{"first of several times", v("2"), day(1)},
		{"in between", v("3"), day(2)},
		{"the same commit under another name", round.Version{ID: "2", Name: "v-other"}, day(3)},
		{"through another commit", round.Version{ID: "2", Name: "v-2", Via: "9"}, day(1)},
		{"another commit under the same name", round.Version{ID: "4", Name: "v-2"}, time.Time{}},
		{"what is locked", v("1"), time.Time{}},
	} {
		if got, ok := m.FirstSeen(zinc, x.v); !got.Equal(x.want) || ok == x.want.IsZero() {
			t.Errorf("%s: %s, %v", x.name, got, ok)
		}
	}
	if _, ok := m.FirstSeen("zig", v("2")); ok {
		t.Error("another pin's version was seen")
	}
	if len(m.Sightings) != 5 || newest(m.Since()) != "2 2 2 3 2 " {
		t.Errorf("%d sightings, since %s", len(m.Sightings), newest(m.Since()))
	}
}

func TestSightingsJoin(t *testing.T) {
	t.Parallel()
	m := foldAt(day(9), at(day(1), sight("1", "2")), at(day(2), sight("1", "2")), at(day(3), sight("1", "3")))
	if len(m.Sightings) != 2 || !m.Sightings[0].First.Equal(day(1)) || !m.Sightings[0].Last.Equal(day(2)) || !m.Last().First.Equal(day(3)) {
		t.Errorf("%+v", m.Sightings)
	}
}

// Candidates are what is known to be newer than the lock; a doubt only delays.
func TestSince(t *testing.T) {
	t.Parallel()
	pair := func(locked, newest [2]string) Event {
		return sightOf("pair", [3]string{"llama", locked[0], newest[0]}, [3]string{"hrx", locked[1], newest[1]})
	}
	for _, x := range []struct {
		name   string
		events []Event
		want   string
	}{
		{"nothing was seen", nil, ""},
		{"nothing is to move", []Event{sight("1", "1")}, ""},
		{"all are newer", []Event{sight("1", "1"), sight("1", "2"), sight("1", "3")}, "3 2 "},
		{"never seen where nothing was to move", []Event{sight("1", "2"), sight("1", "3")}, "3 2 "},
		{"the lock moved to an earlier one", []Event{sight("1", "2"), sight("1", "3"), sight("1", "4"), sight("2", "4")}, "4 3 "},
		{"the lock moved to the newest", []Event{sight("1", "2"), sight("1", "3"), sight("3", "3")}, ""},
		{"and then upstream", []Event{sight("1", "2"), sight("1", "3"), sight("3", "3"), sight("3", "4")}, "4 "},
		{"both at once", []Event{sight("1", "2"), sight("1", "3"), sight("3", "4")}, "4 "},
		{"the lock moved by hand to one never seen", []Event{sight("1", "2"), sight("1", "4"), sight("3", "5")}, "5 "},
		{"and upstream did not", []Event{sight("1", "2"), sight("1", "4"), sight("3", "4")}, "4 "},
		{"rolled back", []Event{sight("1", "2"), sight("2", "2"), sight("2", "3"), sight("1", "3")}, "3 "},
		{"rolled back to one that was seen", []Event{sight("1", "1"), sight("1", "2"), sight("2", "2"), sight("1", "2")}, "2 "},
		{"half a pair moved on its own", []Event{pair([2]string{"1", "1"}, [2]string{"2", "1"}), pair([2]string{"1", "1"}, [2]string{"2", "2"}), pair([2]string{"1", "2"}, [2]string{"3", "2"})}, "3 "},
		{"a new member", []Event{pair([2]string{"1", "1"}, [2]string{"2", "1"}), sightOf("pair", [3]string{"llama", "1", "3"}, [3]string{"hrx", "1", "1"}, [3]string{"x", "1", "1"})}, "3 "},
	} {
		t.Run(x.name, func(t *testing.T) {
			for i := range x.events {
				x.events[i].At = day(i)
			}
			if got := newest(foldAt(day(30), x.events).Since()); got != x.want {
				t.Errorf("got %q, want %q", got, x.want)
			}
		})
	}
}

func TestStuckSince(t *testing.T) {
	t.Parallel()
	pair := func(a, b [2]string) Event {
		return sightOf(zinc, [3]string{"a", a[0], a[1]}, [3]string{"b", b[0], b[1]})
	}
	for _, x := range []struct {
		name   string
		events []Event
		stuck  int // day; -1: not
	}{
		{"never seen", nil, -1},
		{"up to date", []Event{sight("1", "1")}, -1},
		{"upstream moved", []Event{sight("1", "1"), sight("1", "2"), sight("1", "2")}, 1},
		{"and moved on", []Event{sight("1", "2"), sight("1", "3"), sight("1", "4")}, 0},
		{"and was caught up with", []Event{sight("1", "2"), sight("2", "2"), sight("2", "2"), sight("2", "3")}, 3},
		{"the pin follows, always a step behind", []Event{sight("1", "2"), sight("1", "3"), sight("2", "3"), sight("2", "4"), sight("3", "4")}, 4},
		{"half of a pair", []Event{pair([2]string{"1", "1"}, [2]string{"1", "1"}), pair([2]string{"1", "2"}, [2]string{"1", "1"}), pair([2]string{"1", "2"}, [2]string{"1", "2"})}, 1},
		{"the other half was caught up with", []Event{pair([2]string{"1", "2"}, [2]string{"1", "1"}), pair([2]string{"1", "2"}, [2]string{"1", "2"}), pair([2]string{"2", "2"}, [2]string{"1", "2"})}, 1},
		{"upstream went back", []Event{sight("1", "2"), sight("1", "1")}, -1},
	} {
		t.Run(x.name, func(t *testing.T) {
			for i := range x.events {
				x.events[i].At = day(i)
			}
			m := foldAt(day(30), x.events)
			if got, ok := m.StuckSince(); ok != (x.stuck >= 0) || ok && !got.Equal(day(x.stuck)) {
				t.Errorf("stuck since %s, %v, want day %d", got, ok, x.stuck)
			}
		})
	}
}

func TestTries(t *testing.T) {
	t.Parallel()
	written := began(1)
	written.Round = &round.Round{ID: roundID(1), Group: zinc, At: day(0)}
	events := list(at(day(1), written), at(day(2), began(1), ended(night1, verdict.Fail), began(2)), at(day(3), began(1)))
	m := foldAt(day(9), events)
	if m.Tries(roundID(1)) != 3 || m.Tries(roundID(2)) != 1 || m.Tries(roundID(3)) != 0 || !m.LastBegan.Equal(day(3)) {
		t.Errorf("tries %v", m.tries)
	}
	m = foldAt(day(9), events, at(day(4), Event{Kind: Retry, Group: zinc, By: "x"}), at(day(5), began(1)))
	if m.Tries(roundID(1)) != 1 || m.Tries(roundID(2)) != 0 || !m.Retried.Equal(day(4)) {
		t.Errorf("after retry %v", m.tries)
	}
	r := m.Round(roundID(1))
	if r == nil || !r.At.Equal(day(0)) || r.Count != 4 || r.Round == nil {
		t.Errorf("round %+v", r)
	}
	if r := m.Round(roundID(2)); !r.At.Equal(day(2)) || m.Round(roundID(3)) != nil {
		t.Errorf("round %+v", r)
	}
}

// What a machine or a network did to a try says nothing against its round, and
// one that was proposed is no failure.
func TestTriesThatDoNotCount(t *testing.T) {
	t.Parallel()
	for v, want := range map[verdict.Verdict]int{
		verdict.Fail: 1, verdict.Conflict: 1, verdict.Held: 1, verdict.Infra: 0, verdict.Pass: 0, verdict.Skipped: 0,
	} {
		m := foldAt(day(9), at(day(1), began(1), ended(night1, v), ended(night1, v)))
		if got := m.Tries(roundID(1)); got != want {
			t.Errorf("ended %s: %d tries, want %d", v, got, want)
		}
	}
	m := foldAt(day(9), at(day(1), began(1), ended("another", verdict.Infra)))
	if m.Tries(roundID(1)) != 1 {
		t.Error("another night took a try back")
	}
}

func TestProposal(t *testing.T) {
	t.Parallel()
	const other = "2222222222222222222222222222222222222222"
	done := func(n int, commit string) Event {
		e := Event{Kind: Done, Group: zinc, Night: night1, Commit: commit}
		if n > 0 {
			e.RoundID = roundID(n)
		}
		return e
	}
	for _, x := range []struct {
		name         string
		events       []Event
		open, merged string // round ids' last digits
	}{
		{"none", nil, "", ""},
		{"open", []Event{proposed(1, commit1)}, "1", ""},
		{"replaced", []Event{proposed(1, commit1), proposed(2, other)}, "2", ""},
		{"merged by round", []Event{proposed(1, commit1), done(1, other)}, "", "1"},
		{"merged by commit", []Event{proposed(1, commit1), done(0, string(commit1))}, "", "1"},
		{"merged, whichever", []Event{proposed(1, commit1), done(0, "")}, "", "1"},
		{"an earlier one was merged", []Event{proposed(1, commit1), proposed(2, other), done(1, string(commit1))}, "2", "1"},
		{"merged without a proposal", []Event{done(3, other)}, "", "3"},
	} {
		t.Run(x.name, func(t *testing.T) {
			m := foldAt(day(9), at(day(1), x.events...))
			id := func(p *Proposal) string {
				if p == nil {
					return ""
				}
				return p.RoundID[15:]
			}
			if id(m.Proposal) != x.open || id(m.Merged) != x.merged {
				t.Errorf("open %+v, merged %+v", m.Proposal, m.Merged)
			}
		})
	}
}

func TestHandedOnAndPushing(t *testing.T) {
	t.Parallel()
	const other = "2222222222222222222222222222222222222222"
	handed := func(night string, n int) Event {
		return Event{Kind: Handed, Night: night, Group: zinc, RoundID: roundID(n), Digest: fmt.Sprintf("%064x", n)}
	}
	pushing := proposed(1, commit1)
	pushing.Kind = Pushing
	for _, x := range []struct {
		name    string
		events  []Event
		handed  int // round; 0: none
		pushing bool
	}{
		{"none", nil, 0, false},
		{"handed on", []Event{began(1), handed(night1, 1)}, 1, false},
		{"handed on again", []Event{handed("n0", 1), handed(night1, 2)}, 2, false},
		{"ended", []Event{handed(night1, 1), ended(night1, verdict.Fail)}, 0, false},
		{"another night ended", []Event{handed("n0", 1), handed(night1, 2), ended("n0", verdict.Fail)}, 2, false},
		{"killed while pushing", []Event{handed(night1, 1), pushing}, 1, true},
		{"ended without knowing", []Event{handed(night1, 1), pushing, ended(night1, verdict.Infra)}, 0, true},
		{"pushed", []Event{handed(night1, 1), pushing, proposed(1, commit1), ended(night1, verdict.Pass)}, 0, false},
		{"about to push another", []Event{proposed(2, other), pushing}, 0, true},
	} {
		t.Run(x.name, func(t *testing.T) {
			m := foldAt(day(9), at(day(1), x.events...))
			if (m.Handed != nil) != (x.handed > 0) || m.Handed != nil && (m.Handed.RoundID != roundID(x.handed) || m.Handed.Digest != fmt.Sprintf("%064x", x.handed)) {
				t.Errorf("handed %+v", m.Handed)
			}
			if (m.Pushing != nil) != x.pushing || m.Pushing != nil && (m.Pushing.Commit != string(commit1) || m.Pushing.Branch != "bump/zinc") {
				t.Errorf("pushing %+v", m.Pushing)
			}
		})
	}
}

func TestNights(t *testing.T) {
	t.Parallel()
	var events []Event
	for i := range 40 {
		night := fmt.Sprintf("n%d", i)
		claim := Event{Kind: Claimed, Night: night, Group: zinc, Owner: "0123456789abcdef"}
		b := began(i)
		b.Night = night
		events = append(events, at(day(i), claim, b)...)
		if i != 39 { // the last one was killed
			e := ended(night, verdict.Held)
			e.Gates = []Gate{{Name: "build", Verdict: verdict.Pass}}
			events = append(events, at(day(i, time.Hour), ended(night, verdict.Infra), e)...)
		}
	}
	m := foldAt(day(50), events)
	if len(m.Nights) != keptNights || m.Nights[0].ID != "n10" {
		t.Fatalf("%d nights from %s", len(m.Nights), m.Nights[0].ID)
	}
	last := m.Nights[keptNights-1]
	if last.ID != "n39" || last.Ended || last.Verdict != "" || last.RoundID != roundID(39) || m.Claim == nil || m.Claim.Night != "n39" {
		t.Errorf("killed: %+v, claim %+v", last, m.Claim)
	}
	e := m.LastEnded()
	if e == nil || e.ID != "n38" || e.Verdict != verdict.Held || len(e.Gates) != 1 || !e.At.Equal(day(38, time.Hour)) {
		t.Errorf("ended: %+v", e)
	}
	// A run that lost its claim does not end another's.
	m = foldAt(day(50), events, at(day(45), ended("n38", verdict.Fail)))
	if m.Claim == nil {
		t.Error("the claim of another night was ended")
	}
	m = foldAt(day(50), events, at(day(45), ended("n39", verdict.Fail)))
	if m.Claim != nil {
		t.Error("the claim is still open")
	}
}

// A wrong clock makes a version look younger, never older.
func TestClockGoesWrong(t *testing.T) {
	t.Parallel()
	now := day(20)
	for _, x := range []struct {
		name   string
		events []Event
		want   time.Time // first seen of 2
	}{
		{"right", list(at(day(10), sight("1", "1")), at(day(12), sight("1", "2"))), day(12)},
		{"backwards", list(at(day(10), sight("1", "1")), at(day(-300), sight("1", "2"))), day(10)},
		{"backwards and right again", list(at(day(10), sight("1", "1")), at(day(3), sight("1", "2")), at(day(15), sight("1", "2"))), day(10)},
		{"ahead", list(at(day(10), sight("1", "1")), at(day(3000), sight("1", "2"))), now},
		{"ahead and right again", list(at(day(3000), sight("1", "2")), at(day(15), sight("1", "2"))), day(15)},
		{"ahead twice", list(at(day(4000), sight("1", "1")), at(day(3000), sight("1", "2")), at(day(11), sight("1", "3"))), day(11)},
		{"a little ahead, now past", list(at(day(19), sight("1", "1")), at(day(13), sight("1", "2"))), day(19)},
	} {
		t.Run(x.name, func(t *testing.T) {
			if got, _ := foldAt(now, x.events).FirstSeen(zinc, v("2")); !got.Equal(x.want) {
				t.Errorf("first seen %s, want %s", got, x.want)
			}
		})
	}
	// Our own clock stands in the past: nothing has any age.
	m := foldAt(day(-3000), at(day(1), sight("1", "2")), at(day(2), sight("1", "3")))
	if got, _ := m.FirstSeen(zinc, v("2")); !got.Equal(day(-3000)) {
		t.Errorf("first seen %s", got)
	}
}

// Two sources are told apart by time, each keeps its own order.
func TestFoldOfTwoSources(t *testing.T) {
	t.Parallel()
	branch := list(at(day(1), sight("1", "2")), at(day(5), sight("1", "3")))
	own := list(at(day(3), sight("1", "8")), at(day(2), sight("1", "7")), at(day(7), sight("1", "9")))
	m := fold(zinc, day(9), branch, own)
	if got := newest(m.Sightings); got != "2 8 7 3 9 " {
		t.Errorf("sightings %s", got)
	}
	if got, _ := m.FirstSeen(zinc, v("7")); !got.Equal(day(3)) {
		t.Errorf("first seen %s", got)
	}
}

// A try that was killed counts when its gates may have been why.
func TestKilledTries(t *testing.T) {
	t.Parallel()
	begin := func(night string) []Event {
		e := began(1)
		e.Night = night
		return []Event{{Kind: Claimed, Night: night, Group: zinc, Owner: "0123456789abcdef"}, e}
	}
	handed := func(night string) []Event {
		return append(begin(night), Event{Kind: Handed, Night: night, Group: zinc, RoundID: roundID(1), Digest: fmt.Sprintf("%064x", 1)})
	}
	end := func(night string, v verdict.Verdict) []Event { return []Event{ended(night, v)} }
	for _, x := range []struct {
		name   string
		events []Event
		want   int
	}{
		{"at work", begin("n1"), 1},
		{"killed while it fetched, three times", list(begin("n1"), begin("n2"), begin("n3")), 1},
		{"killed in its gates, three times", list(handed("n1"), handed("n2"), handed("n3")), 3},
		{"killed, then failed", list(begin("n1"), begin("n2"), end("n2", verdict.Fail)), 1},
		{"killed in its gates, then failed", list(handed("n1"), handed("n2"), end("n2", verdict.Fail)), 2},
		{"failed, then killed, then claimed", list(handed("n1"), end("n1", verdict.Fail), begin("n2"), begin("n3")[:1]), 1},
		{"ended late", list(begin("n1"), begin("n2"), end("n1", verdict.Infra), end("n2", verdict.Fail)), 1},
	} {
		t.Run(x.name, func(t *testing.T) {
			if got := foldAt(day(9), at(day(1), x.events...)).Tries(roundID(1)); got != x.want {
				t.Errorf("%d tries, want %d", got, x.want)
			}
		})
	}
}
