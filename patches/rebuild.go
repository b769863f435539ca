// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/1bit-MONSTER/engine/internal/git"
)

// flushAt is how many bytes of new objects wait before they are stored.
const flushAt = 16 << 20

// Rebuild makes the commits of a stack on a base, in the object store of repo:
// no work tree, no ref. It returns the commit and the tree after each patch.
// The ids are a function of the base and the patch files alone.
//
// Errors: *Mismatch and Problems as of ApplyTo, *git.MissingObject when the
// repository lacks what a patch changes.
func Rebuild(ctx context.Context, repo *git.Repo, base git.ID, s *Stack) (commits, trees []git.ID, err error) {
	objects, err := repo.Pending(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer objects.Close()
	c, err := objects.Commit(base)
	if err != nil {
		return nil, nil, fmt.Errorf("stack %s: base: %w", s.Name, err)
	}
	parent, tree := c.ID, c.Tree
	for _, p := range s.Patches {
		shown := s.Shown(p.File)
		next, err := p.ApplyTo(objects, tree, shown)
		if err != nil {
			var other *Mismatch
			var wrong Problems
			if !errors.As(err, &other) && !errors.As(err, &wrong) {
				err = fmt.Errorf("%s: %w", shown, err)
			}
			return nil, nil, err
		}
		if next == tree {
			return nil, nil, Problems{{shown, 1, "the patch changes nothing"}}
		}
		tree = next
		if parent, err = objects.AddCommit(p.Commit(tree, parent)); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", shown, err)
		}
		commits, trees = append(commits, parent), append(trees, tree)
		if objects.Size() > flushAt {
			if err := objects.Flush(ctx); err != nil {
				return nil, nil, explainDisk(err, repo.Dir())
			}
		}
	}
	return commits, trees, explainDisk(objects.Flush(ctx), repo.Dir())
}

// Shown is the name of one of the stack's files in messages.
func (s *Stack) Shown(file string) string { return path.Join(Folder, s.Name, file) }
