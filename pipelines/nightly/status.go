// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package nightly

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/nightly/ledger"
	"github.com/1bit-MONSTER/engine/pipelines/nightly/page"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

// Status is how every group stands, from the pins on main and what nights
// remember. It asks the state branch's remote and nobody else.
func (n *Night) Status(ctx context.Context) (*page.Page, error) {
	if err := n.openLedger(ctx); err != nil {
		return nil, err
	}
	memories, err := n.ledger.Memories(ctx)
	if err != nil {
		return nil, err
	}
	p := &page.Page{Made: n.now(), Mode: n.o.Mode, StateKnown: n.ledger.Unknown() == nil, Notes: n.ledger.Notes()}
	if err := n.ledger.Unknown(); err != nil {
		p.Notes = append(p.Notes, "state unknown: "+inert.Line(err.Error(), 300))
	}
	dry, err := n.ledger.DryRuns()
	if err != nil {
		return nil, err
	}
	if dry {
		p.Notes = append(p.Notes, "what dry runs on this machine remember is shown too: other machines do not have it")
	}
	if s := n.policy.Stopped; s != nil {
		p.Notes = append(p.Notes, "nights are stopped: "+inert.Line(s.Reason, 200))
	}
	for i := range n.groups {
		g := &n.groups[i]
		m := memories[g.Name]
		if m == nil {
			m = &ledger.Memory{Group: g.Name}
		}
		row := n.row(g, m)
		if e := m.LastEnded(); e != nil && (p.Night == "" || e.ID > p.Night) {
			p.Night = e.ID
		}
		p.Groups = append(p.Groups, row)
	}
	return p, nil
}

// row is one group of the page.
func (n *Night) row(g *Group, m *ledger.Memory) page.Group {
	row := page.Group{Name: g.Name}
	for _, p := range g.Members {
		row.Members = append(row.Members, member(p, m))
	}
	for _, e := range m.Nights {
		if e.Ended {
			row.Nights = append(row.Nights, page.Night{Date: e.At, Verdict: e.Verdict, Why: e.Why})
		}
	}
	if e := m.LastEnded(); e != nil {
		row.Verdict, row.State, row.Why = e.Verdict, e.State, e.Why
	}
	if why := n.stopped(g.Name); why != "" {
		row.Verdict, row.Why = verdict.Held, why
	}
	row.Alarm = n.alarm(g, m)
	if p := m.Proposal; p != nil {
		row.Proposal = &page.Proposal{Branch: p.Branch, Title: "round " + p.RoundID, Draft: p.Draft}
		if p.Round != nil {
			row.Proposal.Title = strings.Join(moves(p.Round), ", ")
		}
	}
	return row
}

// alarm is what is wrong with a group whatever the reason: it is behind for too
// long, or nobody knows for too long whether it is.
func (n *Night) alarm(g *Group, m *ledger.Memory) *page.Alarm {
	behind := slices.ContainsFunc(g.Members, func(p *pins.Pin) bool {
		known := m.Pins[p.Name] // what is on main may be newer than the last night
		return known != nil && known.Newest.ID != p.Lock.ID()
	})
	if since, stuck := m.StuckSince(); stuck && behind {
		if a := page.Overdue(since, n.now(), n.policy.AlarmAfter); a != nil {
			return a
		}
	}
	return page.Unseen(unseen(m), n.now(), n.policy.AlarmAfter)
}

// unseen is when the first of the nights ended that, up to the last one, could
// not tell what is newest; zero where the last one could.
func unseen(m *ledger.Memory) (since time.Time) {
	for _, e := range slices.Backward(m.Nights) {
		switch {
		case !e.Ended: // killed, or at work: it says nothing
		case State(e.State) == Newest && e.Verdict != verdict.Pass:
			since = e.At
		default:
			return since
		}
	}
	return since
}

func member(p *pins.Pin, m *ledger.Memory) page.Member {
	row := page.Member{Pin: p.Name}
	locked := round.VersionOf(p.Lock)
	if p.Lock != nil {
		row.Version, row.Commit, row.Dated = p.Lock.Version, p.Lock.ID(), p.Lock.Date
		row.Seen, _ = m.FirstSeen(p.Name, locked)
	}
	known := m.Pins[p.Name]
	if known == nil {
		return row
	}
	row.Newest, row.Behind = known.Newest.Name, known.Behind
	if row.Newest == "" {
		row.Newest = known.Newest.ID
	}
	row.UpToDate = known.Newest.ID == locked.ID
	row.NewestSeen, _ = m.FirstSeen(p.Name, known.Newest)
	return row
}

// Retry has the tries of a group counted anew, and what was declined proposed
// again. In a dry run only the dry runs of this machine know of it.
func (n *Night) Retry(ctx context.Context, group, by string) error {
	if _, err := n.group(group); err != nil {
		return err
	}
	if err := n.openLedger(ctx); err != nil {
		return err
	}
	return n.ledger.Append(ctx, ledger.Event{Kind: ledger.Retry, Night: n.id, Group: group, By: inert.Line(by, 100)})
}
