// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/inert"
)

// How much two changes must have in common. range-diff takes them for one when
// their difference is smaller than 60 % of the larger one, which is about the
// first figure here.
const (
	similarEnough   = 0.6 // the share of common changed lines
	containedEnough = 0.8 // the share of the patch's lines in a larger commit of upstream's
	sameSubject     = 0.3 // instead of both, where the subjects agree
	fewLines        = 3   // below that many lines only the subject counts
)

// explain finds what upstream has to do with each patch that is not the same.
func (r *rebasing) explain(ctx context.Context) error {
	if err := r.wait(); err != nil {
		return err
	}
	for _, p := range r.patches {
		if p.exact != "" && p.Outcome == Empty {
			u, err := r.e.upstreamCommit(p.exact)
			if err != nil {
				return err
			}
			p.Outcome, p.Upstream, p.Exact, p.Files, p.Messages = Upstreamed, u, true, nil, nil
		}
	}
	if r.o.Bare {
		return r.exactButKept()
	}
	if err := r.pairWithUpstream(ctx); err != nil {
		return err
	}
	if err := r.exactButKept(); err != nil {
		return err
	}
	for _, p := range r.patches {
		if p.Outcome == Conflicting || p.Outcome == NeedsConflicting {
			if err := r.showHunks(p); err != nil {
				return err
			}
			continue
		}
		if len(p.after) == 0 {
			continue
		}
		if err := r.checkPlaces(p); err != nil {
			return err
		}
	}
	return r.findDuplicates()
}

// exactButKept: upstream had exactly this patch, and yet there is something to
// apply, so it was taken back, or moved elsewhere.
func (r *rebasing) exactButKept() error {
	for _, p := range r.patches {
		if p.exact == "" || p.Outcome == Upstreamed || !p.Outcome.Kept() {
			continue
		}
		u, err := r.e.upstreamCommit(p.exact)
		if err != nil {
			return err
		}
		p.Outcome, p.Upstream, p.Exact = ProbablyUpstream, u, true
	}
	return nil
}

func (r *rebasing) checkPlaces(p *rebased) error {
	if p.Outcome == Unchanged {
		return nil
	}
	pairs, err := r.e.pairUp(p.before, p.after)
	if err != nil {
		return err
	}
	for _, x := range pairs {
		if x.before.path != x.after.path && !slices.ContainsFunc(p.after, func(c change) bool { return c.path == x.before.path }) {
			p.Followed = append(p.Followed, Followed{inert.Line(x.before.path, 200), inert.Line(x.after.path, 200)})
		}
	}
	if len(p.Settlements) > 0 {
		return nil // the place was chosen, not found
	}
	if p.Misplaced, err = r.e.places(pairs); err != nil {
		return err
	}
	for i := range p.Misplaced {
		m := &p.Misplaced[i]
		m.Path, m.Before, m.After = inert.Line(m.Path, 200), inert.Line(m.Before, 200), inert.Line(m.After, 200)
	}
	if len(p.Misplaced) > 0 && p.Outcome != ProbablyUpstream {
		p.Outcome = WrongPlace
	}
	return nil
}

// pairWithUpstream finds for patches that are moved, empty or in conflict a
// commit of upstream's that does nearly the same.
func (r *rebasing) pairWithUpstream(ctx context.Context) error {
	commits, texts := r.scan.commits, r.scan.texts
	byPath := map[string][]int{}
	for i, c := range commits {
		for _, path := range c.paths {
			byPath[path] = append(byPath[path], i)
		}
	}
	for _, p := range r.patches {
		mine := texts[p.commit.ID]
		if p.Outcome == Unchanged || p.exact != "" || p.Reverted != nil || mine == nil || mine.lines.size() == 0 {
			continue
		}
		if err := r.pair(ctx, p, mine.lines, commits, byPath, texts); err != nil {
			return err
		}
	}
	return nil
}

func (r *rebasing) pair(ctx context.Context, p *rebased, mine changedLines, commits []touching, byPath map[string][]int, texts map[git.ID]*patchText) error {
	shared := map[int]int{} // commit → paths in common
	for _, c := range p.before {
		for _, i := range byPath[c.path] {
			shared[i]++
		}
	}
	best, bestScore := -1, 0.0
	for _, i := range sortedKeys(shared) { // the newest of equals wins
		if 2*shared[i] < len(p.before) {
			continue
		}
		c := commits[i]
		t := texts[c.id]
		if t == nil {
			continue
		}
		score := mine.similarity(t.lines)
		contained := mine.containment(t.lines)
		big := mine.size() >= fewLines
		ok := big && (score >= similarEnough || contained >= containedEnough)
		if !ok && max(score, contained) >= sameSubject {
			u, err := r.e.commitAt(c.id)
			if err != nil {
				return err
			}
			ok = baseSubject(u.Subject()) == baseSubject(p.commit.Subject())
		}
		if s := max(score, contained); ok && s > bestScore {
			best, bestScore = i, s
		}
	}
	if best < 0 {
		return nil
	}
	u, err := r.e.upstreamCommit(commits[best].id)
	if err != nil {
		return err
	}
	p.Upstream = u
	if p.SideBySide, err = r.sideBySide(ctx, p, u.ID); err != nil {
		return err
	}
	switch p.Outcome {
	case Empty:
		p.Outcome = Upstreamed
	case Moved:
		p.Outcome = ProbablyUpstream
	}
	return nil
}

// sideBySide is git's range-diff of a patch and an upstream commit, in the
// files of the patch. It is empty where the object store lacks something for
// it.
func (r *rebasing) sideBySide(ctx context.Context, p *rebased, upstream git.ID) (string, error) {
	args := []string{"-c", "core.abbrev=12", "--literal-pathspecs", "range-diff", "--no-color", "--creation-factor=100", "--no-notes",
		fmt.Sprintf("%s..%s", p.commit.Parents[0], p.commit.ID), fmt.Sprintf("%s^..%s", upstream, upstream), "--"}
	for _, c := range p.before[:min(len(p.before), mostPaths)] {
		args = append(args, c.path)
	}
	out, err := r.e.git(ctx, "", args...)
	if err != nil {
		return "", ctx.Err()
	}
	return inert.Text(string(out), 200, 200), nil
}

// mostShownLines bounds one conflict as it is shown.
const mostShownLines = 60

// showHunks writes down a conflict with its three sides.
func (r *rebasing) showHunks(p *rebased) error {
	s, err := r.e.conflictText(p.merged)
	p.Hunks = s
	return err
}

// conflictText shows the conflicts of a merge, for people. It is inert.
func (e *Engine) conflictText(m *merged) (string, error) {
	var b strings.Builder
	for _, path := range m.files() {
		segments, _, err := e.conflictOf(m, path)
		if err != nil {
			return "", err
		}
		if segments == nil {
			continue
		}
		line := 1
		for _, s := range segments {
			if !s.conflict {
				line += strings.Count(s.agreed, "\n")
				continue
			}
			fmt.Fprintf(&b, "%s, near line %d\n", path, line)
			for _, side := range []struct{ name, text string }{{"upstream", s.upstream}, {"base", s.base}, {"patch", s.patch}} {
				fmt.Fprintf(&b, "--- %s\n%s", side.name, side.text)
				if side.text != "" && !strings.HasSuffix(side.text, "\n") {
					b.WriteString("\n")
				}
			}
			line += strings.Count(s.upstream, "\n")
		}
	}
	return inert.Text(b.String(), mostShownLines, 160), nil
}
