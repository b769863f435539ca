// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"context"
	"fmt"
	"html"
	"slices"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// A Replayed stack says how it would have done on a row of upstream commits.
type Replayed struct {
	Stack string      `json:"stack"`
	From  git.ID      `json:"from"`
	To    git.ID      `json:"to"`
	Every int         `json:"every"`
	Rows  []ReplayRow `json:"rows"`
}

// A ReplayRow is the stack on one upstream commit.
type ReplayRow struct {
	Commit  UpstreamCommit  `json:"commit"`
	Verdict verdict.Verdict `json:"verdict"`
	// Counts of the patches by outcome.
	Fine        int `json:"fine"` // unchanged or moved
	Dropped     int `json:"dropped"`
	Look        int `json:"look"` // kept, but a person has to look
	Conflicting int `json:"conflicting"`
	Needing     int `json:"needing"`
	// First is the first patch that conflicts.
	First string `json:"first,omitempty"`
}

// mostRows bounds a replay.
const mostRows = 2000

// Replay rebases the stack, as it is, onto every n-th commit of upstream's
// first-parent line from one commit to another, both of which are among them.
// Nothing carries over from one to the next.
func (x *Session) Replay(ctx context.Context, from, to git.ID, every int, progress func(done, total int)) (*Replayed, error) {
	if every < 1 {
		return nil, verdict.Usagef("every %d commits makes no sense: 1 is every commit", every)
	}
	ids, err := x.repo.RevList(ctx, git.Range{From: []git.ID{from}, To: to, FirstParent: true, Reverse: true})
	if err != nil {
		return nil, err
	}
	line := append([]git.ID{from}, ids...)
	var chosen []git.ID
	for i, id := range line {
		if i%every == 0 || i == len(line)-1 {
			chosen = append(chosen, id)
		}
	}
	if len(chosen) > mostRows {
		return nil, verdict.Usagef("that would be %d rebases: choose a larger --every", len(chosen))
	}
	out := &Replayed{Stack: x.Commits.Name, From: from, To: to, Every: every}
	o := x.Options
	o.Bisect = false
	for i, id := range chosen {
		if progress != nil {
			progress(i, len(chosen))
		}
		r, err := x.Engine.Rebase(ctx, x.Commits, id, o)
		if err != nil {
			return nil, err
		}
		row, err := x.Engine.replayRow(r)
		if err != nil {
			return nil, err
		}
		out.Rows = append(out.Rows, row)
	}
	return out, nil
}

func (e *Engine) replayRow(r *Result) (ReplayRow, error) {
	u, err := e.upstreamCommit(r.NewBase)
	if err != nil {
		return ReplayRow{}, err
	}
	row := ReplayRow{Commit: *u, Verdict: r.Verdict()}
	for _, p := range r.Patches {
		switch p.Outcome {
		case Unchanged, Moved:
			row.Fine++
		case Upstreamed, Empty:
			row.Dropped++
		case Conflicting:
			row.Conflicting++
			if row.First == "" {
				row.First = p.File
			}
		case NeedsConflicting:
			row.Needing++
		default:
			row.Look++
		}
	}
	return row, nil
}

// Survived is how many of the upstream commits the stack passes.
func (r *Replayed) Survived() int {
	n := 0
	for _, row := range r.Rows {
		if row.Verdict == verdict.Pass {
			n++
		}
	}
	return n
}

// Table returns the rows as text, newest last.
func (r *Replayed) Table() (head []string, rows [][]string) {
	head = []string{"COMMIT", "DATE", "FINE", "DROPPED", "LOOK", "CONFLICT", "NEEDS", "VERDICT", "FIRST CONFLICT"}
	for _, x := range r.Rows {
		rows = append(rows, []string{x.Commit.ID.Short(), x.Commit.Date.Format(time.DateOnly), fmt.Sprint(x.Fine), fmt.Sprint(x.Dropped),
			fmt.Sprint(x.Look), fmt.Sprint(x.Conflicting), fmt.Sprint(x.Needing), string(x.Verdict), x.First})
	}
	return head, rows
}

