// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"context"
	"fmt"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// MaxPatches is how many commits a stack takes; more is a wrong base.
const MaxPatches = 2000

// A Line is the commits between a base and a tip as a row of patches.
type Line struct {
	Patches []*Patch
	Trees   []git.ID // after each patch; the last is the tip's tree
	Empty   []string // commits without changes, as "id subject": they are left out
	Merges  []string // merges that were dissolved, as "id subject"
}

// A NotLinear says that a history cannot be a row of patches without loss.
type NotLinear struct {
	Merge  string // "id subject" of the merge that stands in the way
	Commit string // the commit that does not fit, if it is one
	Path   string
}

func (e *NotLinear) Error() string {
	if e.Commit == "" {
		return fmt.Sprintf("the merge %s has changes of its own (%s): rebase the branch so that it has no merges", e.Merge, show(e.Path))
	}
	return fmt.Sprintf("the commit %s and another line of the history both change %s, which the merge %s settled: rebase the branch so that it has no merges", e.Commit, show(e.Path), e.Merge)
}

// Linear makes patches of the commits that tip has and base has not, the
// oldest first.
//
// A history with merges becomes a row where that loses nothing: its commits are
// put after each other in an order that has parents before children, every
// commit must find the paths that it changes exactly as its own parent had
// them, and the row must end at exactly the tip's tree. Otherwise the error is
// a *NotLinear.
func Linear(ctx context.Context, repo *git.Repo, base, tip git.ID) (*Line, error) {
	if ok, err := repo.IsAncestor(ctx, base, tip); err != nil || !ok {
		if err != nil {
			return nil, err
		}
		fork, err := repo.MergeBase(ctx, base, tip)
		if err != nil || fork == "" {
			return nil, verdict.Failf("the branch at %s does not have the base %s in its history", tip.Short(), base.Short())
		}
		return nil, verdict.Failf("the branch at %s does not have the base %s in its history, it left that line at %s: import it with --base %s", tip.Short(), base.Short(), fork.Short(), fork)
	}
	objects, err := repo.Pending(ctx)
	if err != nil {
		return nil, err
	}
	defer objects.Close()
	line, merges, err := linear(ctx, repo, objects, base, tip)
	if err == nil {
		err = tipReached(objects, line, base, tip, "")
	}
	if err == nil || len(merges) == 0 {
		return line, err
	}
	// Which merge is it? The first up to which the history is no row.
	for _, m := range merges {
		sub, _, e := linear(ctx, repo, objects, base, m.ID)
		if e == nil {
			e = tipReached(objects, sub, base, m.ID, naming(m))
		}
		if n, ok := e.(*NotLinear); ok {
			n.Merge = naming(m)
			return nil, n
		}
		if e != nil {
			return nil, e
		}
	}
	return nil, err
}

func naming(c *git.Commit) string { return fmt.Sprintf("%s (%s)", c.ID.Short(), show(c.Subject())) }

// tipReached demands that the row ends at the tip's tree.
func tipReached(objects *git.Pending, line *Line, base, tip git.ID, merge string) error {
	id := base
	c, err := objects.Commit(id)
	if err != nil {
		return err
	}
	have := c.Tree
	if n := len(line.Trees); n > 0 {
		have = line.Trees[n-1]
	}
	if c, err = objects.Commit(tip); err != nil {
		return err
	}
	if have == c.Tree {
		return nil
	}
	var left []Change
	if err := diffTrees(objects, "", have, c.Tree, &left); err != nil {
		return err
	}
	if len(left) == 0 {
		return nil
	}
	sortChanges(left)
	return &NotLinear{Merge: merge, Path: left[0].Path}
}

func linear(ctx context.Context, repo *git.Repo, objects *git.Pending, base, tip git.ID) (*Line, []*git.Commit, error) {
	ids, err := repo.RevList(ctx, git.Range{From: []git.ID{base}, To: tip, Reverse: true})
	if err != nil {
		return nil, nil, err
	}
	if len(ids) > MaxPatches {
		return nil, nil, verdict.Failf("there are %d commits between %s and %s, more than a stack takes (%d): is the base right?", len(ids), base.Short(), tip.Short(), MaxPatches)
	}
	c, err := objects.Commit(base)
	if err != nil {
		return nil, nil, err
	}
	line := &Line{}
	tree := c.Tree
	var merges, commits []*git.Commit
	for _, id := range ids {
		c, err := objects.Commit(id)
		if err != nil {
			return nil, nil, err
		}
		if len(c.Parents) > 1 {
			merges = append(merges, c)
			line.Merges = append(line.Merges, naming(c))
			continue
		}
		commits = append(commits, c)
	}
	for _, c := range commits {
		var before git.ID
		if len(c.Parents) == 1 {
			parent, err := objects.Commit(c.Parents[0])
			if err != nil {
				return nil, nil, err
			}
			before = parent.Tree
		}
		after, path, err := transplant(objects, tree, before, c.Tree)
		if err != nil {
			return nil, nil, err
		}
		if path != "" {
			return nil, merges, &NotLinear{Commit: naming(c), Path: path}
		}
		p, err := FromCommit(objects, c, tree, after)
		if err != nil {
			return nil, nil, err
		}
		if p == nil {
			line.Empty = append(line.Empty, naming(c))
			continue
		}
		tree = after
		line.Patches, line.Trees = append(line.Patches, p), append(line.Trees, tree)
	}
	setNames(line.Patches)
	return line, merges, nil
}

// transplant makes on tree what leads from before to after. path is the first
// one that tree does not have as before has it.
func transplant(objects *git.Pending, tree, before, after git.ID) (result git.ID, path string, err error) {
	if tree == before {
		return after, "", nil
	}
	var changes []Change
	if err := diffTrees(objects, "", before, after, &changes); err != nil {
		return "", "", err
	}
	sortChanges(changes)
	edits := map[string]edit{}
	for i := range changes {
		c := &changes[i]
		was := git.TreeEntry{}
		if before != "" {
			if was, _, err = lookup(objects, before, c.Path); err != nil {
				return "", "", err
			}
		}
		is, _, err := lookup(objects, tree, c.Path)
		if err != nil {
			return "", "", err
		}
		// Where a folder was and is, only what is inside of it counts.
		if is.Mode != was.Mode || is.ID != was.ID && is.Mode != git.ModeTree {
			return "", c.Path, nil
		}
		e := edit{c.NewMode, c.NewID}
		if c.NewMode != 0 && c.NewID == "" {
			e.id = is.ID
		}
		if _, replaced := edits[c.Path]; !replaced || c.NewMode != 0 {
			edits[c.Path] = e
		}
	}
	result, err = editTree(objects, tree, edits)
	if way, ok := err.(*inTheWay); ok {
		return "", way.path, nil
	}
	return result, "", err
}
