// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package round

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/1bit-MONSTER/engine/internal/clock"
	"github.com/1bit-MONSTER/engine/internal/httpget"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
)

// An Opened is a folder that was handed on, ready to work from.
type Opened struct {
	Round    *Round
	Receipts []fetch.Archived
	Next     *pins.Set     // the pins with the round's locks in them
	Engine   *fetch.Engine // offline, on what the folder has, with Next
}

// Open reads what was handed on. base are the pins at Round.Base.
func (f Folder) Open(ctx context.Context, base *pins.Set) (*Opened, error) {
	r, err := Read(f.Round())
	if err != nil {
		return nil, err
	}
	if err := r.complete(); err != nil {
		return nil, verdict.Failf("%s: %w", f.Round(), err)
	}
	if err := r.fits(base); err != nil {
		return nil, err
	}
	o := &Opened{Round: r, Next: r.Next(base)}
	if err := ReadJSON(f.Receipts(), &o.Receipts); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = verdict.Infraf("there is no %s: the folder was not handed on to the end (%w)", f.Receipts(), err)
		}
		return nil, err
	}
	for _, d := range []string{f.Store(), f.Cache()} {
		if st, err := os.Stat(d); err != nil || !st.IsDir() {
			return nil, verdict.Infraf("there is no folder %s: the group was not handed on to the end", d)
		}
	}
	st, err := store.Open(f.Store())
	if err != nil {
		return nil, err
	}
	cache, err := filepath.Abs(f.Cache())
	if err != nil {
		return nil, err
	}
	client, err := httpget.New()
	if err != nil {
		return nil, err
	}
	o.Engine = &fetch.Engine{Set: o.Next, Store: st, CacheDir: cache, HTTP: client, Offline: true, Clock: clock.System}
	return o, ctx.Err()
}

// Verify reads everything again that the round's locks name and compares it with
// their sums.
func (f Folder) Verify(ctx context.Context, base *pins.Set) error {
	o, err := f.Open(ctx, base)
	if err != nil {
		return err
	}
	var all fetch.Problems
	for _, m := range o.Round.Moves() {
		p := o.Next.Pin(m.Pin)
		if p.State() != pins.Verified {
			continue // it has no content
		}
		if err := o.Engine.Prove(ctx, p); err != nil {
			all = append(all, err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	if len(all) > 0 {
		return verdict.New(all.Verdict(), fmt.Sprintf("what was handed on for %s is not what its locks say: %s", o.Round.Group, all))
	}
	return nil
}
