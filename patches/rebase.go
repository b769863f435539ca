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
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// RebaseOptions say how a stack is moved. The zero value is a plain rebase with
// every check and no bisection.
type RebaseOptions struct {
	Policy      *Policy
	Resolutions Resolutions
	Accept      []string // patch files whose red findings a person has looked at; never a conflict
	Bisect      bool     // find the upstream commit behind every conflict
	// Bare leaves out what only explains: duplicates, places, similar commits
	// of upstream. What is kept, dropped or in conflict does not depend on it.
	Bare bool
	// Progress is called before each patch, counted from 0.
	Progress func(done, total int)
}

// Rebase merges every patch of a stack onto another commit, in memory of the
// engine only. After a conflict it goes on without that patch, so that one run
// has a verdict for each. An error means that the work could not be done; a
// conflict is in the result.
func (e *Engine) Rebase(ctx context.Context, stack Commits, onto git.ID, o RebaseOptions) (*Result, error) {
	r, err := e.begin(ctx, stack, onto, o)
	if err != nil {
		return nil, fmt.Errorf("rebase %s: %w", stack.Name, explainDisk(err, e.s.dir))
	}
	defer r.scan.stop()
	for i := range r.patches {
		if o.Progress != nil {
			o.Progress(i, len(r.patches))
		}
		if err := r.step(ctx, i); err != nil {
			return nil, fmt.Errorf("rebase %s: %s: %w", stack.Name, r.patches[i].file, explainDisk(err, e.s.dir))
		}
	}
	if err := r.explain(ctx); err != nil {
		return nil, fmt.Errorf("rebase %s: %w", stack.Name, explainDisk(err, e.s.dir))
	}
	if err := r.finish(ctx); err != nil {
		return nil, fmt.Errorf("rebase %s: %w", stack.Name, explainDisk(err, e.s.dir))
	}
	return r.result, nil
}

// A rebasing is one run of Rebase.
type rebasing struct {
	e       *Engine
	o       RebaseOptions
	result  *Result
	patches []*rebased
	base    *git.Commit // the old base
	onto    *git.Commit
	drift   map[string]change // what differs between the two, by path
	fork    git.ID            // the merge base of the two, empty when there is none
	scan    *upstreamScan

	tree git.ID // of the new stack so far
	tip  git.ID
	// without is the stack on its old base without the patches that were left
	// out. With it a conflict is told from one that only repeats an earlier
	// one. Empty until something was left out.
	without git.ID
	skipped []int // patches left out
	planned int   // patches below this were looked at by wave

	merges int
}

// rebased is one patch on its way.
type rebased struct {
	*PatchResult
	file       string
	commit     *git.Commit
	parentTree git.ID
	before     []change                 // what the patch does on the old base
	after      []change                 // and on the new one
	edits      map[string]git.TreeEntry // what it changes, where wave found that out
	exact      git.ID                   // an upstream commit with the same patch, known after wait
	// For the bisection: the stack on its old base up to this patch, without
	// those that were left out, and the same with this patch.
	oldWithout, oldWith git.ID
	merged              *merged
}

