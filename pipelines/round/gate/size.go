// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package gate

import (
	"context"
	"fmt"

	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
)

// A jump is growth by more than a half, and by more than 50 MB: less than that
// is what a release may bring, and a small pin may double.
const (
	jumpPercent = 150
	jumpBytes   = 50e6
)

// sized compares how large the content of pins is. A jump is no reason to
// refuse: files that were vendored, weights, or a build folder that somebody
// committed look all the same from here.
func sized() Gate {
	return Gate{
		Name: "size",
		What: "content that grew by more than a half and by more than 50 MB",
		Run: func(ctx context.Context, s *Subject) Result {
			f := &findings{}
			for _, m := range s.moves() {
				f.fault(size(ctx, f, s, m))
			}
			return f.result()
		},
	}
}

func size(ctx context.Context, f *findings, s *Subject, m moved) error {
	after, err := contentSize(ctx, s.Engine, m.next)
	if err != nil {
		return err
	}
	if m.baseLock() == nil {
		f.detail("%s: %s, new", m.Pin, megabytes(after))
		return nil
	}
	before, err := contentSize(ctx, s.onMain(), m.base)
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		s.logf("%s on main: %v", m.Pin, err)
		f.say(verdict.Skipped, "pin %s has %s, and how much it has on main is not known here", m.Pin, megabytes(after))
		return nil
	}
	f.detail("%s: %s -> %s", m.Pin, megabytes(before), megabytes(after))
	if jumped(before, after) {
		f.look("pin %s grows from %s to %s", m.Pin, megabytes(before), megabytes(after))
	}
	return nil
}

func jumped(before, after int64) bool {
	return after-before > jumpBytes && float64(after)*100 > float64(before)*jumpPercent
}

// contentSize is the size of what a lock describes, without its inputs: as the
// lock says for files, as the store has it for trees.
func contentSize(ctx context.Context, e *fetch.Engine, p *pins.Pin) (int64, error) {
	var sum int64
	if len(p.Lock.Files) > 0 {
		for _, x := range p.Lock.Files {
			sum += x.Size
		}
		return sum, nil
	}
	if p.State() != pins.Verified && p.Track.Kind == pins.Field {
		return 0, nil // a value alone
	}
	entries, err := e.Content(ctx, p)
	if err != nil {
		return 0, err
	}
	for _, x := range entries {
		sum += x.Size
	}
	return sum, nil
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