// The kinds of bars, from the bottom up. Their fills differ in lightness and in
// pattern, so that they are told apart without colours.
var replayKinds = []struct {
	name, class string
	count       func(ReplayRow) int
}{
	{"fine", "f", func(r ReplayRow) int { return r.Fine }},
	{"dropped", "d", func(r ReplayRow) int { return r.Dropped }},
	{"look", "l", func(r ReplayRow) int { return r.Look }},
	{"conflict", "c", func(r ReplayRow) int { return r.Conflicting }},
	{"needs one", "n", func(r ReplayRow) int { return r.Needing }},
}

const replayStyle = `<style>
text{font:11px sans-serif;fill:#1f2328}.a{stroke:#6e7781;stroke-width:1}
.f{fill:#2da44e}.d{fill:#8c959f}.l{fill:#bf8700}.c{fill:#cf222e}.n{fill:#f1aeb5}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.a{stroke:#8b949e}.f{fill:#3fb950}.d{fill:#6e7681}.l{fill:#d29922}.c{fill:#f85149}.n{fill:#8e3a3a}}
</style>`

// SVG draws the rows as stacked bars, oldest to the left. The picture is a
// function of the rows, has a title and a description for those who do not see
// it, and fits light and dark pages.
func (r *Replayed) SVG() string {
	const width, height, left, top, bottom = 720, 200, 40, 30, 40
	most := 1
	for _, row := range r.Rows {
		total := 0
		for _, k := range replayKinds {
			total += k.count(row)
		}
		most = max(most, total)
	}
	var b strings.Builder
	title := fmt.Sprintf("Stack %s on %d upstream commits", r.Stack, len(r.Rows))
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-labelledby="replay-title replay-desc">`+"\n", width, height)
	fmt.Fprintf(&b, "<title id=\"replay-title\">%s</title>\n<desc id=\"replay-desc\">%s</desc>\n%s\n", html.EscapeString(title), html.EscapeString(r.describe()), replayStyle)
	for i, k := range replayKinds {
		fmt.Fprintf(&b, `<rect class="%s" x="%d" y="8" width="10" height="10"/><text x="%d" y="17">%s</text>`+"\n", k.class, left+i*90, left+14+i*90, k.name)
	}
	plot := float64(height - top - bottom)
	step := float64(width-left-10) / float64(max(len(r.Rows), 1))
	for i, row := range r.Rows {
		y := float64(height - bottom)
		for _, k := range replayKinds {
			n := k.count(row)
			if n == 0 {
				continue
			}
			h := plot * float64(n) / float64(most)
			y -= h
			fmt.Fprintf(&b, `<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"><title>%s %s: %d %s</title></rect>`+"\n", k.class, float64(left)+float64(i)*step, y,
				max(step*0.85, 0.5), h, row.Commit.Date.Format(time.DateOnly), row.Commit.ID.Short(), n, k.name)
		}
	}
	base := height - bottom
	fmt.Fprintf(&b, `<path class="a" d="M%d %dV%dH%d" fill="none"/>`+"\n", left, top, base, width-10)
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%d</text><text x="%d" y="%d" text-anchor="end">0</text>`+"\n", left-4, top+8, most, left-4, base)
	if len(r.Rows) > 0 {
		first, last := r.Rows[0].Commit, r.Rows[len(r.Rows)-1].Commit
		fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text><text x="%d" y="%d" text-anchor="end">%s</text>`+"\n", left, base+16, first.Date.Format(time.DateOnly), width-10, base+16, last.Date.Format(time.DateOnly))
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func (r *Replayed) describe() string {
	if len(r.Rows) == 0 {
		return "There is no commit in this range."
	}
	s := fmt.Sprintf("The stack passes on %d of %d commits, from %s to %s.", r.Survived(), len(r.Rows),
		r.Rows[0].Commit.Date.Format(time.DateOnly), r.Rows[len(r.Rows)-1].Commit.Date.Format(time.DateOnly))
	if i := slices.IndexFunc(r.Rows, func(x ReplayRow) bool { return x.Conflicting > 0 }); i >= 0 {
		s += fmt.Sprintf(" The first conflict is on %s of %s, in %s.", r.Rows[i].Commit.ID.Short(), r.Rows[i].Commit.Date.Format(time.DateOnly), r.Rows[i].First)
	}
	return s
}