// begin reads the stack and checks that it is one.
func (e *Engine) begin(ctx context.Context, stack Commits, onto git.ID, o RebaseOptions) (*rebasing, error) {
	r := &rebasing{e: e, o: o, merges: e.Merges()}
	var err error
	if r.base, err = e.commitAt(stack.Base); err != nil {
		return nil, fmt.Errorf("the base: %w", err)
	}
	if r.onto, err = e.commitAt(onto); err != nil {
		return nil, fmt.Errorf("the new base: %w", err)
	}
	r.result = &Result{Stack: stack.Name, OldBase: r.base.ID, NewBase: r.onto.ID, Patches: make([]PatchResult, len(stack.Patches))}
	commits, err := e.commitsAt(stack.Patches)
	if err != nil {
		return nil, err
	}
	trees := [][2]git.ID{{r.base.Tree, r.onto.Tree}}
	last := r.base.Tree
	for _, c := range commits {
		trees = append(trees, [2]git.ID{last, c.Tree})
		last = c.Tree
	}
	if err := e.readAhead(trees); err != nil {
		return nil, err
	}
	parent := r.base
	for i, s := range stack.Patches {
		c := commits[i]
		if len(c.Parents) != 1 || c.Parents[0] != parent.ID {
			return nil, verdict.Failf("%s (%s) does not follow on %s: a stack is a row of commits without merges", s.File, c.ID.Short(), parent.ID.Short())
		}
		p := &rebased{PatchResult: &r.result.Patches[i], file: s.File, commit: c, parentTree: parent.Tree}
		*p.PatchResult = PatchResult{File: s.File, Subject: inert.Line(c.Subject(), mostSubject), Old: c.ID}
		if p.before, err = e.diffTrees(parent.Tree, c.Tree); err != nil {
			return nil, err
		}
		r.patches = append(r.patches, p)
		parent = c
	}
	for _, a := range o.Accept {
		if !slices.ContainsFunc(r.patches, func(p *rebased) bool { return p.file == a }) {
			return nil, verdict.Usagef("%s is no patch of this stack, so it cannot be accepted", a)
		}
	}
	drift, err := e.diffTrees(r.base.Tree, r.onto.Tree)
	if err != nil {
		return nil, err
	}
	r.drift = make(map[string]change, len(drift))
	for _, d := range drift {
		r.drift[d.path] = d
	}
	if r.fork, err = e.s.MergeBase(ctx, r.base.ID, r.onto.ID); err != nil {
		return nil, err
	}
	if r.fork != "" && r.fork != r.base.ID {
		if err := r.rewritten(ctx); err != nil {
			return nil, err
		}
	}
	r.tree, r.tip = r.onto.Tree, r.onto.ID
	r.scan = r.startScan(ctx)
	return r, nil
}

// commitsAt reads the commits of a stack, with few questions.
func (e *Engine) commitsAt(patches []StackCommit) ([]*git.Commit, error) {
	ids := make([]git.ID, len(patches))
	for i, p := range patches {
		ids[i] = p.Commit
	}
	out := make([]*git.Commit, len(ids))
	err := e.cat.ReadAll(ids, "commit", func(i int, content []byte) (err error) {
		out[i], err = git.ParseCommit(ids[i], content)
		return err
	})
	return out, err
}

// mostRewritten bounds the list of rewritten commits.
const mostRewritten = 20

func (r *rebasing) rewritten(ctx context.Context) error {
	ids, err := r.e.s.RevList(ctx, git.Range{From: []git.ID{r.onto.ID}, To: r.base.ID})
	if err != nil {
		return err
	}
	r.result.RewrittenCount = len(ids)
	for _, id := range ids[:min(len(ids), mostRewritten)] {
		u, err := r.e.upstreamCommit(id)
		if err != nil {
			return err
		}
		r.result.Rewritten = append(r.result.Rewritten, *u)
	}
	return nil
}

// step merges one patch.
func (r *rebasing) step(ctx context.Context, i int) error {
	p := r.patches[i]
	m, err := r.merge(ctx, i)
	if err != nil {
		return err
	}
	p.merged = m
	tree := m.tree
	if !m.clean() {
		if err := r.wait(); err != nil {
			return err
		}
		if p.exact != "" {
			return r.leaveOut(ctx, i, nil)
		}
		s, err := r.e.settle(m, r.o.Policy, r.o.Resolutions)
		if err != nil {
			return err
		}
		if s.open != nil {
			return r.leaveOut(ctx, i, s.open)
		}
		tree = s.tree
		p.Settlements, p.Lost = s.by, s.lost
		if s.fails {
			p.Outcome = LostLines
		}
	}
	if err := r.follow(ctx, p); err != nil {
		return err
	}
	if tree == r.tree && len(p.before) > 0 {
		p.Outcome = Empty // or upstreamed: see explain
		return nil
	}
	if p.after, err = r.e.diffTrees(r.tree, tree); err != nil {
		return err
	}
	if p.Outcome == "" {
		p.Outcome = Moved
		if slices.Equal(p.before, p.after) {
			p.Outcome = Unchanged
		}
	}
	c, err := rebuilt(p.commit, tree, r.tip)
	if err != nil {
		return err
	}
	if r.tip, err = r.e.s.commit(c); err != nil {
		return err
	}
	r.tree = tree
	p.New, p.Tree = r.tip, tree
	return nil
}

