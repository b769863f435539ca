// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"slices"
	"time"

	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

// keptNights is how many nights a Memory tells of.
const keptNights = 30

// A Memory is what the events of one group come to. Its strings are what the
// branch says: untrusted, to be made inert before they are shown.
//
// Its times are those of the events, corrected for clocks that went wrong: none
// is before that of an event that was written earlier, and none is in the
// future. So a wrong clock makes a version look younger, never older.
type Memory struct {
	Group     string          `json:"group"`
	Sightings []Sighting      `json:"sightings,omitempty"` // oldest first
	Pins      map[string]*Pin `json:"pins,omitempty"`      // the members at the last sighting
	Claim     *Claim          `json:"claim,omitempty"`     // the open one
	Nights    []Night         `json:"nights,omitempty"`    // the last 30 that had to do with the group, oldest first
	Handed    *Handoff        `json:"handed,omitempty"`    // what the first phase handed on last, until its night Ended
	Pushing   *Proposal       `json:"pushing,omitempty"`   // what was about to be pushed last, until something is Proposed
	Proposal  *Proposal       `json:"proposal,omitempty"`  // the open one: neither done nor replaced
	Merged    *Proposal       `json:"merged,omitempty"`    // the last one that is on main
	Retried   time.Time       `json:"retried,omitzero"`    // when a person last asked for it
	LastBegan time.Time       `json:"last-began,omitzero"` // the last try of any round
	Events    int             `json:"events"`

	first  map[seen]time.Time
	tries  map[string]int // by round id, since the last Retry
	trying trying         // the try that has not ended
	tried  map[string]*Tried
	from   int // the first sighting that counts for Since
}

// seen is what age is counted of.
type seen struct{ pin, id, name string }

// A Sighting is a time in which the group's newest versions were the same.
type Sighting struct {
	First   time.Time `json:"first"`
	Last    time.Time `json:"last"`
	Members []Sight   `json:"members"` // as they were seen last
}

// A Pin is how one member stood at the last sighting.
type Pin struct {
	Locked      round.Version `json:"locked"`
	Newest      round.Version `json:"newest"`
	Behind      string        `json:"behind,omitempty"` // in words
	LockedSince time.Time     `json:"locked-since"`     // as far as sightings go back
	BehindSince time.Time     `json:"behind-since,omitzero"`
}

// A Claim says who works on the group.
type Claim struct {
	Owner string    `json:"owner"`
	Night string    `json:"night"`
	At    time.Time `json:"at"`

	dated time.Time // what its own clock said
}

// A Night is what one run came to for the group.
type Night struct {
	ID    string    `json:"id"`
	At    time.Time `json:"at"`    // of its last event
	Ended bool      `json:"ended"` // false: it still runs, or was killed
	// RoundID and Try are set where a try began.
	RoundID string          `json:"round-id,omitempty"`
	Try     int             `json:"try,omitempty"`
	State   string          `json:"state,omitempty"`
	Verdict verdict.Verdict `json:"verdict,omitempty"`
	Why     string          `json:"why,omitempty"`
	Gates   []Gate          `json:"gates,omitempty"`
}

// A Handoff is what one phase handed on to the next.
type Handoff struct {
	RoundID string    `json:"round-id"`
	Digest  string    `json:"digest"` // sha256 of round.json, hex
	Night   string    `json:"night"`
	At      time.Time `json:"at"`
}

// A Proposal is a branch with a proposed commit.
type Proposal struct {
	Branch string `json:"branch,omitempty"`
	Commit string `json:"commit"`
	// Round is what is proposed, without locks: of the round of RoundID, or half of
	// it. It may be nil.
	Round   *round.Round `json:"round,omitempty"`
	RoundID string       `json:"round-id,omitempty"`
	Night   string       `json:"night,omitempty"`
	Draft   bool         `json:"draft,omitempty"`
	At      time.Time    `json:"at"`
}

// A Tried is a round that was begun at least once.
type Tried struct {
	ID string
	// At is when the round was first written down: what round.Round.At must be
	// again, so that the same commits come of it.
	At    time.Time
	Round *round.Round // as first begun, without locks; nil where it was not written
	Count int          // tries in all, those before a Retry too
}

// FirstSeen returns when exactly this version was first seen under this name
// as the newest one. Through which commit of an integration repository it came
// (Version.Via) does not count.
func (m *Memory) FirstSeen(pin string, v round.Version) (time.Time, bool) {
	t, ok := m.first[seen{pin, v.ID, v.Name}]
	return t, ok
}

// Last returns the last sighting, nil when there was none.
func (m *Memory) Last() *Sighting {
	if len(m.Sightings) == 0 {
		return nil
	}
	return &m.Sightings[len(m.Sightings)-1]
}

// Since returns the sightings, newest first, that are known to be newer than
// what is locked: those after the last one that showed the locked versions, or
// after the lock moved to something that was never the newest. Where Last is
// too young, one of the others may be old enough. Nothing says that an upstream
// still stands by it: whoever takes it must look.
func (m *Memory) Since() []Sighting {
	list := slices.Clone(m.Sightings[min(m.from, len(m.Sightings)):])
	slices.Reverse(list)
	return list
}

// Tries returns how often a round was tried since a person last said Retry. One
// that ended because of a machine or a network does not count, nor one that was
// proposed, nor one that was killed before its gates; one whose gates began and
// that never ended does.
func (m *Memory) Tries(roundID string) int { return m.tries[roundID] }

// Round returns what is known of a round that was begun, else nil.
func (m *Memory) Round(roundID string) *Tried { return m.tried[roundID] }

// LastEnded returns the last night that came to an end, nil when there is none
// among those kept.
func (m *Memory) LastEnded() *Night {
	for i := len(m.Nights) - 1; i >= 0; i-- {
		if m.Nights[i].Ended {
			return &m.Nights[i]
		}
	}
	return nil
}

// StuckSince returns since when the group could have moved and has not: since
// when some member's newest version has been another than the locked one,
// without a sighting in between where it was not, and counted anew whenever that
// member's lock moved. ok is false where nothing is behind.
func (m *Memory) StuckSince() (earliest time.Time, ok bool) {
	for _, p := range m.Pins {
		if p.BehindSince.IsZero() {
			continue
		}
		t := p.BehindSince
		if p.LockedSince.After(t) {
			t = p.LockedSince
		}
		if !ok || t.Before(earliest) {
			earliest, ok = t, true
		}
	}
	return earliest, ok
}

// trying is a night's try of a round.
type trying struct {
	night, round string
	handed       bool // on to its gates
}
