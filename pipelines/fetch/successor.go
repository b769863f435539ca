// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/pins"
)

// Successor says whether a lock is a successor of what is locked: nil, a *Moved
// or a *WrongWay. Of commits it asks the histories that are here, and the
// network only for what is not. What a person accepted is not looked at.
func (e *Engine) Successor(ctx context.Context, p *pins.Pin, next *pins.Lock) error {
	c := &Candidate{Version: next.Version, Commit: git.ID(next.Commit), TagObject: git.ID(next.Tag), Digest: next.Digest, Via: next.Via}
	return wrap(p, e.mending(ctx, func() error { return e.direction(ctx, p, c) }))
}
