// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"fmt"
	"strings"
	"time"
)

// Line shows an upstream commit on a terminal.
func (u *UpstreamCommit) Line() string {
	s := fmt.Sprintf("%s %s (%s, %s", u.ID.Short(), u.Subject, u.Author, u.Date.Format(time.DateOnly))
	if u.PullRequest != "" {
		s += ", pull request " + u.PullRequest
	}
	return s + ")"
}

// Behind is what stands behind an outcome, for a column of a table.
func (p *PatchResult) Behind() string {
	switch {
	case p.Guilty != nil && p.Guilty.Commit != nil:
		return "broken by " + p.Guilty.Commit.Line()
	case p.Guilty != nil:
		return p.Guilty.Why
	case len(p.Needs) > 0:
		return "needs " + strings.Join(p.Needs, ", ")
	case p.Upstream != nil:
		return p.Upstream.Line()
	case p.Reverted != nil:
		return "taken back by " + p.Reverted.Line()
	case len(p.Misplaced) > 0:
		return fmt.Sprintf("%s line %d: in %s", p.Misplaced[0].Path, p.Misplaced[0].Line, orTop(p.Misplaced[0].After))
	case len(p.Duplicates) > 0:
		d := p.Duplicates[0]
		return fmt.Sprintf("twice: %s line %d and %s line %d", d.Path, d.Line, d.Other, d.OtherRow)
	case len(p.Followed) > 0:
		return "followed " + p.Followed[0].From + " to " + p.Followed[0].To
	case len(p.Settlements) > 0:
		return "settled by " + p.Settlements[0].By
	}
	return ""
}

func orTop(heading string) string {
	if heading == "" {
		return "no function"
	}
	return heading
}

// Details is what a person needs to look at a patch that is red, in lines for a
// terminal; it is empty for the others.
func (p *PatchResult) Details() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, "  "+format+"\n", args...) }
	for _, f := range p.Files {
		line("in conflict: %s", show(f))
	}
	for _, m := range p.Messages {
		line("%s", m)
	}
	if g := p.Guilty; g != nil {
		if g.Commit != nil {
			line("a commit that breaks it: %s", g.Commit.Line())
			line("  of %d on upstream's main line, found with %d merges", g.Searched, g.Merges)
			if g.Alone {
				line("  looked at without the patches before it, which fail there too")
			}
		} else {
			line("no commit can be named: %s", g.Why)
		}
	}
	for _, m := range p.Misplaced {
		line("%s line %d: was in %s, came to be in %s", m.Path, m.Line, orTop(m.Before), orTop(m.After))
	}
	for _, d := range p.Duplicates {
		line("twice: %s line %d and %s line %d: %s", d.Path, d.Line, d.Other, d.OtherRow, d.Text)
	}
	for _, l := range p.Lost {
		what := "lost"
		if l.Elsewhere {
			what = "lost its place, or is there fewer times"
		}
		line("%s: %s line %d: %s", what, show(l.Path), l.Line, show(l.Text))
	}
	for _, s := range p.Settlements {
		line("settled by %s (%s): %s", s.By, s.Detail, show(s.Path))
	}
	for _, text := range []string{p.Hunks, p.SideBySide} {
		for l := range strings.Lines(text) {
			line("| %s", strings.TrimSuffix(l, "\n"))
		}
	}
	return b.String()
}
