// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package nightly

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/nightly/ledger"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

// readReport reads what the first phase left; it went through machines that run
// upstream code. What it says of groups is only text: see takeOver.
func (n *Night) readReport(dir string) (*Report, error) {
	rep := &Report{}
	path := filepath.Join(dir, reportFile)
	err := round.ReadJSON(path, rep)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, verdict.Infraf("there is no %s: the first step did not end, or wrote to another folder", path)
	}
	if err != nil {
		return nil, err
	}
	switch {
	case rep.Schema != round.Schema:
		return nil, verdict.Failf("%s has schema %d, this is for %d", reportFile, rep.Schema, round.Schema)
	case rep.Mode != n.o.Mode:
		return nil, verdict.Usagef("that night was begun in mode %s: it goes on in that mode", inert.Quote(string(rep.Mode), 20))
	case rep.Base != n.base:
		return nil, verdict.Usagef("that night stands on commit %s, and %s is at %s: check that commit out", inert.Quote(string(rep.Base), 40), n.o.Repo, n.base.Short())
	}
	seen := map[string]bool{}
	for _, g := range rep.Groups {
		if _, err := n.group(g.Group); err != nil {
			return nil, err
		}
		if seen[g.Group] {
			return nil, verdict.Failf("%s has the group %s twice", reportFile, g.Group)
		}
		seen[g.Group] = true
	}
	rep.Notes = lines(rep.Notes)
	return rep, nil
}

// lines makes sentences inert.
func lines(list []string) []string {
	var out []string
	for _, s := range list {
		out = append(out, inert.Line(s, 500))
	}
	return out
}

// takeOver makes a report say of each group what the ledger says of it, which
// the gates cannot reach. A group counts as handed on when the ledger says so,
// also where the report leaves it out.
func (n *Night) takeOver(ctx context.Context, rep *Report) error {
	memories, err := n.ledger.Memories(ctx)
	if err != nil {
		return err
	}
	told := map[string]*GroupReport{}
	for i := range rep.Groups {
		told[rep.Groups[i].Group] = &rep.Groups[i]
	}
	var list []GroupReport
	for _, g := range n.all {
		m := memories[g.Name]
		if m == nil {
			m = &ledger.Memory{Group: g.Name}
		}
		was := told[g.Name]
		handed := m.Handed != nil && m.Handed.Night == n.id
		if was == nil && !handed {
			continue
		}
		list = append(list, *n.told(g.Name, m, was))
	}
	rep.Groups = list
	return nil
}

// told is what is known of a group before its gates are looked at: from the
// ledger, else from what a report says.
func (n *Night) told(group string, m *ledger.Memory, was *GroupReport) *GroupReport {
	g := &GroupReport{Group: group}
	i := slices.IndexFunc(m.Nights, func(x ledger.Night) bool { return x.ID == n.id })
	switch {
	case m.Handed != nil && m.Handed.Night == n.id:
		g.Handed, g.State, g.Round = true, Gates, m.Handed.RoundID
		if i >= 0 {
			g.Try = m.Nights[i].Try
		}
		if x := m.Round(g.Round); x != nil && x.Round != nil {
			g.Moves = moves(x.Round)
		}
	case i >= 0 && m.Nights[i].Ended: // an earlier phase, or an earlier run of this one
		x := m.Nights[i]
		g.State, g.Verdict, g.Why, g.Round, g.Try, g.Gates = State(inert.Line(x.State, 40)), x.Verdict, inert.Line(x.Why, 500), x.RoundID, x.Try, x.Gates
		for i := range g.Gates {
			g.Gates[i].Name, g.Gates[i].Why = inert.Line(g.Gates[i].Name, 40), inert.Line(g.Gates[i].Why, 300)
		}
		if r := m.Round(g.Round); r != nil && r.Round != nil {
			g.Moves = moves(r.Round)
		} else if was != nil { // a round that was never begun
			g.Moves = lines(was.Moves)
		}
		if p := m.Proposal; p != nil && p.RoundID == g.Round && g.Verdict == verdict.Pass {
			g.Branch, g.Commit = p.Branch, git.ID(p.Commit)
		}
	case was.Handed || was.Verdict == verdict.Pass:
		// Nothing is proposed that nobody wrote down, and nothing passed.
		g.State, g.Verdict = Gates, verdict.Infra
		g.Why = "the branch " + ledger.Branch + " does not say that night " + inert.Line(n.id, 100) + " handed this on: it lost that, or the folder is not that night's; the next night tries again"
	default: // another run works on it
		g.State, g.Verdict, g.Why = Newest, unpassed(was.Verdict), inert.Line(was.Why, 500)
	}
	return g
}
