// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package round is what a group of pins was found to be at one moment, and what
// becomes of it before it is proposed: it resolves, fetches, archives, hands on
// and prepares. It is for the nightly job and for people who look at one group.
//
// A round is written down before anything else happens. Nothing inside it asks
// an upstream again what is newest, so that all members of a group are seen at
// the same moment, and every phase works on the same versions.
package round

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/pins"
)

// Schema is the version of what Round and the folders of a hand-off look like.
const Schema = 1

// A Mode says what a night may touch.
type Mode string

// The modes. A dry run is what happens where nobody says otherwise.
const (
	DryRun  Mode = "dry-run" // nothing but the cache, and what it remembers there no live run reads
	Live    Mode = "run"     // the state branch, the archive and the proposals' branches
	Stopped Mode = "stopped" // nothing is begun
)

// A Round is one group at one moment.
type Round struct {
	Schema int    `json:"schema"`
	ID     string `json:"id"` // see Identify
	Group  string `json:"group"`
	Night  string `json:"night"` // the run that resolved it
	Mode   Mode   `json:"mode"`
	// At is when this very round was first written down. Proposed commits carry
	// this time, so that a run that starts again makes the same ones.
	At   time.Time `json:"at"`
	Try  int       `json:"try"`  // counted from 1
	Base git.ID    `json:"base"` // the commit of our main that it stands on
	// Mixed: only some members move, though the group's own rule is all or none.
	Mixed   bool     `json:"mixed,omitempty"`
	Members []Member `json:"members"`
	// Draft says why a proposal of this can only be a draft, a sentence each.
	Draft []string `json:"draft,omitempty"`
}

// A Member is one pin of a round.
type Member struct {
	Pin   string  `json:"pin"`
	Stack string  `json:"stack,omitempty"`
	From  Version `json:"from"`
	To    Version `json:"to"`
	// Ours is the sum of what is ours on main, the pin's file and the files of its
	// stack: part of what is tried, so that mending one of them counts anew.
	Ours string    `json:"ours,omitempty"`
	Seen time.Time `json:"seen"` // when To was first seen under this name
	// Lock describes To, verified, without what the patches make of it. It is
	// nil before the content was fetched, and for a member that stays.
	Lock  *pins.Lock `json:"lock,omitempty"`
	Notes []string   `json:"notes,omitempty"` // for people; inert
}

// Moves says whether the member goes to another version.
func (m *Member) Moves() bool { return m.From.ID != m.To.ID }

// A Version is one of an upstream's versions.
type Version struct {
	ID   string `json:"id"`             // commit, digest or version: what pins.Lock.ID returns
	Name string `json:"name,omitempty"` // as the upstream writes it; untrusted
	// Via is the commit of the integration repository that names ID.
	Via string `json:"via,omitempty"`
}

// Moves returns the members that go to another version.
func (r *Round) Moves() []*Member {
	var list []*Member
	for i := range r.Members {
		if r.Members[i].Moves() {
			list = append(list, &r.Members[i])
		}
	}
	return list
}

// Identify returns the round's id: 16 hex digits over what moves from where to
// where, our pin files and patches, and whether it is mixed. Moment, night, main's
// commit and try do not count, nor the commit of an integration repository that
// names the same versions again: the same step, tried again, is the same round.
func (r *Round) Identify() string {
	type member struct{ Pin, From, To, Ours string }
	x := struct {
		Group   string
		Mixed   bool
		Members []member
	}{Group: r.Group, Mixed: r.Mixed}
	for _, m := range r.Members {
		x.Members = append(x.Members, member{m.Pin, m.From.ID, m.To.ID, m.Ours})
	}
	data, _ := json.Marshal(x) // strings and a bool: it cannot fail
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// Stay makes members stay where they are, so that the others move without them:
// half of a group, which only a person may merge. The id changes.
func (r *Round) Stay(pins ...string) {
	for i := range r.Members {
		m := &r.Members[i]
		if slices.Contains(pins, m.Pin) && m.Moves() {
			m.To, m.Lock = m.From, nil
			r.Mixed = true
		}
	}
	r.ID = r.Identify()
}

// Without returns a copy of the round in which members stay. It is an error
// when they do not move, or when nothing would move then.
func (r *Round) Without(pins ...string) (*Round, error) {
	half := *r
	half.Members = slices.Clone(r.Members)
	half.Draft = slices.Clone(r.Draft)
	for _, pin := range pins {
		if !slices.ContainsFunc(r.Members, func(m Member) bool { return m.Pin == pin && m.Moves() }) {
			return nil, fmt.Errorf("%s does not move in round %s", pin, r.ID)
		}
	}
	half.Stay(pins...)
	if len(half.Moves()) == 0 {
		return nil, fmt.Errorf("nothing is left of round %s without %s", r.ID, strings.Join(pins, ", "))
	}
	half.Draft = append(half.Draft, "half of the group moves: "+strings.Join(pins, ", ")+" stays")
	return &half, nil
}

// Bare returns a copy without the locks, for a ledger: what identifies the
// round.
func (r *Round) Bare() *Round {
	bare := *r
	bare.Draft = nil
	bare.Members = slices.Clone(r.Members)
	for i := range bare.Members {
		bare.Members[i].Lock, bare.Members[i].Notes = nil, nil
	}
	return &bare
}
