// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package nightly

import (
	"context"
	"path/filepath"

	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

// Run does the three phases on one machine. What goes wrong with the gates of
// one group is that group's verdict; the others go on.
func (n *Night) Run(ctx context.Context) (*Report, error) {
	dir, done, err := n.o.Engine.Store.Workspace()
	if err != nil {
		return nil, err
	}
	defer done()
	rep, err := n.Resolve(ctx, dir)
	if err != nil {
		return nil, err
	}
	for _, g := range rep.Groups {
		if !g.Handed {
			continue
		}
		folder := round.Folder(filepath.Join(dir, g.Group))
		if _, err := n.Gate(ctx, folder); err != nil {
			if ctx.Err() != nil {
				n.broken(ctx)
				return nil, ctx.Err()
			}
			failed := GroupReport{Group: g.Group, State: Rebase, Verdict: verdict.Of(err), Why: inert.Line(err.Error(), 500)}
			if err := round.WriteJSON(outcomeFile(folder), &failed); err != nil {
				return nil, err
			}
		}
	}
	return n.Propose(ctx, dir)
}
