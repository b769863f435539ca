// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package gate

import (
	"context"

	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/fetch/declared"
)

// downloaded wants every download that a build may do in the inputs of its pin,
// or there as unused, for the very file that declares it.
func downloaded() Gate {
	return Gate{
		Name: "downloads",
		What: "downloads that the build files declare and no input of the pin covers",
		Run: func(ctx context.Context, s *Subject) Result {
			f := &findings{}
			for _, m := range s.moves() {
				if hasCommit(m.next) && m.next.Lock.Sum != "" {
					f.fault(downloads(ctx, f, s, m))
				}
			}
			return f.result()
		},
	}
}

func downloads(ctx context.Context, f *findings, s *Subject, m moved) error {
	list, found, err := s.Engine.Downloads(ctx, m.next)
	if err != nil {
		return err
	}
	s.logf("%s: %s", m.Pin, count(len(list), "declared download"))
	old, owed := debts(ctx, s, m), 0
	for _, u := range found.Uncovered {
		if u.Reason != declared.Changed && old[debtOf(u.Declared)] {
			owed++
		} else {
			f.say(verdict.Fail, "pin %s: %s", m.Pin, u.Sentence())
		}
		f.detail("%s: %s", m.Pin, u.Sentence())
	}
	if owed > 0 {
		f.look("pin %s: %s that no input covers, as on main already", m.Pin, count(owed, "download"))
	}
	for _, x := range found.Stale {
		f.detail("%s: %s", m.Pin, x.Sentence())
	}
	return nil
}

// A debt is a download that no input covers, wherever in its file it stands.
type debt struct {
	file, kind, name, url, command string
}

func debtOf(d declared.Declared) debt {
	return debt{d.File, string(d.Kind), d.Name, d.URL, d.Command}
}

// debts are the downloads that no input covers on main. A bump is not to blame
// for them, and a pin that nothing builds yet may have many: they are shown, and
// a person decides. Where main's version cannot be looked at there are none.
func debts(ctx context.Context, s *Subject, m moved) map[debt]bool {
	known := map[debt]bool{}
	if m.base == nil || !hasCommit(m.base) || m.base.Lock.Sum == "" {
		return known
	}
	_, found, err := s.Engine.Downloads(ctx, m.base)
	if err != nil {
		s.logf("%s: what main's version downloads is not known: %s", m.Pin, err)
		return known
	}
	for _, u := range found.Uncovered {
		known[debtOf(u.Declared)] = true
	}
	return known
}
