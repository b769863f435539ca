// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"slices"
	"strings"
	"unicode"
)

// A region is a run of lines that differs: lines [aLo,aHi) of one text against
// [bLo,bHi) of the other, from 0.
type region struct{ aLo, aHi, bLo, bHi int }

// regions compares two texts line by line.
func regions(a, b []string) []region {
	gone, fresh := diffLines(a, b)
	var out []region
	for i, j := 0, 0; i < len(a) || j < len(b); {
		if (i >= len(a) || !gone[i]) && (j >= len(b) || !fresh[j]) {
			i, j = i+1, j+1
			continue
		}
		r := region{aLo: i, bLo: j}
		for i < len(a) && gone[i] {
			i++
		}
		for j < len(b) && fresh[j] {
			j++
		}
		r.aHi, r.bHi = i, j
		out = append(out, r)
	}
	return out
}

// across returns the line of b that line i of a is, and whether there is one.
// For a line that is gone it returns the region that it is in.
func across(rs []region, i int) (line int, same bool, in region) {
	shift := 0
	for _, r := range rs {
		if i < r.aLo {
			break
		}
		if i < r.aHi {
			return 0, false, r
		}
		shift = r.bHi - r.aHi
	}
	return i + shift, true, region{}
}

// reversed swaps the sides.
func reversed(rs []region) []region {
	out := make([]region, len(rs))
	for i, r := range rs {
		out[i] = region{r.bLo, r.bHi, r.aLo, r.aHi}
	}
	return out
}

// telling tells whether a line says enough that finding it a second time is no
// accident: braces, blank lines and the like do not.
func telling(line string) bool {
	n := 0
	for _, r := range line {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			if n++; n >= 8 {
				return true
			}
		}
	}
	return false
}

// A bag counts lines, without the blanks at their ends.
type bag map[string]int

func newBag(lines []string) bag {
	b := make(bag, len(lines))
	for _, l := range lines {
		b[strings.TrimSpace(l)]++
	}
	return b
}

// changedLines are the lines that a patch takes ('-' before them) and adds
// ('+'), those that say nothing left out, each with its count.
type changedLines map[string]int

func (c changedLines) add(sign byte, line string) {
	if line = strings.TrimSpace(line); telling(line) {
		c[string(sign)+line]++
	}
}

func (c changedLines) size() int {
	n := 0
	for _, k := range c {
		n += k
	}
	return n
}

// common is how many lines two patches have in common.
func (c changedLines) common(d changedLines) int {
	if len(d) < len(c) {
		c, d = d, c
	}
	n := 0
	for l, k := range c {
		n += min(k, d[l])
	}
	return n
}

// undoes tells whether c takes exactly what d adds, and adds what it takes.
func (c changedLines) undoes(d changedLines) bool {
	if len(c) != len(d) || len(c) == 0 {
		return false
	}
	for l, n := range c {
		sign := "+"
		if l[0] == '+' {
			sign = "-"
		}
		if d[sign+l[1:]] != n {
			return false
		}
	}
	return true
}

// similarity is the share of common lines in both patches, from 0 to 1.
func (c changedLines) similarity(d changedLines) float64 {
	total := c.size() + d.size()
	if total == 0 {
		return 0
	}
	return 2 * float64(c.common(d)) / float64(total)
}

// containment is the share of c's lines that d has as well, from 0 to 1.
func (c changedLines) containment(d changedLines) float64 {
	if len(c) == 0 {
		return 0
	}
	return float64(c.common(d)) / float64(c.size())
}

// baseSubject is a commit's subject without what hosts put behind it, in
// lower case: "Add x (#12)" becomes "add x".
func baseSubject(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	if n := pullRequestAtEnd(s); n != "" {
		s = strings.TrimSpace(strings.TrimSuffix(s, "(#"+n+")"))
	}
	return s
}

// sortedSet returns the different strings of a list, in order.
func sortedSet(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}
