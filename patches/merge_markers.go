// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"fmt"
	"strings"
)

// markerSize is how long the markers of a conflict are; see newScratch.
const markerSize = 39

// A segment of a merged file is either text that both sides agree on, or a
// conflict with its three sides.
type segment struct {
	conflict              bool
	agreed                string
	upstream, base, patch string
}

var (
	markUpstream = strings.Repeat("<", markerSize) + " "
	markBase     = strings.Repeat("|", markerSize)
	markPatch    = strings.Repeat("=", markerSize)
	markEnd      = strings.Repeat(">", markerSize) + " "
)

// parseConflict cuts a file with conflict markers into segments.
func parseConflict(content string) ([]segment, error) {
	var out []segment
	var current segment
	into := &current.agreed // the side whose text begins at start
	start, at, n := 0, 0, 0
	broken := func() ([]segment, error) {
		return nil, fmt.Errorf("the markers of a conflict are out of order in line %d", n)
	}
	for l := range strings.Lines(content) {
		n++
		here := at
		at += len(l)
		var next *string
		ok := true
		switch {
		case strings.HasPrefix(l, markUpstream):
			next, ok = &current.upstream, !current.conflict
		case strings.HasPrefix(l, markBase):
			next, ok = &current.base, into == &current.upstream
		case strings.TrimRight(l, "\r\n") == markPatch:
			next, ok = &current.patch, into == &current.base || into == &current.upstream
		case strings.HasPrefix(l, markEnd):
			next, ok = &current.agreed, into == &current.patch
		default:
			continue
		}
		if !ok {
			return broken()
		}
		*into = content[start:here]
		start = at
		switch into {
		case &current.agreed:
			if current.agreed != "" {
				out = append(out, current)
			}
			current = segment{conflict: true}
		case &current.patch:
			out = append(out, current)
			current = segment{}
		}
		into = next
	}
	if current.conflict {
		return broken()
	}
	if start < len(content) {
		out = append(out, segment{agreed: content[start:]})
	}
	return out, nil
}

// joined puts a file together again, with one text for each conflict.
func joined(segments []segment, choose func(segment) string) string {
	var b strings.Builder
	for _, s := range segments {
		if s.conflict {
			b.WriteString(choose(s))
		} else {
			b.WriteString(s.agreed)
		}
	}
	return b.String()
}
