// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package nightly

import (
	"slices"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/nightly/ledger"
	"github.com/1bit-MONSTER/engine/pipelines/round"
	"github.com/1bit-MONSTER/engine/pipelines/round/gate"
)

// A Report is what a phase, or a whole night, came to. The file night.json of
// a hand-off is one: the resolving phase writes it, the others read it.
type Report struct {
	Schema int           `json:"schema"`
	Night  string        `json:"night"`
	Mode   round.Mode    `json:"mode"`
	Base   git.ID        `json:"base"` // the commit of main that it stands on
	Notes  []string      `json:"notes,omitempty"`
	Groups []GroupReport `json:"groups"`
}

// A GroupReport is what a night came to for one group.
type GroupReport struct {
	Group   string          `json:"group"`
	State   State           `json:"state"` // where it stands
	Verdict verdict.Verdict `json:"verdict"`
	Why     string          `json:"why,omitempty"`
	Round   string          `json:"round,omitempty"`
	Moves   []string        `json:"moves,omitempty"` // "zinc: c50b4add… -> 3a35e76d…"
	Try     int             `json:"try,omitempty"`
	// Handed says that the folder of the group's name is there for its gates.
	Handed bool          `json:"handed,omitempty"`
	Gates  []ledger.Gate `json:"gates,omitempty"`
	Branch string        `json:"branch,omitempty"`
	Commit git.ID        `json:"commit,omitempty"`
	Draft  []string      `json:"draft,omitempty"` // why the proposal is a draft
}

// Verdict is that of all groups.
func (r *Report) Verdict() verdict.Verdict {
	var all []verdict.Verdict
	for _, g := range r.Groups {
		all = append(all, g.Verdict)
	}
	return verdict.Worst(all...)
}

// Group returns the report on a group, or nil.
func (r *Report) Group(name string) *GroupReport {
	for i := range r.Groups {
		if r.Groups[i].Group == name {
			return &r.Groups[i]
		}
	}
	return nil
}

// gated takes over what gates found.
func (g *GroupReport) gated(results []gate.Result) {
	g.Gates = nil
	for _, r := range results {
		g.Gates = append(g.Gates, ledger.Gate{Name: r.Gate, Verdict: r.Verdict, Why: inert.Line(r.Why, 300), Seconds: r.Seconds})
	}
}

// note adds sentences about the whole night, each once.
func (r *Report) note(notes ...string) {
	for _, n := range notes {
		if !slices.Contains(r.Notes, n) {
			r.Notes = append(r.Notes, n)
		}
	}
}
