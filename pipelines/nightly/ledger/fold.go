// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"slices"
	"time"

	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// settle gives each event the time that counts, in place. Events are in the
// order in which they were written, which no clock can change: none is taken to
// be older than one before it. A time that has not come yet is taken to be the
// next event's, or now. It returns the times that the events gave themselves.
func settle(events []Event, now time.Time) (dated []time.Time) {
	dated = make([]time.Time, len(events))
	var last time.Time
	for i := range events {
		e := &events[i]
		dated[i] = e.At
		switch {
		case e.At.After(now):
			e.At = time.Time{} // below
		case e.At.Before(last):
			e.At = last
		default:
			last = e.At
		}
	}
	next := now
	for i := len(events) - 1; i >= 0; i-- {
		if events[i].At.IsZero() {
			events[i].At = next
		}
		next = events[i].At
	}
	return dated
}

// fold makes a Memory of what the sources have to say about a group: the
// branch, and in a dry run what was only remembered here. Each source's events
// are in their order; between sources time decides.
func fold(group string, now time.Time, sources ...[]Event) *Memory {
	m := &Memory{Group: group, Pins: map[string]*Pin{}, first: map[seen]time.Time{}, tries: map[string]int{}, tried: map[string]*Tried{}}
	nights := &nights{at: map[string]int{}}
	dated := make([][]time.Time, len(sources))
	for i, events := range sources {
		dated[i] = settle(events, now)
	}
	at := make([]int, len(sources))
	for {
		next := -1
		for i, events := range sources {
			if at[i] < len(events) && (next < 0 || events[at[i]].At.Before(sources[next][at[next]].At)) {
				next = i
			}
		}
		if next < 0 {
			break
		}
		i := at[next]
		at[next]++
		m.add(&sources[next][i], dated[next][i], nights)
	}
	m.Nights = nights.last(keptNights)
	return m
}

// add takes one event more into the memory.
func (m *Memory) add(e *Event, dated time.Time, n *nights) {
	m.Events++
	switch e.Kind {
	case Sighted:
		m.sighted(e)
		n.touch(e)
	case Claimed:
		m.dropped(e.Night)
		m.Claim = &Claim{Owner: e.Owner, Night: e.Night, At: e.At, dated: dated}
		n.touch(e)
	case Began:
		m.dropped(e.Night)
		m.tries[e.RoundID]++
		m.trying = trying{night: e.Night, round: e.RoundID}
		m.LastBegan = e.At
		t := m.tried[e.RoundID]
		if t == nil {
			t = &Tried{ID: e.RoundID, At: e.At, Round: e.Round}
			if e.Round != nil && !e.Round.At.IsZero() {
				t.At = e.Round.At
			}
			m.tried[e.RoundID] = t
		}
		t.Count++
		night := n.touch(e)
		night.RoundID, night.Try = e.RoundID, e.Try
	case Handed:
		if m.trying.night == e.Night {
			m.trying.handed = true
		}
		m.Handed = &Handoff{RoundID: e.RoundID, Digest: e.Digest, Night: e.Night, At: e.At}
		n.touch(e)
	case Pushing:
		m.Pushing = proposal(e)
		n.touch(e)
	case Ended:
		if m.Handed != nil && m.Handed.Night == e.Night {
			m.Handed = nil
		}
		if m.Claim != nil && m.Claim.Night == e.Night {
			m.Claim = nil // a run that lost its claim does not end another's
		}
		m.counted(e)
		night := n.touch(e)
		night.Ended, night.State, night.Verdict, night.Why, night.Gates = true, e.State, e.Verdict, e.Why, e.Gates
		if e.RoundID != "" {
			night.RoundID, night.Try = e.RoundID, e.Try
		}
	case Proposed:
		m.Proposal, m.Pushing = proposal(e), nil
		n.touch(e)
	case Done:
		m.done(e)
	case Retry:
		m.Retried = e.At
		clear(m.tries)
		m.trying = trying{}
	}
}

// counted takes a try back that says nothing against the round: the machine or
// the network failed, or it was proposed.
func (m *Memory) counted(e *Event) {
	if m.trying.night != e.Night || m.trying.night == "" {
		return
	}
	switch e.Verdict {
	case verdict.Infra, verdict.Pass, verdict.Skipped:
		m.tries[m.trying.round]--
	}
	m.trying = trying{}
}

