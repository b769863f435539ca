// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package gate

import (
	"context"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
)

// archived looks at the receipts of the archive's remotes, which the resolving
// phase asked: this one has no network.
func archived() Gate {
	return Gate{
		Name: "archive",
		What: "our own remotes keep every commit that would be locked",
		Run: func(_ context.Context, s *Subject) Result {
			f := &findings{}
			receipts := map[string]fetch.Archived{}
			for _, a := range s.Receipts {
				receipts[a.Name] = a
			}
			for _, m := range s.moves() {
				if !hasCommit(m.next) {
					s.logf("%s has no commit to keep", m.Pin)
					continue
				}
				if len(s.Receipts) == 0 {
					return Result{Verdict: verdict.Skipped, Why: fetch.NoArchive}
				}
				a, ok := receipts[m.Pin]
				receipt(f, m, a, ok)
			}
			return f.result()
		},
	}
}

func receipt(f *findings, m moved, a fetch.Archived, ok bool) {
	ref := fetch.KeptRef(m.Pin, git.ID(m.next.Lock.Commit))
	switch {
	case !ok:
		f.say(verdict.Fail, "no remote of the archive was asked to keep pin %s", m.Pin)
	case a.Verdict == verdict.Skipped:
		f.say(verdict.Skipped, "%s", a.Why)
	case a.Verdict == verdict.Infra:
		f.say(verdict.Infra, "the archive could not be asked for pin %s: %s", m.Pin, shown(a.Why))
	case a.Verdict != verdict.Pass:
		f.say(verdict.Fail, "the archive does not keep pin %s: %s", m.Pin, shown(a.Why))
	case a.Ref != ref:
		f.say(verdict.Fail, "the archive's receipt for pin %s is for %s, not for %s", m.Pin, shown(a.Ref), ref)
	case len(a.Held) == 0:
		f.say(verdict.Fail, "no remote of the archive holds %s", ref)
	default:
		f.detail("%s: %s", ref, shown(strings.Join(a.Held, ", ")))
	}
}
