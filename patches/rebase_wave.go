// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"context"
	"fmt"
	"time"

	"github.com/1bit-MONSTER/engine/internal/git"
)

// Most patches only change files that are still there. Git then merges each of
// these files by itself: it looks for renames only of files that one side has
// and the other has not. So the files of several patches can be merged at once,
// in trees that have nothing else, as long as no two of these patches touch the
// same file. That makes the number of merges, and what each costs, nearly
// independent of the size of the tree and of the number of patches.
//
// A wave is such a row of patches. What is in conflict is merged again, alone
// and in full.

// mostInWave bounds the files of one wave.
const mostInWave = 4000

// fileMerge is one file of a wave.
type fileMerge struct {
	base, ours, theirs git.TreeEntry
	done               bool // known without a merge
	outcome            git.TreeEntry
}

// plan returns what the wave that begins at patch i has to merge, and where it
// ends: at the first patch that creates, deletes or renames something, whose
// file is not there, or that touches a file of an earlier one.
func (r *rebasing) plan(i int) (map[string]*fileMerge, int, error) {
	files := map[string]*fileMerge{}
	end := i
patches:
	for ; end < len(r.patches) && len(files) < mostInWave; end++ {
		mine := map[string]*fileMerge{}
		for _, c := range r.patches[end].before {
			if !isFile(c.old) || !isFile(c.new) || files[c.path] != nil {
				break patches
			}
			have, err := r.e.entryAt(r.tree, c.path)
			if err != nil {
				return nil, 0, err
			}
			if !isFile(have) {
				break patches
			}
			f := &fileMerge{base: c.old, ours: have, theirs: c.new}
			if have == c.old || have == c.new {
				f.done, f.outcome = true, c.new
			}
			mine[c.path] = f
		}
		for path, f := range mine {
			files[path] = f
		}
	}
	return files, end, nil
}

func isFile(t git.TreeEntry) bool { return t.Mode == git.ModeFile || t.Mode == git.ModeExecutable }

// wave merges the files of the wave that begins at patch i and notes the
// outcome with each of its patches.
func (r *rebasing) wave(ctx context.Context, i int) error {
	files, end, err := r.plan(i)
	if err != nil {
		return err
	}
	r.planned = max(end, i+1)
	var open []string
	for _, path := range sortedKeys(files) {
		if !files[path].done {
			open = append(open, path)
		}
	}
	if len(open) > 0 {
		if err := r.e.mergeFiles(ctx, open, files); err != nil {
			if ctx.Err() != nil {
				return err
			}
			// A blob is lacking, for example: the patch itself will say so.
			if err := r.e.restart(); err != nil {
				return err
			}
			return nil
		}
	}
	for k := i; k < end; k++ {
		p := r.patches[k]
		edits := make(map[string]git.TreeEntry, len(p.before))
		for _, c := range p.before {
			if f := files[c.path]; f.done {
				edits[c.path] = f.outcome
			}
		}
		if len(edits) == len(p.before) {
			p.edits = edits
		}
	}
	return nil
}

// mergeFiles merges each of the files alone. Those in conflict stay undone.
func (e *Engine) mergeFiles(ctx context.Context, paths []string, files map[string]*fileMerge) error {
	// The names say nothing: no attribute depends on them in the scratch
	// repository.
	name := func(i int) string { return fmt.Sprintf("%06d", i) }
	var base, ours, theirs []git.TreeEntry
	for i, path := range paths {
		f := files[path]
		base = append(base, git.TreeEntry{Mode: f.base.Mode, Name: name(i), ID: f.base.ID})
		ours = append(ours, git.TreeEntry{Mode: f.ours.Mode, Name: name(i), ID: f.ours.ID})
		theirs = append(theirs, git.TreeEntry{Mode: f.theirs.Mode, Name: name(i), ID: f.theirs.ID})
	}
	var parents, sides []git.ID
	for _, entries := range [][]git.TreeEntry{base, ours, theirs} {
		content, err := git.FormatTree(entries)
		if err != nil {
			return err
		}
		tree, err := e.s.write("tree", content)
		if err != nil {
			return err
		}
		who := git.Signature{Name: "dist", Email: "dist@localhost", When: time.Unix(0, 0).UTC()}
		commit, err := e.s.commit(git.Commit{Tree: tree, Parents: parents, Author: who, Committer: who, Message: "merged\n"})
		if err != nil {
			return err
		}
		if parents == nil {
			parents = []git.ID{commit}
		} else {
			sides = append(sides, commit)
		}
	}
	m, err := e.m.merge(ctx, sides[0], sides[1])
	if err != nil {
		return err
	}
	undone := map[string]bool{}
	for _, f := range m.files() {
		undone[f] = true
	}
	if m.conflict && len(undone) == 0 {
		return nil // a kind of conflict that is not expected here: none is taken
	}
	merged, err := e.readTree(m.tree)
	if err != nil {
		return err
	}
	outcome := map[string]git.TreeEntry{}
	for _, t := range merged {
		outcome[t.Name] = git.TreeEntry{Mode: t.Mode, ID: t.ID}
	}
	for i, path := range paths {
		if t, ok := outcome[name(i)]; ok && !undone[name(i)] {
			files[path].done, files[path].outcome = true, t
		}
	}
	return nil
}
