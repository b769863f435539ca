// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"

	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// fieldKind reads the version from a file of another pin or repository.
type fieldKind struct{}

var (
	_ kind   = fieldKind{}
	_ finder = fieldKind{}
)

func (fieldKind) newest(ctx context.Context, e *Engine, p *pins.Pin) (*Candidate, error) {
	parent, err := e.parentTree(ctx, p)
	if err != nil {
		return nil, err
	}
	x, ok, err := e.lookup(ctx, parent, p.Track.Path)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, verdict.Failf("%s at %s has no file %s: look where it is now and change track.path", parent.address, parent.commit.Short(), quoted(p.Track.Path))
	}
	text, err := e.readBlob(ctx, parent, x)
	if err != nil {
		return nil, err
	}
	value, err := extract(p.Track.Path, text, p.Track.Key)
	if err != nil {
		return nil, verdict.Failf("%s of %s at %s: %w", shown(p.Track.Path), parent.address, parent.commit.Short(), err)
	}
	return &Candidate{Version: value, StandsIn: parent.place.StandsIn}, nil
}

// find takes a revision of the repository that the value is read from.
func (fieldKind) find(ctx context.Context, e *Engine, p *pins.Pin, rev string) (*Candidate, error) {
	if err := e.forceParent(ctx, p, rev); err != nil {
		return nil, err
	}
	return e.newest(ctx, p)
}

// lock records the value; with an index, also the files of that version.
func (fieldKind) lock(ctx context.Context, e *Engine, p *pins.Pin, c *Candidate) (*pins.Lock, error) {
	if p.Track.Files != nil {
		return indexKind{}.lock(ctx, e, p, c)
	}
	l := &pins.Lock{Version: c.Version}
	if c.StandsIn != "" {
		l.ViaMirror = &pins.ViaMirror{StandsIn: c.StandsIn}
	}
	return l, nil
}

func (fieldKind) fetch(ctx context.Context, e *Engine, p *pins.Pin) ([]*store.Entry, error) {
	if p.Track.Files == nil {
		return nil, nil // the value is all there is
	}
	return indexKind{}.fetch(ctx, e, p)
}
