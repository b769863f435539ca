// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package proposal

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// MaxBody is the most bytes that a description has. GitHub takes 65,536
// characters of one.
const MaxBody = 60_000

// A section is a part of a description in several sizes, the largest first;
// each ends with a line end.
type section struct {
	name  string
	rank  int // those of a lower one get room first
	sizes []string
}

// whole is a section of one size.
func whole(name string, rank int, text string) section { return section{name, rank, []string{text}} }

// assemble puts sections after each other, each in the largest size for which
// there is room, and says which are cut.
func assemble(sections ...section) string {
	const reserve = 500 // for saying so
	room := MaxBody - reserve
	chosen := make([]int, len(sections))
	order := make([]int, len(sections))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sections[a].rank, sections[b].rank) })
	for _, i := range order {
		chosen[i] = slices.IndexFunc(sections[i].sizes, func(text string) bool { return len(text) <= room })
		if chosen[i] >= 0 {
			room -= len(sections[i].sizes[chosen[i]])
		}
	}
	var b strings.Builder
	var cut []string
	for i, s := range sections {
		switch n := chosen[i]; {
		case len(s.sizes) == 0:
		case n < 0:
			cut = append(cut, s.name+" (left out)")
		default:
			b.WriteString(s.sizes[n])
			if n > 0 {
				cut = append(cut, s.name+" (shortened)")
			}
		}
	}
	if len(cut) > 0 {
		fmt.Fprintf(&b, "\nCut to %d bytes: %s. The round's folder has everything.\n", MaxBody, strings.Join(cut, ", "))
	}
	return b.String()
}
