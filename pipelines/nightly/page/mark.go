// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"slices"

	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// A mark is how a verdict looks, by more than its colour.
type mark struct {
	Verdict verdict.Verdict
	Letter  string // in Markdown
	Means   string
	Path    string // of an SVG in a square of 12 by 12
}

// none is the mark of a day on which nothing ran, and of a group that was never
// tried.
const none verdict.Verdict = "none"

var marks = []mark{
	{verdict.Pass, "P", "it was done, or nothing was to do", "M6 3.2a2.8 2.8 0 1 0 .001 0z"},
	{verdict.Fail, "F", "the thing itself is wrong", "M1 1h10v10h-10zM4.1 2.9l-1.2 1.2 1.9 1.9-1.9 1.9 1.2 1.2 1.9-1.9 1.9 1.9 1.2-1.2-1.9-1.9 1.9-1.9-1.2-1.2-1.9 1.9z"},
	{verdict.Conflict, "C", "a patch of ours no longer applies", "M6 .4 11.6 6 6 11.6 .4 6z"},
	{verdict.Infra, "I", "machine, network or service failed", "M6 .8 11.5 10.8h-11zM6 4.6 3.6 9.2h4.8z"},
	{verdict.Held, "H", "a rule says not to move", "M2.4 1.6h2.6v8.8h-2.6zM7 1.6h2.6v8.8h-2.6z"},
	{verdict.Skipped, "S", "not run; never counted as passed", "M6 2a4 4 0 1 0 .001 0zM6 3.5a2.5 2.5 0 1 1-.001 0z"},
	{none, "·", "nothing ran that day", "M4.6 5.4h2.8v1.2h-2.8z"},
}

func markOf(v verdict.Verdict) mark {
	i := slices.IndexFunc(marks, func(m mark) bool { return m.Verdict == v })
	if i < 0 {
		return marks[len(marks)-1]
	}
	return marks[i]
}

// known returns v, a fail for an unknown word, as everywhere.
func known(v verdict.Verdict) verdict.Verdict {
	if v == "" || v.Known() {
		return v
	}
	return verdict.Fail
}
