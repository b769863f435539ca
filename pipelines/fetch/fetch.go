// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// A Fetched is what became of one pin's content.
type Fetched struct {
	Name    string          `json:"name"`
	Version string          `json:"version,omitempty"`
	Commit  string          `json:"commit,omitempty"`
	Sum     string          `json:"sum,omitempty"`
	Paths   []string        `json:"paths,omitempty"` // in the store, those of its inputs last
	Size    int64           `json:"size,omitempty"`  // bytes of all files
	Files   int             `json:"files,omitempty"`
	Verdict verdict.Verdict `json:"verdict"`
	Why     string          `json:"why,omitempty"` // of a verdict that is not pass
}

// Content brings what a pin's lock describes into the store, verified, and
// returns its entries: one for a source, one a file for kinds with files, in
// the order of the lock.
func (e *Engine) Content(ctx context.Context, p *pins.Pin) ([]*store.Entry, error) {
	if p.State() != pins.Verified {
		return nil, wrap(p, verdict.Skippedf("it is %s: only a verified lock can be fetched; run 'dist pins update %s'", p.State(), p.Name))
	}
	var entries []*store.Entry
	err := e.mending(ctx, func() (err error) {
		entries, err = kindOf(p).fetch(ctx, e, p)
		return err
	})
	return entries, wrap(p, err)
}

// Fetch is Content for many pins side by side. What went wrong with one is in
// its row.
func (e *Engine) Fetch(ctx context.Context, list []*pins.Pin) ([]Fetched, error) {
	rows := make([]Fetched, len(list))
	group := errgroup.Group{}
	group.SetLimit(e.contentJobs())
	for i, p := range list {
		group.Go(func() error {
			rows[i] = e.fetchRow(ctx, p)
			return nil
		})
	}
	group.Wait()
	return rows, ctx.Err()
}

func (e *Engine) fetchRow(ctx context.Context, p *pins.Pin) Fetched {
	row := Fetched{Name: p.Name, Verdict: verdict.Pass}
	if l := p.Lock; l != nil {
		row.Version, row.Commit, row.Sum = l.Version, l.Commit, l.Sum
	}
	entries, err := e.Content(ctx, p)
	if err == nil {
		var inputs []*store.Entry
		inputs, err = e.FetchInputs(ctx, p)
		entries, err = append(entries, inputs...), wrap(p, err)
	}
	if err != nil {
		row.Verdict, row.Why = verdict.Of(err), err.Error()
		return row
	}
	for _, x := range entries {
		row.Paths = append(row.Paths, x.Path)
		row.Size += x.Size
		row.Files += x.Files
	}
	return row
}
