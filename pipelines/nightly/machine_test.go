// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package nightly

import (
	"slices"
	"testing"
)

var states = []State{Newest, Cooldown, Schedule, Hold, Reject, Throttle, Fetch, Archive, Rebase, Gates, Commit, Propose, Wait, Done}

// order is which phase may hand a state on to which.
var order = []Phase{PhaseResolve, PhaseGate, PhasePropose}

func TestEachStateIsReachedAndCanEnd(t *testing.T) {
	reached := map[State]bool{Newest: true}
	for changed := true; changed; {
		changed = false
		for _, x := range Transitions {
			if reached[x.From] && !reached[x.To] {
				reached[x.To], changed = true, true
			}
		}
	}
	for _, s := range states {
		if !reached[s] {
			t.Errorf("no way leads to %q", s)
		}
		if !slices.ContainsFunc(Transitions, func(x Transition) bool { return x.From == s && x.Ends() }) {
			t.Errorf("nothing ends in %q", s)
		}
	}
}

func TestTransitionsAreUnambiguousAndKnown(t *testing.T) {
	type key struct {
		phase Phase
		from  State
		on    Outcome
	}
	seen := map[key]bool{}
	for _, x := range Transitions {
		k := key{x.Phase, x.From, x.On}
		if seen[k] {
			t.Errorf("two ways on from %v", k)
		}
		seen[k] = true
		if !slices.Contains(states, x.From) || !slices.Contains(states, x.To) {
			t.Errorf("%v: a state that is not in the list", x)
		}
	}
}

// A phase never goes back to a state of an earlier one: secrets and upstream
// code stay apart because each command only walks its own part.
func TestPhasesFollowEachOther(t *testing.T) {
	first := map[State]int{}
	for _, x := range Transitions {
		at := slices.Index(order, x.Phase)
		if have, ok := first[x.From]; !ok || at < have {
			first[x.From] = at
		}
	}
	for _, x := range Transitions {
		if to, at := first[x.To], slices.Index(order, x.Phase); to < at && !x.Ends() && x.To != Wait {
			t.Errorf("%v goes back to phase %s", x, order[to])
		}
	}
}

// Whatever the outcomes are, a walk ends: a group goes round only where half of
// it was left out, which is possible once.
func TestOnlyMixedGoesBack(t *testing.T) {
	for _, x := range Transitions {
		if slices.Index(states, x.To) < slices.Index(states, x.From) && x.On != Mixed {
			t.Errorf("%v goes back", x)
		}
	}
}

func TestUnknownOutcomeIsAnError(t *testing.T) {
	if _, err := next(PhaseGate, Newest, Go); err == nil {
		t.Error("the gate phase may not resolve")
	}
}
