// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package ledger is what nights remember: events, only ever added to, as lines
// of JSON on the orphan branch nightly-state. It is for the nightly job; people
// read it with 'dist nightly status' and 'explain', or with git.
//
// Losing it may delay a bump, since first sights and tries are counted anew; it
// never moves a wrong one, since no event says that something may be skipped
// that a gate would look at.
package ledger

import (
	"time"

	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

// A Kind says what happened.
type Kind string

// The kinds.
const (
	// Sighted: the group was resolved, and this is what its members are. It is
	// written when that is something else than at the last sighting, and once a
	// night besides.
	Sighted Kind = "sighted"
	// Claimed: a run works on the group. Others leave it alone until the run
	// has Ended, or the claim is too old.
	Claimed Kind = "claimed"
	// Began: a try of a round.
	Began Kind = "began"
	// Handed: the first phase is through, and hands a folder on whose round.json
	// has this digest; the last phase takes no other.
	Handed Kind = "handed"
	// Pushing: this commit is about to be pushed, so that a run that is killed
	// then knows its own commit again.
	Pushing Kind = "pushing"
	// Ended: what a run came to for a group: its state, verdict and reason. It
	// ends the claim, and the try if one began.
	Ended Kind = "ended"
	// Proposed: a proposal was written or pushed: its branch and commit.
	Proposed Kind = "proposed"
	// Done: the proposal is on main.
	Done Kind = "done"
	// Retry: a person wants tries to be counted anew.
	Retry Kind = "retry"
)

// An Event is one line. Which fields are set depends on its kind.
type Event struct {
	Kind  Kind      `json:"kind"`
	At    time.Time `json:"at"`
	Night string    `json:"night"` // id of the run
	Group string    `json:"group"`

	Owner   string          `json:"owner,omitempty"`   // claimed: the machine's cache that works on it
	Members []Sight         `json:"members,omitempty"` // sighted
	Round   *round.Round    `json:"round,omitempty"`   // began, proposed; it is written without locks
	RoundID string          `json:"round-id,omitempty"`
	Try     int             `json:"try,omitempty"`
	Digest  string          `json:"digest,omitempty"` // handed: sha256 of round.json, hex
	State   string          `json:"state,omitempty"`  // ended: where the group stands
	Verdict verdict.Verdict `json:"verdict,omitempty"`
	Why     string          `json:"why,omitempty"`
	Gates   []Gate          `json:"gates,omitempty"`  // ended
	Branch  string          `json:"branch,omitempty"` // proposed
	Commit  string          `json:"commit,omitempty"` // proposed, done
	Draft   bool            `json:"draft,omitempty"`  // proposed
	By      string          `json:"by,omitempty"`     // retry
}

// A Sight is one member as it was seen.
type Sight struct {
	Pin    string        `json:"pin"`
	Locked round.Version `json:"locked"` // on main
	Newest round.Version `json:"newest"`
	// Behind says how far Locked is behind Newest, in words: "42 commits".
	Behind string `json:"behind,omitempty"`
}

// A Gate is how one gate of a try ended.
type Gate struct {
	Name    string          `json:"name"`
	Verdict verdict.Verdict `json:"verdict"`
	Why     string          `json:"why,omitempty"`
	Seconds float64         `json:"seconds,omitempty"`
}
