// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// A DropConflict says that a later patch needs one that was to be dropped.
type DropConflict struct {
	Patch   string
	Dropped []string
	Paths   []string
}

func (e *DropConflict) Error() string {
	return fmt.Sprintf("%s needs what %s does, in %s: drop both, or use 'dist patches edit'", e.Patch, strings.Join(e.Dropped, " or "), show(strings.Join(e.Paths, ", ")))
}

// Verdict is Conflict.
func (e *DropConflict) Verdict() verdict.Verdict { return verdict.Conflict }

// Drop takes patches out of a stack. Those after them are merged onto what is
// left, and written anew where their text changes. Errors: *DropConflict; then
// nothing was changed.
func (r *Repository) Drop(ctx context.Context, name string, files []string, source Source) (*Imported, error) {
	s, repo, commits, _, done, err := r.rebuilt(ctx, name, source)
	if err != nil {
		return nil, err
	}
	defer done()
	for i, f := range files {
		if !strings.HasSuffix(f, Extension) {
			files[i] += Extension
		}
		if s.Patch(files[i]) == nil {
			return nil, verdict.Usagef("stack %s has no patch %q; 'dist patches show %s' lists them", name, show(files[i]), name)
		}
	}
	base, err := repo.CommitInfo(ctx, string(s.Base))
	if err != nil {
		return nil, err
	}
	parent, tree, old := s.Base, base.Tree, s.Base // the new line, and the old one
	im := &Imported{Name: name, Base: s.Base, Dropped: files}
	kept := &Stack{Name: name, Base: s.Base}
	for i, p := range s.Patches {
		before := old
		old = commits[i]
		if slices.Contains(files, p.File) {
			continue
		}
		c, err := repo.CommitInfo(ctx, string(commits[i]))
		if err != nil {
			return nil, err
		}
		next := c.Tree
		if parent != before {
			// What lies between a patch's parent and the new line is "ours".
			side, err := repo.CommitTree(ctx, git.Commit{Tree: tree, Parents: []git.ID{before}, Author: c.Author, Committer: c.Committer, Message: "side\n"})
			if err != nil {
				return nil, err
			}
			m, err := repo.MergeTree(ctx, side, commits[i])
			if err != nil {
				return nil, err
			}
			if len(m.Conflicts) > 0 {
				var paths []string
				for _, x := range m.Conflicts {
					paths = append(paths, x.Path)
				}
				return nil, &DropConflict{p.File, files, slices.Compact(paths)}
			}
			next = m.Tree
		}
		if next == tree {
			return nil, verdict.Failf("%s would change nothing any more: drop it too", p.File)
		}
		q, err := remade(ctx, repo, c, tree, next)
		if err != nil {
			return nil, err
		}
		tree = next
		if parent, err = repo.CommitTree(ctx, q.Commit(tree, parent)); err != nil {
			return nil, err
		}
		q.File = p.File
		kept.Patches, im.trees = append(kept.Patches, q), append(im.trees, tree)
	}
	was := make([]string, len(kept.Patches))
	for i, p := range kept.Patches {
		was[i] = p.File
	}
	setNames(kept.Patches)
	renamed := map[string]string{}
	for i, p := range kept.Patches {
		renamed[p.File] = was[i]
		im.Files = append(im.Files, p.File)
	}
	im.Stack = kept
	if err := proven(ctx, repo, im); err != nil {
		return nil, err
	}
	kept.Series = s.Series.With("", im.Files, renamed)
	return im, r.write(ctx, repo, im)
}

// remade is FromCommit by itself.
func remade(ctx context.Context, repo *git.Repo, c *git.Commit, before, after git.ID) (*Patch, error) {
	objects, err := repo.Pending(ctx)
	if err != nil {
		return nil, err
	}
	defer objects.Close()
	return FromCommit(objects, c, before, after)
}
