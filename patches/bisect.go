// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"context"
	"fmt"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// mostProbes bounds one bisection: two merges a step over a thousand commits,
// the two ends, and both neighbours once more.
const mostProbes = 24

// mostInSteps is the bound in the rare case that each step takes two merges
// even where the patch merges.
const mostInSteps = 40

// A Guilty commit is one of upstream's first-parent line that a patch merges
// onto the parent of, and not onto itself, while the patches before it merge
// onto both. There may be others: it is a commit that breaks the patch, not
// the first.
type Guilty struct {
	Commit *UpstreamCommit `json:"commit,omitempty"` // nil: none can be named, Why says why not
	Why    string          `json:"why,omitempty"`
	Files  []string        `json:"files,omitempty"` // in conflict at that commit
	Hunks  string          `json:"hunks,omitempty"` // with their three sides
	// Alone: the patch was looked at without those before it, which fail too.
	Alone bool `json:"alone,omitempty"`
	// Searched is how many commits of the first-parent line there were, Merges
	// how many merges it took.
	Searched int `json:"searched"`
	Merges   int `json:"merges"`
}

// Bisect finds a commit of upstream's that broke one patch of a stack. It
// rebases the stack first; a patch that does not conflict is a usage error.
func (e *Engine) Bisect(ctx context.Context, stack Commits, file string, onto git.ID, o RebaseOptions) (*PatchResult, error) {
	o.Bisect, o.Bare = false, true
	r, err := e.begin(ctx, stack, onto, o)
	if err != nil {
		return nil, fmt.Errorf("bisect %s: %w", stack.Name, err)
	}
	defer r.scan.stop()
	for i, p := range r.patches {
		if err := r.step(ctx, i); err != nil {
			return nil, fmt.Errorf("bisect %s: %s: %w", stack.Name, p.file, err)
		}
		if p.file != file {
			continue
		}
		switch p.Outcome {
		case Conflicting:
			if p.Guilty, err = r.bisect(ctx, i); err == nil {
				err = r.showHunks(p)
			}
			return p.PatchResult, err
		case NeedsConflicting:
			return nil, verdict.Usagef("%s conflicts only because %s does: bisect that one", file, p.Needs[0])
		}
		return nil, verdict.Usagef("%s does not conflict on %s: there is nothing to bisect", file, onto.Short())
	}
	return nil, verdict.Usagef("the stack %s has no patch %s: see 'dist patches list'", stack.Name, file)
}

// state is how the patches up to one do on an upstream commit.
type state int

const (
	merges    state = iota // the patch and those before it
	breaks                 // those before it do, the patch does not
	unrelated              // those before it do not either
)

// A bisection asks about the commits of upstream's main line.
type bisection struct {
	r      *rebasing
	p      *rebased
	line   []git.ID // the fork first
	probes int
	// Trees on the old base: the stack before the patch, and with it.
	without, with git.ID
	inSteps       bool // those before it are merged first, then the patch onto that
	most          int  // merges at most
}

// bisect looks for the commit behind the conflict of patch i. The patches up to
// it count as one change: one merge tells whether all of them apply.
func (r *rebasing) bisect(ctx context.Context, i int) (*Guilty, error) {
	if r.fork == "" {
		return &Guilty{Why: "the old base and the new one have no history in common"}, nil
	}
	line, err := r.e.s.RevList(ctx, git.Range{From: []git.ID{r.fork}, To: r.onto.ID, FirstParent: true, Reverse: true})
	if err != nil {
		return nil, err
	}
	p := r.patches[i]
	b := &bisection{r: r, p: p, line: append([]git.ID{r.fork}, line...), without: p.oldWithout, with: p.oldWith, most: mostProbes}
	g, err := b.run(ctx)
	if err == nil && g.Commit == nil && !b.inSteps {
		g, err = b.alone(ctx, g)
	}
	if err != nil {
		return nil, err
	}
	g.Searched, g.Merges = len(line), b.probes
	return g, nil
}

// alone asks about the patch without those before it, where those are in the
// way and it does not need them.
func (b *bisection) alone(ctx context.Context, together *Guilty) (*Guilty, error) {
	p := b.p
	if b.without == b.r.base.Tree || b.probes >= b.most-6 {
		return together, nil
	}
	m, err := b.r.e.merge(ctx, p.commit.Parents[0], p.parentTree, side{tree: b.r.base.Tree}, side{p.commit.Tree, p.commit.ID})
	if err != nil || !m.clean() {
		return together, err
	}
	b.without, b.with = b.r.base.Tree, m.tree
	g, err := b.run(ctx)
	if err != nil || g.Commit == nil {
		return together, err
	}
	g.Alone = true
	return g, nil
}

