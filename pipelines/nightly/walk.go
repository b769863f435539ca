// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package nightly

import (
	"context"

	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// A work is what is done in one state. An error ends the night for the group,
// with the error's verdict; an outcome says how it goes on.
type work func(ctx context.Context) (Outcome, error)

// walk takes a group through one phase, from a state until the night ends for
// it or the next phase has to go on. It reports whether there is a next phase.
func (n *Night) walk(ctx context.Context, phase Phase, from State, g *GroupReport, does map[State]work) (more bool, err error) {
	g.State, g.Verdict = from, verdict.Pass
	for {
		do := does[g.State]
		if do == nil {
			return true, nil
		}
		on, workErr := do(ctx)
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if workErr != nil {
			on = Stopped
			g.Verdict, g.Why = verdict.Of(workErr), inert.Line(workErr.Error(), 500)
		}
		t, err := next(phase, g.State, on)
		if err != nil {
			return false, err
		}
		g.State = t.To
		if n.o.After != nil {
			n.o.After(g.Group, t)
		}
		if t.Ends() {
			return false, nil
		}
	}
}
