// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// A Checked is what one upstream has.
type Checked struct {
	Name     string          `json:"name"`
	Locked   string          `json:"locked,omitempty"` // version, else commit
	Newest   *pins.Newer     `json:"newest,omitempty"`
	Moves    bool            `json:"moves"` // the newest is not what is locked
	StandsIn string          `json:"stands-in,omitempty"`
	Notes    []string        `json:"notes,omitempty"`
	Verdict  verdict.Verdict `json:"verdict"`
	Why      string          `json:"why,omitempty"` // of a verdict that is not pass
}

// Check asks the upstreams of pins for their newest versions, all side by side,
// and remembers the answers in the cache for 'dist pins list'. No pin changes.
// What went wrong with one pin is in its row. The answers are noted in the cache
// where it can be written; 'dist pins list' shows them.
func (e *Engine) Check(ctx context.Context, list []*pins.Pin) ([]Checked, error) {
	in := e.newRound(list...)
	rows := make([]Checked, len(list))
	group := errgroup.Group{}
	group.SetLimit(e.jobs())
	for i, p := range list {
		group.Go(func() error {
			rows[i] = in.check(ctx, p)
			return nil
		})
	}
	group.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	found := map[string]pins.Newer{}
	for _, row := range rows {
		if row.Newest != nil {
			found[row.Name] = *row.Newest
		}
	}
	if len(found) == 0 {
		return rows, nil
	}
	dir, err := e.cache()
	if err == nil {
		err = pins.WriteNewest(filepath.Join(dir, pins.NewestFile), found)
	}
	if err != nil {
		e.Progress.Step("the answers are not kept for 'dist pins list': %s", err)
	}
	return rows, nil
}

func (e *Engine) check(ctx context.Context, p *pins.Pin) Checked {
	row := Checked{Name: p.Name, Verdict: verdict.Pass}
	if l := p.Lock; l != nil {
		row.Locked = l.Version
		if row.Locked == "" {
			row.Locked = l.ID()
		}
	}
	var c *Candidate
	err := e.mending(ctx, func() (err error) {
		c, err = e.newest(ctx, p)
		return err
	})
	if err != nil {
		row.Verdict, row.Why = verdict.Of(err), err.Error()
		return row
	}
	row.Newest = &pins.Newer{Version: c.Version, Commit: string(c.Commit), Asked: e.now()}
	row.Moves = c.id() != p.Lock.ID()
	row.StandsIn, row.Notes = c.StandsIn, c.Notes
	rejected, is := p.Rejected(c.id())
	switch {
	case is:
		row.Verdict, row.Why = verdict.Held, "the newest version is rejected: "+orUnsaid(rejected.Why)
	case p.Hold.Active(e.now()):
		row.Verdict, row.Why = verdict.Held, p.Hold.Reason
	}
	return row
}

func orUnsaid(why string) string {
	if why == "" {
		return "no reason is given"
	}
	return why
}

// WorstOf sums rows up.
func WorstOf[T any](rows []T, of func(T) verdict.Verdict) verdict.Verdict {
	var all []verdict.Verdict
	for _, r := range rows {
		all = append(all, of(r))
	}
	return verdict.Worst(all...)
}
