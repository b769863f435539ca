// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"

	"github.com/1bit-MONSTER/engine/pins"
)

// branchKind follows the tip of a branch.
type branchKind struct{ sources }

var (
	_ kind   = branchKind{}
	_ finder = branchKind{}
)

func (branchKind) newest(ctx context.Context, e *Engine, p *pins.Pin) (*Candidate, error) {
	id, err := e.askHead(ctx, p.Upstream, p.Track.Branch)
	if err != nil {
		return nil, explainGit(p, err)
	}
	place, err := e.place(p.Upstream)
	return &Candidate{Commit: id, StandsIn: place.StandsIn, where: []string{"refs/heads/" + p.Track.Branch}}, err
}

func (branchKind) find(ctx context.Context, e *Engine, p *pins.Pin, rev string) (*Candidate, error) {
	return e.revision(ctx, p.Upstream, rev)
}