// dropped takes a try back that another night's run finds open and whose gates
// never began: it was killed while it fetched, which says nothing against the
// round. One that was killed in its gates counts, since they may be why.
func (m *Memory) dropped(night string) {
	if m.trying.night == "" || m.trying.night == night || m.trying.handed {
		return
	}
	m.tries[m.trying.round]--
	m.trying = trying{}
}

func proposal(e *Event) *Proposal {
	return &Proposal{Round: e.Round, Branch: e.Branch, Commit: e.Commit, RoundID: e.RoundID, Night: e.Night, Draft: e.Draft, At: e.At}
}

// done closes the open proposal, unless the event is about another one.
func (m *Memory) done(e *Event) {
	merged := proposal(e)
	if p := m.Proposal; p != nil {
		same := e.RoundID != "" && e.RoundID == p.RoundID || e.Commit != "" && e.Commit == p.Commit || e.RoundID == "" && e.Commit == ""
		if same {
			if merged.Commit == "" {
				merged.Commit = p.Commit
			}
			merged.Branch, merged.RoundID, merged.Draft = p.Branch, p.RoundID, p.Draft
			m.Proposal = nil
		}
	}
	m.Merged = merged
}

func (m *Memory) sighted(e *Event) {
	last := m.Last()
	if last != nil && sameNewest(last.Members, e.Members) {
		m.relocked(last.Members, e.Members)
		last.Last, last.Members = e.At, e.Members
	} else {
		m.Sightings = append(m.Sightings, Sighting{First: e.At, Last: e.At, Members: e.Members})
		if last != nil {
			m.relocked(m.Sightings[len(m.Sightings)-2].Members, e.Members)
		}
	}
	if shows(e.Members, e.Members) {
		m.from = len(m.Sightings) // nothing is to move
	}
	pins := make(map[string]*Pin, len(e.Members))
	for _, s := range e.Members {
		if k := (seen{s.Pin, s.Newest.ID, s.Newest.Name}); m.first[k].IsZero() {
			m.first[k] = e.At
		}
		p := &Pin{LockedSince: e.At}
		if old := m.Pins[s.Pin]; old != nil {
			p.BehindSince = old.BehindSince
			if old.Locked.ID == s.Locked.ID {
				p.LockedSince = old.LockedSince
			}
		}
		p.Locked, p.Newest, p.Behind = s.Locked, s.Newest, s.Behind
		switch {
		case s.Locked.ID == s.Newest.ID:
			p.BehindSince = time.Time{}
		case p.BehindSince.IsZero():
			p.BehindSince = e.At
		}
		pins[s.Pin] = p
	}
	m.Pins = pins
}

// relocked looks, when other versions are locked than before or the group has
// other members, for the last sighting that showed what is locked now. Where
// none did, all but the last may be older than the lock.
func (m *Memory) relocked(before, now []Sight) {
	same := slices.EqualFunc(before, now, func(a, b Sight) bool { return a.Pin == b.Pin && a.Locked.ID == b.Locked.ID })
	if same {
		return
	}
	for i := len(m.Sightings) - 1; i >= 0; i-- {
		if shows(m.Sightings[i].Members, now) {
			m.from = i + 1
			return
		}
	}
	m.from = len(m.Sightings) - 1
}

// shows tells whether the newest versions of a sighting are those that are
// locked in another one.
func shows(newest, locked []Sight) bool {
	return slices.EqualFunc(newest, locked, func(a, b Sight) bool { return a.Pin == b.Pin && a.Newest.ID == b.Locked.ID })
}

func sameNewest(a, b []Sight) bool {
	return slices.EqualFunc(a, b, func(a, b Sight) bool { return a.Pin == b.Pin && a.Newest == b.Newest })
}

// nights collects what each night did, in the order of their first events.
type nights struct {
	list []Night
	at   map[string]int // by id
}

func (n *nights) touch(e *Event) *Night {
	i, ok := n.at[e.Night]
	if !ok {
		i = len(n.list)
		n.at[e.Night] = i
		n.list = append(n.list, Night{ID: e.Night})
	}
	n.list[i].At = e.At
	return &n.list[i]
}

func (n *nights) last(most int) []Night {
	return slices.Clone(n.list[max(0, len(n.list)-most):])
}
