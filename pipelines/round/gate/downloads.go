// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package gate

import (
	"context"

	"github.com/1bit-MONSTER/engine/internal/verdict"
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
	for _, u := range found.Uncovered {
		f.say(verdict.Fail, "pin %s: %s", m.Pin, u.Sentence())
		f.detail("%s: %s", m.Pin, u.Sentence())
	}
	for _, x := range found.Stale {
		f.detail("%s: %s", m.Pin, x.Sentence())
	}
	return nil
}