// merge merges a patch onto the new stack so far.
func (r *rebasing) merge(ctx context.Context, i int) (*merged, error) {
	if i >= r.planned {
		if err := r.wave(ctx, i); err != nil {
			return nil, err
		}
	}
	p := r.patches[i]
	if p.edits != nil {
		tree, err := r.e.editTree(r.tree, p.edits)
		return &merged{tree: tree}, err
	}
	return r.e.merge(ctx, p.commit.Parents[0], p.parentTree, side{tree: r.tree}, side{p.commit.Tree, p.commit.ID})
}

// rebuilt is the commit that a patch becomes: see Patch.Commit.
func rebuilt(c *git.Commit, tree, parent git.ID) (git.Commit, error) {
	message, err := CleanMessage(c.Message, c.Encoding)
	if err != nil {
		return git.Commit{}, fmt.Errorf("%s: %w", c.ID.Short(), err)
	}
	p := Patch{Author: c.Author, Message: message}
	return p.Commit(tree, parent), nil
}

// follow keeps r.without in step with a patch that is not left out.
func (r *rebasing) follow(ctx context.Context, p *rebased) error {
	if r.without == "" {
		return nil
	}
	m, err := r.e.merge(ctx, p.commit.Parents[0], p.parentTree, side{tree: r.without}, side{p.commit.Tree, p.commit.ID})
	if err != nil {
		return err
	}
	if m.clean() {
		r.without = m.tree
	}
	return nil
}

// leaveOut deals with a conflict: the patch is dropped as upstream's, or left
// out because of it or because of an earlier patch that was left out.
func (r *rebasing) leaveOut(ctx context.Context, i int, files []string) error {
	p := r.patches[i]
	if p.exact != "" {
		// Upstream took exactly this and went on from there.
		p.Outcome = Empty
		return r.follow(ctx, p)
	}
	p.Outcome = Conflicting
	p.Files = files
	for _, m := range p.merged.messages {
		if strings.HasPrefix(m.kind, "CONFLICT") {
			p.Messages = append(p.Messages, inert.Line(m.text, 300))
		}
	}
	defer func() { r.skipped = append(r.skipped, i) }()
	if r.without == "" {
		r.without = p.parentTree
		p.oldWithout, p.oldWith = p.parentTree, p.commit.Tree
		return nil
	}
	// Does it apply to its own old base without the earlier ones?
	m, err := r.e.merge(ctx, p.commit.Parents[0], p.parentTree, side{tree: r.without}, side{p.commit.Tree, p.commit.ID})
	if err != nil {
		return err
	}
	if m.clean() {
		p.oldWithout, p.oldWith = r.without, m.tree
		return nil
	}
	p.Outcome = NeedsConflicting
	p.Needs = r.needed(m.files())
	return nil
}

// needed names the patches in conflict by themselves that stand behind a
// conflict in these files: those that touch one, and those behind patches that
// were left out because of them. It is all of them where none does.
func (r *rebasing) needed(files []string) []string {
	var some, all []string
	for _, i := range r.skipped {
		p := r.patches[i]
		roots := []string{p.file}
		if p.Outcome == NeedsConflicting {
			roots = p.Needs
		}
		all = append(all, roots...)
		if slices.ContainsFunc(p.before, func(c change) bool { return slices.Contains(files, c.path) }) {
			some = append(some, roots...)
		}
	}
	if len(some) == 0 {
		some = all
	}
	var out []string // in the stack's order
	for _, p := range r.patches {
		if slices.Contains(some, p.file) {
			out = append(out, p.file)
		}
	}
	return out
}

// finish sums up.
func (r *rebasing) finish(ctx context.Context) error {
	for i, p := range r.patches {
		if r.o.Bisect && p.Outcome == Conflicting {
			g, err := r.bisect(ctx, i)
			if err != nil {
				return err
			}
			p.Guilty = g
		}
		if slices.Contains(r.o.Accept, p.file) && p.Outcome.Kept() && p.Outcome.Verdict() != verdict.Pass {
			p.Accepted = p.Outcome
		}
	}
	r.result.Tip, r.result.Tree = r.tip, r.tree
	r.result.Merges = r.e.Merges() - r.merges
	return nil
}
