// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"strings"
	"unicode/utf8"
)

// margin is how many unchanged lines stand around a change.
const margin = 3

// maxSection is the most bytes of the line that names a hunk's surroundings.
const maxSection = 80

// makeHunks returns the change from one text to another.
func makeHunks(before, after string) []Hunk {
	a, b := splitLines(before), splitLines(after)
	gone, fresh := diffLines(a, b)
	var hunks []Hunk
	i, j := 0, 0 // the next line of each side; all before is dealt with
	for {
		for i < len(a) && j < len(b) && !gone[i] && !fresh[j] {
			i, j = i+1, j+1
		}
		if i == len(a) && j == len(b) {
			return hunks
		}
		lead := min(margin, i)
		h := Hunk{OldStart: i - lead + 1, NewStart: j - lead + 1, Section: section(a, i-lead)}
		for _, l := range a[i-lead : i] {
			h.Lines = append(h.Lines, " "+l)
		}
		// One hunk goes on while at most twice the context is unchanged.
		for {
			for i < len(a) && gone[i] {
				h.Lines = append(h.Lines, "-"+a[i])
				i++
			}
			for j < len(b) && fresh[j] {
				h.Lines = append(h.Lines, "+"+b[j])
				j++
			}
			same := 0
			for i+same < len(a) && j+same < len(b) && !gone[i+same] && !fresh[j+same] {
				same++
			}
			end := i+same == len(a) && j+same == len(b)
			take := same
			if end || same > 2*margin {
				take = min(same, margin)
			}
			for _, l := range a[i : i+take] {
				h.Lines = append(h.Lines, " "+l)
			}
			i, j = i+take, j+take
			if end || take < same {
				break
			}
		}
		h.count()
		hunks = append(hunks, h)
	}
}

// count fills in the counts. A side without lines starts at the line before.
func (h *Hunk) count() {
	for _, l := range h.Lines {
		if l[0] != '+' {
			h.OldCount++
		}
		if l[0] != '-' {
			h.NewCount++
		}
	}
	if h.OldCount == 0 {
		h.OldStart--
	}
	if h.NewCount == 0 {
		h.NewStart--
	}
}

// section is the last line above lines[top] that starts with a letter, '_' or
// '$': in most languages the function that the hunk is in.
func section(lines []string, top int) string {
	for i := top - 1; i >= 0; i-- {
		c := lines[i][0]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$' {
			s := lines[i]
			if len(s) > maxSection {
				s = s[:maxSection]
				for len(s) > 0 && !utf8.ValidString(s) && len(s) > maxSection-utf8.UTFMax {
					s = s[:len(s)-1]
				}
			}
			return strings.TrimRight(s, " \t\r\n\v\f")
		}
	}
	return ""
}

// isBinary tells whether a content is not to be shown as lines.
func isBinary(content []byte) bool { return strings.IndexByte(string(content), 0) >= 0 }
