// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"

	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// manualKind follows nothing: a person moves the pin, and only what the lock
// says is verified.
type manualKind struct{}

var _ kind = manualKind{}

// newest asks nobody: what is locked is the newest that there is.
func (manualKind) newest(_ context.Context, _ *Engine, p *pins.Pin) (c *Candidate, err error) {
	l := p.Lock
	if l == nil {
		return nil, verdict.Skippedf("it is moved by hand (%s) and has no lock yet: write one into its file", p.Track.Reason)
	}
	return lockedCandidate(l), nil
}

// lock verifies what the person wrote.
func (k manualKind) lock(ctx context.Context, e *Engine, p *pins.Pin, _ *Candidate) (*pins.Lock, error) {
	if _, err := k.fetch(ctx, e, p); err != nil {
		return nil, err
	}
	return unchanged(p), nil
}

func (manualKind) fetch(ctx context.Context, e *Engine, p *pins.Pin) (entries []*store.Entry, err error) {
	switch l := p.Lock; {
	case l == nil:
		return nil, notLocked(p)
	case len(l.Files) > 0:
		return e.fetchFiles(ctx, p, plainFile)
	case l.Commit != "" && l.Sum != "":
		return sources{}.fetch(ctx, e, p)
	case l.Sum != "":
		key, err := store.KeyOf(l.Sum)
		if err != nil {
			return nil, err
		}
		entry, err := e.Store.Get(key)
		return []*store.Entry{entry}, err
	}
	return nil, notLocked(p)
}
