// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package pins

import (
	"time"

	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// A Row is one pin in a list of all.
type Row struct {
	Name      string          `json:"name"`
	Group     string          `json:"group,omitempty"`
	Version   string          `json:"version,omitempty"` // locked
	Commit    string          `json:"commit,omitempty"`  // locked
	AgeDays   *int            `json:"age-days,omitempty"`
	AgeFrom   string          `json:"age-from,omitempty"` // lock-date: the upstream's own date, not when we first saw it
	Newest    *Newer          `json:"newest,omitempty"`
	State     State           `json:"state"`
	ViaMirror bool            `json:"via-mirror"`
	Verdict   verdict.Verdict `json:"verdict"`
	Why       string          `json:"why,omitempty"` // of a verdict that is not pass
}

// Rows returns all pins as a list; newest is what upstreams were last known to
// have. The verdict is what the files alone say: pass for a verified lock, held
// for an active hold, skipped for what nothing can be built from yet.
func (s *Set) Rows(newest map[string]Newer, now time.Time) []Row {
	rows := make([]Row, 0, len(s.Pins))
	for _, p := range s.Pins {
		r := Row{Name: p.Name, State: p.State(), ViaMirror: p.ViaMirror(), Verdict: verdict.Pass}
		if g := s.GroupOf(p.Name); g != nil {
			r.Group = g.Name
		}
		if l := p.Lock; l != nil {
			r.Version, r.Commit = l.Version, l.Commit
			if !l.Date.IsZero() {
				days := int(now.Sub(l.Date).Hours() / 24)
				r.AgeDays, r.AgeFrom = &days, "lock-date"
			}
		}
		if n, ok := newest[p.Name]; ok {
			r.Newest = &n
		}
		switch {
		case p.Hold.Active(now):
			r.Verdict, r.Why = verdict.Held, p.Hold.Reason
		case r.State == Unlocked:
			r.Verdict, r.Why = verdict.Skipped, "never locked"
		case r.State == Resolved:
			r.Verdict, r.Why = verdict.Skipped, "not fetched and verified"
		}
		rows = append(rows, r)
	}
	return rows
}
