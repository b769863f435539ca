// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package gate

import (
	"fmt"

	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

// A moved member is one that goes to another version.
type moved struct {
	*round.Member
	base, next *pins.Pin // base is nil for a pin that main does not have
}

// moves returns the members that move and that the round's pins have; that
// none is lacking there is for the gate pins to say.
func (s *Subject) moves() []moved {
	var list []moved
	for _, m := range s.Round.Moves() {
		if next := s.Next.Pin(m.Pin); next != nil && next.Lock != nil {
			list = append(list, moved{m, s.Base.Pin(m.Pin), next})
		}
	}
	return list
}

// rules is the pin whose rules hold: those of main, for a pin that main has.
func (m *moved) rules() *pins.Pin {
	if m.base != nil {
		return m.base
	}
	return m.next
}

// baseLock is what main has locked, or nil.
func (m *moved) baseLock() *pins.Lock {
	if m.base == nil {
		return nil
	}
	return m.base.Lock
}

// group is the round's group as main has it; nil for a pin alone.
func (s *Subject) group() *pins.Group {
	if g := s.Base.Group(s.Round.Group); g != nil {
		return g
	}
	return s.Next.Group(s.Round.Group)
}

// onMain is the engine with main's pins: for what is compared with.
func (s *Subject) onMain() *fetch.Engine {
	e := *s.Engine
	e.Set = s.Base
	return &e
}

// hasCommit reports whether a pin is locked at a commit of its upstream.
func hasCommit(p *pins.Pin) bool {
	return fetch.Archivable(p) && p.Lock != nil && p.Lock.Commit != ""
}

// shown is a text of others on one line.
func shown(s string) string { return inert.Line(s, 200) }

// logf prints a line into the gate's log.
func (s *Subject) logf(format string, args ...any) { fmt.Fprintf(s.Log, format+"\n", args...) }
