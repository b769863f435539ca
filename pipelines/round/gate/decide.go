// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package gate

import (
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// Worst returns the verdict of all results together; see verdict.Worst. It is
// what a command ends with, not what decides over a proposal: see Decision.
func Worst(results []Result) verdict.Verdict {
	all := make([]verdict.Verdict, len(results))
	for i, r := range results {
		all[i] = r.Verdict
	}
	return verdict.Worst(all...)
}

// Decision says what becomes of a round after its gates: with the verdict Pass
// it may be proposed, only as a draft where there are reasons for that.
//
// A fail, conflict, infra or held stops it. A held that waits for a person or
// for evidence that is made on the proposal's branch, a skipped gate, which
// found nothing out, and a pass that a person must look at, make it a draft.
// Skipped for want of any key to verify with is what most upstreams come to,
// and no reason. Where no gate found anything out it is Skipped.
func Decision(results []Result) (v verdict.Verdict, draft []string) {
	var stops []verdict.Verdict
	ran := false
	for _, r := range results {
		switch r.Verdict {
		case verdict.Pass:
			ran = true
			if r.Person {
				draft = append(draft, r.sentence())
			}
		case verdict.Skipped:
			if !r.moot() {
				draft = append(draft, r.sentence())
			}
		case verdict.Held:
			if r.waits() {
				draft = append(draft, r.sentence())
				break
			}
			stops = append(stops, r.Verdict)
		default: // an unknown word is a fail
			stops = append(stops, r.Verdict)
		}
	}
	switch {
	case len(stops) > 0:
		return verdict.Worst(stops...), draft
	case !ran:
		return verdict.Skipped, draft
	}
	return verdict.Pass, draft
}

// waits: it is held until somebody did something that needs the proposal.
func (r *Result) waits() bool { return r.Verdict == verdict.Held && r.Person }

// moot: it was skipped because nothing asks for it.
func (r *Result) moot() bool {
	return r.Verdict == verdict.Skipped && r.Gate == signatureGate && r.Why == noKeys
}

func (r *Result) sentence() string {
	if r.Why == "" {
		return r.Gate + ": " + string(r.Verdict)
	}
	return r.Gate + ": " + r.Why
}
