// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package nightly

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/nightly/ledger"
	"github.com/1bit-MONSTER/engine/pipelines/nightly/page"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

// A Line is one fact of a story.
type Line struct {
	What string `json:"what"`
	Text string `json:"text"`
}

// Explain is the whole story of a group in about ten lines: where it is, what
// is newest, what holds it, what was tried, and what a person can do.
func (n *Night) Explain(ctx context.Context, name string) ([]Line, error) {
	list, err := groupsNamed(n.all, []string{name})
	if err != nil {
		return nil, err
	}
	g := &list[0]
	if err := n.openLedger(ctx); err != nil {
		return nil, err
	}
	m, err := n.ledger.Memory(ctx, g.Name)
	if err != nil {
		return nil, err
	}
	var lines []Line
	say := func(what, format string, args ...any) {
		lines = append(lines, Line{what, inert.Line(fmt.Sprintf(format, args...), 500)})
	}
	if err := n.ledger.Unknown(); err != nil {
		say("state", "unknown: %s", err)
	}
	for _, p := range g.Members {
		row, locked := member(p, m), round.VersionOf(p.Lock)
		switch {
		case row.Newest == "":
			say(p.Name, "%s; no night has looked at it yet", locked)
		case row.UpToDate:
			say(p.Name, "%s, the newest", locked)
		default:
			say(p.Name, "%s; the newest is %s, first seen %s%s", locked, m.Pins[p.Name].Newest, moment(row.NewestSeen), behind(row.Behind))
		}
		if p.Hold.Active(n.now()) {
			until := ""
			if p.Hold.Until != "" {
				until = " until " + string(p.Hold.Until)
			}
			say("held", "%s%s: %s", p.Name, until, p.Hold.Reason)
		}
	}
	if why := n.stopped(g.Name); why != "" {
		say("stopped", "%s", why)
	}
	n.story(g, m, say)
	return lines, nil
}

// story tells what nights made of the group.
func (n *Night) story(g *Group, m *ledger.Memory, say func(what, format string, args ...any)) {
	if since, stuck := m.StuckSince(); stuck {
		word := "behind"
		if page.Overdue(since, n.now(), n.policy.AlarmAfter) != nil {
			word = "alarm"
		}
		say(word, "upstream moved on %s and the pin has not since", moment(since))
	}
	if a := page.Unseen(unseen(m), n.now(), n.policy.AlarmAfter); a != nil {
		say("alarm", "%s", a.Text)
	}
	if c := m.Claim; c != nil {
		say("working", "night %s works on it since %s", c.Night, moment(c.At))
	}
	e := m.LastEnded()
	if e == nil {
		say("nights", "none has ended for it yet: 'dist nightly run %s' tries one, and touches nothing but the cache", g.Name)
		return
	}
	say("last night", "%s, %s in state %q%s", moment(e.At), e.Verdict, e.State, reason(e.Why))
	if e.RoundID != "" {
		say("round", "%s, try %d of %d", e.RoundID, e.Try, n.policy.Tries)
	}
	for _, x := range e.Gates {
		if x.Verdict != verdict.Pass {
			say("gate "+x.Name, "%s%s", x.Verdict, reason(x.Why))
		}
	}
	if p := m.Proposal; p != nil {
		draft := ""
		if p.Draft {
			draft = ", as a draft"
		}
		say("proposal", "%s on %s%s: review and merge branch %s", git.ID(p.Commit).Short(), moment(p.At), draft, p.Branch)
	}
	if next := advice(e, g.Name); next != "" {
		say("next", "%s", next)
	}
}

// advice is what a person can do about how the last night ended.
func advice(e *ledger.Night, group string) string {
	switch {
	case e.Verdict == verdict.Conflict:
		return "a patch needs a person: 'dist patches rebase', then 'edit --onto', see docs/patches.md"
	case State(e.State) == Throttle:
		return "mend what failed, then 'dist nightly retry " + group + "'"
	case e.Verdict == verdict.Infra:
		return "nothing: the next night tries again, and this one counts for nothing"
	case e.Verdict == verdict.Fail:
		return "look at the logs of that night; 'dist hold " + group + " --reason …' keeps it from being tried"
	}
	return ""
}

func moment(t time.Time) string {
	if t.IsZero() {
		return "at an unknown time"
	}
	return t.UTC().Format("2006-01-02 15:04")
}

func behind(words string) string {
	if words == "" {
		return ""
	}
	return ", " + words + " behind"
}

func reason(why string) string {
	if why == "" {
		return ""
	}
	return ": " + strings.TrimSuffix(why, ".")
}