func (b *bisection) run(ctx context.Context) (*Guilty, error) {
	last := len(b.line) - 1
	switch s, err := b.at(ctx, last, true); {
	case err != nil:
		return nil, err
	case s == merges && !b.inSteps:
		// As one change they merge, so the patch has to be told from those
		// before it.
		b.inSteps, b.most = true, mostInSteps
		return b.run(ctx)
	case s == merges:
		return &Guilty{Why: "the patches before it merge as one change, and it merges onto that; only one after the other they do not"}, nil
	case s == unrelated:
		return &Guilty{Why: "the patches before it do not merge as one change either"}, nil
	}
	switch s, err := b.at(ctx, 0, false); {
	case err != nil:
		return nil, err
	case s != merges:
		if b.r.fork == b.r.base.ID {
			return &Guilty{Why: "it does not even merge onto its old base"}, nil
		}
		return &Guilty{Why: fmt.Sprintf("it breaks where upstream rewrote its history: %d commits of the old base are gone", b.r.result.RewrittenCount)}, nil
	}
	low, high, err := b.search(ctx, 0, last)
	if err != nil {
		return nil, err
	}
	if low < 0 {
		return &Guilty{Why: "where it begins to fail, the patches before it fail as well, so no commit can be named"}, nil
	}
	// Both neighbours once more, without what is remembered.
	clear(b.r.e.done)
	before, err := b.at(ctx, low, false)
	if err != nil {
		return nil, err
	}
	after, m, err := b.probe(ctx, high, true)
	if err != nil {
		return nil, err
	}
	if before != merges || after != breaks {
		return nil, fmt.Errorf("bisect %s: the answers for %s changed between two merges", b.p.file, b.line[high].Short())
	}
	u, err := b.r.e.upstreamCommit(b.line[high])
	if err != nil {
		return nil, err
	}
	hunks, err := b.r.e.conflictText(m)
	if err != nil {
		return nil, err
	}
	files := m.files()
	for i, f := range files {
		files[i] = show(f)
	}
	return &Guilty{Commit: u, Files: files, Hunks: hunks}, nil
}

// search narrows [low, high], where low merges and high breaks, to neighbours.
// It returns -1 where the patches before begin to fail first.
func (b *bisection) search(ctx context.Context, low, high int) (int, int, error) {
	floor := -1 // the last commit known where those before fail, with low below
	for {
		bottom := max(low, floor)
		if high-bottom <= 1 {
			if floor > low {
				// From floor to high the patch was not seen to merge: what is
				// left is the part below.
				return -1, -1, nil
			}
			return low, high, nil
		}
		if b.probes >= b.most-4 {
			return -1, -1, nil
		}
		mid := bottom + (high-bottom)/2
		s, err := b.at(ctx, mid, true)
		if err != nil {
			return -1, -1, err
		}
		switch s {
		case merges:
			low, floor = mid, -1
		case breaks:
			high = mid
		case unrelated:
			floor = mid
		}
	}
}

// at tells a commit's state; others: whether to ask about the patches before
// as well where the patch fails.
func (b *bisection) at(ctx context.Context, i int, others bool) (state, error) {
	s, _, err := b.probe(ctx, i, others)
	return s, err
}

func (b *bisection) probe(ctx context.Context, i int, others bool) (state, *merged, error) {
	c, err := b.r.e.commitAt(b.line[i])
	if err != nil {
		return 0, nil, err
	}
	if b.inSteps {
		return b.twoSteps(ctx, c.Tree)
	}
	m, err := b.merge(ctx, c.Tree, b.with)
	if err != nil || m.clean() {
		return merges, m, err
	}
	if !others {
		return breaks, m, nil
	}
	before, err := b.merge(ctx, c.Tree, b.without)
	if err != nil {
		return 0, nil, err
	}
	if !before.clean() {
		return unrelated, m, nil
	}
	return breaks, m, nil
}

// twoSteps merges the patches before, and then the patch onto what came out.
func (b *bisection) twoSteps(ctx context.Context, upstream git.ID) (state, *merged, error) {
	before, err := b.merge(ctx, upstream, b.without)
	if err != nil {
		return 0, nil, err
	}
	if !before.clean() {
		return unrelated, before, nil
	}
	parent, err := b.r.e.s.commit(synthetic(b.without, b.r.base.ID))
	if err != nil {
		return 0, nil, err
	}
	n := b.r.e.Merges()
	m, err := b.r.e.merge(ctx, parent, b.without, side{tree: before.tree}, side{tree: b.with})
	b.probes += b.r.e.Merges() - n
	if err != nil || m.clean() {
		return merges, m, err
	}
	return breaks, m, nil
}

func (b *bisection) merge(ctx context.Context, upstream, patched git.ID) (*merged, error) {
	n := b.r.e.Merges()
	m, err := b.r.e.merge(ctx, b.r.base.ID, b.r.base.Tree, side{tree: upstream}, side{tree: patched})
	b.probes += b.r.e.Merges() - n
	return m, err
}
