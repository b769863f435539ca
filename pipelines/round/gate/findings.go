// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// findings are what a gate collects on its way; the zero value is a pass.
type findings struct {
	list    []finding
	details strings.Builder
}

type finding struct {
	verdict verdict.Verdict
	why     string
	person  bool
}

// say notes something that is no pass, as a sentence.
func (f *findings) say(v verdict.Verdict, format string, args ...any) {
	f.list = append(f.list, finding{verdict: v, why: fmt.Sprintf(format, args...)})
}

// look notes something that passes once a person looked at it.
func (f *findings) look(format string, args ...any) {
	f.list = append(f.list, finding{verdict: verdict.Pass, why: fmt.Sprintf(format, args...), person: true})
}

// fault notes an error, with its verdict.
func (f *findings) fault(err error) {
	if err != nil {
		f.say(verdict.Of(err), "%s", err)
	}
}

// detail adds a line for a person.
func (f *findings) detail(format string, args ...any) {
	fmt.Fprintf(&f.details, format+"\n", args...)
}

// mostSaid is how many findings the sentence of a result names.
const mostSaid = 3

// result sums up: the worst verdict, with the sentences that are behind it.
// The others are above the details.
func (f *findings) result() Result {
	r := Result{Verdict: verdict.Pass}
	for _, x := range f.list {
		r.Verdict = verdict.Worst(r.Verdict, x.verdict)
	}
	// A person who looked at one thing does not let another pass.
	for _, x := range f.list {
		r.Person = r.Person || x.person && x.verdict == r.Verdict
	}
	var said []string
	var more strings.Builder
	list := f.list[:0:0]
	for _, x := range f.list { // several members may have the same to say
		if !slices.Contains(list, x) {
			list = append(list, x)
		}
	}
	for _, x := range list {
		if x.verdict == r.Verdict && len(said) < mostSaid {
			said = append(said, x.why)
			continue
		}
		fmt.Fprintf(&more, "%s: %s\n", x.verdict, strings.Join(strings.Fields(x.why), " "))
	}
	r.Why = strings.Join(said, "; ")
	if n := len(list) - len(said); n > 0 {
		r.Why += fmt.Sprintf("; and %d more", n)
	}
	r.Details = more.String() + f.details.String()
	return r
}
