// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package gate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

// pinRules holds every member against the rules for pins.
func pinRules() Gate {
	return Gate{
		Name: "pins",
		What: "members move forward, stay on their branch or tag, are neither held nor rejected, and move together",
		Run: func(ctx context.Context, s *Subject) Result {
			f := &findings{}
			together(f, s)
			onlyMembers(f, s)
			for i := range s.Round.Members {
				member(ctx, f, s, &s.Round.Members[i])
			}
			return f.result()
		},
	}
}

// together looks at whether the group moves whole.
func together(f *findings, s *Subject) {
	g := s.group()
	in := map[string]bool{}
	var names []string
	for _, m := range s.Round.Members {
		in[m.Pin] = true
		if m.Moves() {
			names = append(names, m.Pin)
		}
	}
	switch {
	case s.Round.Mixed && (g == nil || g.Split != pins.SplitAllowed):
		f.say(verdict.Held, "only a part of %s would move, and the group does not say 'split: allowed'", s.Round.Group)
	case s.Round.Mixed:
		f.look("only a part of %s moves: %s", s.Round.Group, strings.Join(names, ", "))
	case g != nil:
		for _, name := range g.Members {
			if p := s.Base.Pin(name); !in[name] && p != nil && p.Track.Kind != pins.Manual && p.Track.Every != pins.EveryNever {
				f.say(verdict.Fail, "the round does not say what %s is, which is a member of %s", name, g.Name)
			}
		}
	}
}

// onlyMembers refuses changes of pins that the round does not speak of.
func onlyMembers(f *findings, s *Subject) {
	moves := map[string]bool{}
	for _, m := range s.Round.Members {
		moves[m.Pin] = true
	}
	for _, p := range s.Next.Pins {
		was := s.Base.Pin(p.Name)
		switch {
		case was == nil && !moves[p.Name]:
			f.say(verdict.Fail, "pin %s is new, and the round does not speak of it", p.Name)
		case was == nil:
			f.look("pin %s is new", p.Name)
		case !moves[p.Name] && !same(was.Lock, p.Lock):
			f.say(verdict.Fail, "the lock of pin %s changed, and the round does not speak of it", p.Name)
		case !same(without(was), without(p)):
			f.look("pin %s changed in more than its lock", p.Name)
		}
	}
	for _, p := range s.Base.Pins {
		if s.Next.Pin(p.Name) == nil {
			f.say(verdict.Fail, "pin %s is gone", p.Name)
		}
	}
}

// without is a pin without its lock.
func without(p *pins.Pin) *pins.Pin {
	q := *p
	q.Lock = nil
	return &q
}

// same compares what files say; where in a file it stands does not count.
func same(a, b any) bool {
	x, err := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err == nil && err2 == nil && bytes.Equal(x, y)
}

func member(ctx context.Context, f *findings, s *Subject, m *round.Member) {
	next, base := s.Next.Pin(m.Pin), s.Base.Pin(m.Pin)
	if next == nil {
		f.say(verdict.Fail, "the round speaks of the pin %s, which does not exist", m.Pin)
		return
	}
	if !asResolved(f, base, next, m) || !m.Moves() {
		return
	}
	rules := (&moved{m, base, next}).rules()
	if h := rules.Hold; h.Active(s.Now) {
		until := ""
		if h.Until != "" {
			until = " until " + string(h.Until)
		}
		f.say(verdict.Held, "pin %s is held%s: %s", m.Pin, until, shown(h.Reason))
	}
	for _, p := range []*pins.Pin{rules, next} {
		if r, is := p.Rejected(next.Lock.ID()); is {
			f.say(verdict.Held, "pin %s: %s is rejected: %s", m.Pin, m.To, shown(r.Why))
			break
		}
	}
	// A value that is read from a file, and lists no files itself, has no content.
	if bare := next.Track.Kind == pins.Field && next.Track.Files == nil; next.State() != pins.Verified && !bare {
		f.say(verdict.Fail, "pin %s is %s: only a verified lock is proposed", m.Pin, next.State())
	}
	if next.ViaMirror() {
		// That makes a draft of any proposal, whatever gates say.
		f.detail("pin %s was read from a mirror (%s): 'dist pins verify --online' has not confirmed it", m.Pin, shown(next.Lock.ViaMirror.StandsIn))
	}
	direction(ctx, f, s, base, next)
	there := *rules
	there.Lock = next.Lock
	asked, err := s.Engine.Reachable(ctx, &there)
	f.fault(err)
	if err == nil && !asked && hasCommit(next) {
		s.logf("%s: the upstream was not asked; the round says that it had %s", m.Pin, m.To)
	}
	f.detail("%s: %s -> %s", m.Pin, m.From, m.To)
}

// asResolved compares the locks with what the round says.
func asResolved(f *findings, base, next *pins.Pin, m *round.Member) bool {
	was := ""
	if base != nil {
		was = base.Lock.ID()
	}
	if was != m.From.ID {
		f.say(verdict.Held, "pin %s is at %s on main, and the round goes out from %s: it must be resolved again", m.Pin, orNothing(was), orNothing(m.From.ID))
		return false
	}
	l := next.Lock
	if l == nil || l.ID() != m.To.ID {
		f.say(verdict.Fail, "pin %s is locked at %s, and the round says %s", m.Pin, orNothing(l.ID()), orNothing(m.To.ID))
		return false
	}
	if m.Moves() && m.To.Name != "" && l.Version != "" && m.To.Name != l.Version {
		f.say(verdict.Fail, "pin %s is locked as %s, and the round says %s", m.Pin, shown(l.Version), shown(m.To.Name))
		return false
	}
	if m.Moves() && m.To.Via != "" && (l.Via == nil || l.Via.Commit != m.To.Via) {
		f.say(verdict.Fail, "pin %s was not read at %s, as the round says", m.Pin, m.To.Via)
		return false
	}
	return true
}

// direction refuses a step backwards or sideways, and a tag that moved, unless
// the lock says that a person accepted just that.
func direction(ctx context.Context, f *findings, s *Subject, base, next *pins.Pin) {
	if base == nil || base.Lock == nil {
		return
	}
	err := s.Engine.Successor(ctx, base, next.Lock)
	var wrong *fetch.WrongWay
	var tag *fetch.Moved
	if a := next.Lock.Accepted; a != nil && (errors.As(err, &wrong) || errors.As(err, &tag)) &&
		a.From == base.Lock.ID() && a.To == next.Lock.ID() {
		f.look("pin %s is no successor of what main has, which %s accepted: %s", next.Name, shown(a.By), shown(a.Why))
		return
	}
	f.fault(err)
}

func orNothing(id string) string {
	if id == "" {
		return "nothing"
	}
	return shown(id)
}
