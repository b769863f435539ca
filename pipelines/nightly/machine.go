// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package nightly

import (
	"fmt"
)

// A Phase is one of the three commands of a night. Each has other rights: see
// Night.Resolve, Gate and Propose.
type Phase string

// The phases.
const (
	PhaseResolve Phase = "resolve"
	PhaseGate    Phase = "gate"
	PhasePropose Phase = "propose"
)

// A State is where a group stands in a night.
type State string

// The states, in the order in which a group goes through them.
const (
	Newest   State = "newest known"
	Cooldown State = "cooldown"
	Schedule State = "schedule"
	Hold     State = "hold"
	Reject   State = "reject"
	Throttle State = "throttle"
	Fetch    State = "fetch and verify"
	Archive  State = "archive"
	Rebase   State = "rebase"
	Gates    State = "gates"
	Commit   State = "commit"
	Propose  State = "propose"
	Wait     State = "wait"
	Done     State = "done"
)

// An Outcome is what the work in a state came to. What ends a night early is
// the outcome stop; its verdict and reason are with the group.
type Outcome string

// The outcomes.
const (
	Go      Outcome = "go"      // on to the next state
	Stopped Outcome = "stop"    // here it ends for tonight
	Nothing Outcome = "nothing" // there is nothing to do
	Open    Outcome = "open"    // this very round is proposed already
	Mixed   Outcome = "mixed"   // half of the group may go: rebase again without the rest
)

// A Transition leads from a state to the next. A To that is From ends the night
// for the group, which stays there.
type Transition struct {
	Phase Phase
	From  State
	On    Outcome
	To    State
}

func (t Transition) String() string {
	return fmt.Sprintf("%s: %s, %s: %s", t.Phase, t.From, t.On, t.To)
}

// Ends says whether the night is over for the group.
func (t Transition) Ends() bool { return t.From == t.To }

// Transitions is the whole machine. A night begins in Newest: what it knows
// from earlier nights is in the ledger, and what it proposed is looked for on
// main first (Merged). A run that was killed begins there too.
var Transitions = []Transition{
	{PhaseResolve, Newest, Go, Cooldown},
	{PhaseResolve, Newest, Nothing, Done},
	{PhaseResolve, Newest, Stopped, Newest},
	{PhaseResolve, Cooldown, Go, Schedule},
	{PhaseResolve, Cooldown, Stopped, Cooldown},
	{PhaseResolve, Schedule, Go, Hold},
	{PhaseResolve, Schedule, Stopped, Schedule},
	{PhaseResolve, Hold, Go, Reject},
	{PhaseResolve, Hold, Stopped, Hold},
	{PhaseResolve, Reject, Go, Throttle},
	{PhaseResolve, Reject, Stopped, Reject},
	{PhaseResolve, Throttle, Go, Fetch},
	{PhaseResolve, Throttle, Open, Wait},
	{PhaseResolve, Throttle, Stopped, Throttle},
	{PhaseResolve, Fetch, Go, Archive},
	{PhaseResolve, Fetch, Stopped, Fetch},
	{PhaseResolve, Archive, Go, Rebase},
	{PhaseResolve, Archive, Stopped, Archive},
	{PhaseResolve, Wait, Stopped, Wait},
	{PhaseResolve, Done, Nothing, Done},
	{PhaseGate, Rebase, Go, Gates},
	{PhaseGate, Rebase, Stopped, Rebase},
	{PhaseGate, Gates, Go, Commit},
	{PhaseGate, Gates, Mixed, Rebase},
	{PhaseGate, Gates, Stopped, Gates},
	{PhaseGate, Commit, Go, Propose},
	{PhaseGate, Commit, Stopped, Commit},
	{PhasePropose, Propose, Go, Wait},
	{PhasePropose, Propose, Stopped, Propose},
	{PhasePropose, Wait, Stopped, Wait},
}

// next returns the transition that an outcome takes.
func next(phase Phase, from State, on Outcome) (Transition, error) {
	for _, t := range Transitions {
		if t.Phase == phase && t.From == from && t.On == on {
			return t, nil
		}
	}
	return Transition{}, fmt.Errorf("there is no way on from %q after %q in phase %s", from, on, phase)
}
