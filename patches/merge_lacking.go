// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"context"
	"errors"
	"fmt"

	"github.com/1bit-MONSTER/engine/internal/git"
)

// withoutLacking repeats a merge that failed because the object store lacks
// blobs of upstream's that the merge is not about: files that a pin excludes.
// Git wants to read them nevertheless, to see whether one of them is another
// file renamed. Where a blob that the merge is about is lacking, the error says
// which file it is; failed is returned where nothing is lacking.
func (e *Engine) withoutLacking(ctx context.Context, failed error, baseTree git.ID, ours, theirs side) (*merged, error) {
	upstream, err := e.diffTrees(baseTree, ours.tree)
	if err != nil {
		return nil, failed
	}
	patch, err := e.diffTrees(baseTree, theirs.tree)
	if err != nil {
		return nil, failed
	}
	paths := map[git.ID]string{}
	about := map[string]bool{}
	var ids []git.ID
	for _, changes := range [][]change{upstream, patch} {
		for _, c := range changes {
			for _, entry := range []git.TreeEntry{c.old, c.new} {
				if entry.Mode != 0 && entry.Mode.Kind() == "blob" && paths[entry.ID] == "" {
					paths[entry.ID] = c.path
					ids = append(ids, entry.ID)
				}
			}
		}
	}
	for _, c := range patch {
		about[c.path] = true
	}
	lacking, err := e.s.Missing(ctx, ids)
	if err != nil || len(lacking) == 0 {
		return nil, failed
	}
	for _, id := range lacking {
		if about[paths[id]] {
			return nil, fmt.Errorf("%s: %w", show(paths[id]), &git.MissingObject{ID: id})
		}
	}
	for _, id := range lacking {
		if err := e.s.standIn(id); err != nil {
			return nil, err
		}
	}
	if err := e.restart(); err != nil {
		return nil, err
	}
	return e.m.merge(ctx, ours.commit, theirs.commit)
}

// standIn stores something that is like no other file under the id of a blob
// that is lacking. It never leaves the scratch repository: only patches are
// taken out of it, and none touches such a file.
func (s *scratch) standIn(id git.ID) error {
	return s.store(id, fmt.Appendf(nil, "blob %d\x00", len(id)), []byte(id))
}

// reopen replaces the git processes: they have read long ago which other
// repositories the scratch repository borrows from.
func (e *Engine) reopen(ctx context.Context) error {
	if err := errors.Join(e.m.close(), e.cat.Close()); err != nil {
		return err
	}
	var err error
	if e.cat, err = e.s.CatFile(ctx); err != nil {
		return err
	}
	return e.restart()
}

// restart replaces a git process that failed.
func (e *Engine) restart() error {
	count := e.m.count
	spawn := e.m.p == nil
	m, err := newMerger(e.ctx, e.s, spawn)
	if err != nil {
		return err
	}
	m.count += count
	e.m = m
	return nil
}
