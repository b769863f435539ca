// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package round

import (
	"context"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
)

// Archive pushes the commits that the round locks to all remotes and asks each
// whether it holds them: a row for each member that moves and has commits. The
// verdict of the error is the worst of the rows. Where no remote is configured,
// all are skipped and the proposal can only be a draft.
func (r *Round) Archive(ctx context.Context, e *fetch.Engine, base *pins.Set, remotes []fetch.ArchiveRemote) ([]fetch.Archived, error) {
	if err := r.complete(); err != nil {
		return nil, err
	}
	if err := r.fits(base); err != nil {
		return nil, err
	}
	rows, err := e.Archive(ctx, r.moving(base), remotes)
	if len(remotes) == 0 {
		return r.Unarchived(base, fetch.NoArchive), err
	}
	if err != nil {
		return rows, err
	}
	if worst := fetch.WorstOf(rows, func(a fetch.Archived) verdict.Verdict { return a.Verdict }); worst != verdict.Pass {
		for _, row := range rows {
			if row.Verdict == worst {
				return rows, verdict.New(worst, "archive of "+row.Name+": "+row.Why)
			}
		}
	}
	return rows, nil
}

// Unarchived are the rows where no remote is asked, for the reason why: all are
// skipped, and the proposal can only be a draft. The round's content was fetched.
func (r *Round) Unarchived(base *pins.Set, why string) []fetch.Archived {
	r.draft(why)
	var rows []fetch.Archived
	for _, p := range r.moving(base) {
		if fetch.Archivable(p) {
			rows = append(rows, fetch.Archived{Name: p.Name, Ref: fetch.KeptRef(p.Name, git.ID(p.Lock.Commit)), Verdict: verdict.Skipped, Why: why})
		}
	}
	return rows
}

// moving are the pins that move, with their new locks.
func (r *Round) moving(base *pins.Set) []*pins.Pin {
	next := r.Next(base)
	var list []*pins.Pin
	for _, m := range r.Moves() {
		if p := next.Pin(m.Pin); p != nil {
			list = append(list, p)
		}
	}
	return list
}
