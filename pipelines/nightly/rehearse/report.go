// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package rehearse

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/nightly"
	"github.com/1bit-MONSTER/engine/pipelines/nightly/page"
)

// rowOf says in one line what a night did for a group.
func rowOf(g nightly.GroupReport) Row {
	r := Row{Group: g.Group, Verdict: g.Verdict, What: g.Why, Branch: g.Branch, Commit: g.Commit, Draft: g.Draft}
	switch {
	case g.Verdict == verdict.Pass && g.Branch != "":
		r.What = "proposed as " + g.Branch
		if len(g.Draft) > 0 {
			r.What += ", a draft"
		}
		if len(g.Moves) > 0 {
			r.What += ": " + strings.Join(g.Moves, ", ")
		}
	case g.State == nightly.Done:
		r.Quiet = true
	}
	return r
}

// Cells returns the report as the cells of a table: night, group, verdict, and
// what happened, cut to so many characters.
func (r *Report) Cells(width int) [][]string {
	var rows [][]string
	for _, p := range r.Nights {
		for _, h := range p.happened {
			rows = append(rows, []string{"", h.Who, "", inert.Line(h.What, width)})
		}
		night := strconv.Itoa(p.Number)
		if p.Again {
			night += " again"
		}
		quiet := 0
		if n := len(p.Rows); n > 2 && same(p.Rows) {
			rows = append(rows, []string{night, fmt.Sprintf("all %d", n), string(p.Rows[0].Verdict), inert.Line(p.Rows[0].What, width)})
			continue
		}
		for _, row := range p.Rows {
			if row.Quiet {
				quiet++
				continue
			}
			rows = append(rows, []string{night, row.Group, string(row.Verdict), inert.Line(row.What, width)})
		}
		if quiet > 0 {
			rows = append(rows, []string{night, fmt.Sprintf("%d others", quiet), string(verdict.Pass), "nothing new"})
		}
	}
	return rows
}

// same says whether all groups ended early with the same verdict.
func same(rows []Row) bool {
	for _, r := range rows {
		if r.Verdict != rows[0].Verdict || r.Quiet || r.Branch != "" {
			return false
		}
	}
	return true
}

// Verdict is Fail where something came out otherwise than written.
func (r *Report) Verdict() verdict.Verdict {
	if len(r.Surprises) > 0 {
		return verdict.Fail
	}
	return verdict.Pass
}

// A Hint is a file or folder that is worth looking at.
type Hint struct {
	Path string `json:"path"`
	What string `json:"what"`
}

// look says what is worth looking at.
func (r *Report) look() []Hint {
	file := func(night int, elem ...string) string {
		for _, p := range r.Nights {
			if p.Number == night && !p.Again {
				return filepath.Join(append([]string{p.Out}, elem...)...)
			}
		}
		return "" // it was not played
	}
	last := 0
	for _, p := range r.Nights {
		last = max(last, p.Number)
	}
	hints := []Hint{
		{file(last, page.HTMLFile), "the page after the last night; " + page.MarkdownFile + " and " + page.JSONFile + " say the same"},
		{file(2, "proposals", "greet", "proposal.md"), "a proposal: what changed, and the patch that upstream took, with the commit"},
		{file(4, "proposals", "greet", "proposal.md"), "a conflict, with the upstream commit behind it"},
		{file(4, "proposals", "paint", "proposal.md"), "a pair of which one half dropped what the other uses"},
	}
	if r.Keep != "" {
		hints = append(hints,
			Hint{filepath.Join(r.Keep, "main.git"), "the distribution: main, the branches bump/*, and nightly-state, which is what nights remember"},
			Hint{filepath.Join(r.Keep, "upstreams"), "the upstreams; with mirrors.yaml beside them any dist command reads them"})
	}
	return hints
}
