// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package proposal

import (
	"fmt"
	"slices"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/round"
	"github.com/1bit-MONSTER/engine/pipelines/round/gate"
)

// A Decision is what becomes of a round after its gates.
type Decision struct {
	Verdict verdict.Verdict `json:"verdict"`         // pass: it is proposed
	Why     string          `json:"why,omitempty"`   // of a verdict that is not pass; inert
	Draft   []string        `json:"draft,omitempty"` // why it can only be a draft, a sentence each; inert
}

// mostWhy is the longest reason, in characters.
const mostWhy = 400

// Decide says what becomes of a round. What the gates are asked for is
// [gate.Decision]'s; a round has reasons of its own to be only a draft.
func Decide(r *round.Round, report *Report, results []gate.Result) Decision {
	var d Decision
	var gates []string
	d.Verdict, gates = gate.Decision(results)
	if d.Verdict == verdict.Pass && !report.applies() {
		d.Verdict, d.Why = verdict.Conflict, "the patches do not all apply, and no gate says so"
	}
	if d.Verdict != verdict.Pass && d.Why == "" {
		var why []string
		for _, x := range results {
			if x.Verdict == d.Verdict {
				why = append(why, strings.TrimSuffix(x.Gate+": "+x.Why, ": "))
			}
		}
		if d.Why = inert.Line(strings.Join(why, "; "), mostWhy); d.Why == "" {
			d.Why = "no gate was run"
		}
	}
	add := func(text string) {
		if text = inert.Line(text, mostWhy); !slices.Contains(d.Draft, text) {
			d.Draft = append(d.Draft, text)
		}
	}
	for _, text := range r.Draft {
		add(text)
	}
	// The resolving phase writes these reasons into the round too.
	if r.Mixed && !slices.ContainsFunc(r.Draft, func(s string) bool { return strings.Contains(s, " of the group moves") }) {
		add("only a part of the group moves")
	}
	for _, m := range r.Moves() {
		if m.Lock != nil && m.Lock.ViaMirror != nil {
			add(fmt.Sprintf("%s was read through a mirror that stands in for %s", m.Pin, m.Lock.ViaMirror.StandsIn))
		}
	}
	for _, text := range gates {
		if _, why, _ := strings.Cut(text, ": "); !slices.Contains(d.Draft, why) { // the archive gate says what the round says
			add(text)
		}
	}
	return d
}
