// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package gate

import (
	"context"
	"os"
	"path/filepath"

	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/patches"
)

// stacked looks at how the stacks of the group did on their new bases.
func stacked() Gate {
	return Gate{
		Name: "stack",
		What: "our patches apply where their pins go, each in its place",
		Run: func(_ context.Context, s *Subject) Result {
			f := &findings{}
			for _, name := range s.stacks() {
				stack(f, s, name)
			}
			return f.result()
		},
	}
}

// stacks returns the names of the stacks on members of the round.
func (s *Subject) stacks() []string {
	var names []string
	for _, m := range s.Round.Members {
		name := m.Stack
		if p := s.Next.Pin(m.Pin); name == "" && p != nil {
			name = p.Stack
		}
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// stacksApply reports whether the sources of all members are there with our
// patches on them.
func stacksApply(s *Subject) bool {
	f := &findings{}
	for _, name := range s.stacks() {
		stack(f, s, name)
	}
	return f.result().Verdict == verdict.Pass
}

func stack(f *findings, s *Subject, name string) {
	if err := s.StackErrors[name]; err != nil {
		f.say(verdict.Of(err), "stack %s: %s", name, err)
		return
	}
	r := s.Stacks[name]
	if r == nil {
		if _, err := os.Stat(filepath.Join(s.BaseDir, patches.Folder, name, patches.SeriesFile)); os.IsNotExist(err) {
			return // it has no patches yet
		}
		if s.stays(name) {
			return // it stays where it is, as main has it
		}
		f.say(verdict.Infra, "stack %s was not tried on its new base", name)
		return
	}
	f.detail("%s onto %s", name, r.NewBase.Short())
	for i := range r.Patches {
		p := &r.Patches[i]
		line := "  " + p.File + ": " + string(p.Outcome)
		if p.Accepted != "" {
			line += " (accepted)"
		}
		if behind := p.Behind(); behind != "" {
			line += ": " + shown(behind)
		}
		f.detail("%s", line)
		if v := p.Verdict(); v != verdict.Pass {
			why := "stack " + name + ": " + p.File + ": " + string(p.Outcome)
			if behind := p.Behind(); behind != "" {
				why += ": " + shown(behind)
			}
			f.say(v, "%s", why)
			f.details.WriteString(p.Details())
		}
	}
}

// stays reports whether the pin of a stack does not move.
func (s *Subject) stays(name string) bool {
	for _, m := range s.Round.Members {
		p := s.Next.Pin(m.Pin)
		if (m.Stack == name || p != nil && p.Stack == name) && m.Moves() {
			return false
		}
	}
	return true
}
