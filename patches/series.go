// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"fmt"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/git"
)

// SeriesFile is the name of the file with the order.
const SeriesFile = "series"

// basePrefix begins the comment that says what a stack is written for when
// that is not what the pin has locked.
const basePrefix = "# base: "

// A Series is the order of a stack's patches, as quilt has it: one file name a
// line, '#' begins a comment.
type Series struct {
	Base  git.ID // from the line "# base: <commit>"; empty when there is none
	lines []seriesLine
}

// A seriesLine is a patch, with what stood above it and behind it.
type seriesLine struct {
	above  string // whole lines: comments and blank ones
	file   string // empty for what stands below the last patch
	behind string // blanks and a comment after the name
	line   int
}

// seriesHeader begins a series that did not exist before.
const seriesHeader = "# Copyright 2026 The 1bit engine authors\n# SPDX-License-Identifier: Apache-2.0\n\n"

// NewSeries returns a series of these files.
func NewSeries(files ...string) *Series {
	s := &Series{}
	for _, f := range files {
		s.lines = append(s.lines, seriesLine{file: f})
	}
	if len(s.lines) == 0 {
		s.lines = []seriesLine{{}}
	}
	s.lines[0].above = seriesHeader
	return s
}

// ParseSeries reads a series; shown is its name in problems.
func ParseSeries(shown string, data []byte) (*Series, Problems) {
	s := &Series{}
	var problems Problems
	bad := func(line int, format string, args ...any) {
		problems = append(problems, Problem{shown, line, fmt.Sprintf(format, args...)})
	}
	above := ""
	seen := map[string]int{}
	n := 0
	for l := range strings.Lines(string(data)) {
		n++
		text := strings.TrimSuffix(l, "\n")
		switch {
		case strings.HasSuffix(text, "\r"):
			bad(n, "the file was saved with CRLF line ends: save it with LF")
			return s, problems
		case strings.HasPrefix(text, basePrefix):
			id, err := git.ParseID(strings.TrimSpace(text[len(basePrefix):]))
			switch {
			case err != nil:
				bad(n, "the base must be a full commit: %s", err)
			case s.Base != "":
				bad(n, "there is a base already")
			default:
				s.Base = id
			}
			continue
		case strings.TrimSpace(text) == "" || strings.HasPrefix(strings.TrimSpace(text), "#"):
			above += text + "\n"
			continue
		}
		name := text
		if i := strings.IndexByte(text, '#'); i > 0 && text[i-1] == ' ' {
			name = text[:i]
		}
		file := strings.TrimRight(name, " \t")
		switch why := badFile(file); {
		case why != "":
			bad(n, "%s", why)
		case seen[file] > 0:
			bad(n, "%s is there twice, first in line %d", file, seen[file])
		default:
			seen[file] = n
			s.lines = append(s.lines, seriesLine{above, file, text[len(file):], n})
			above = ""
		}
	}
	if above != "" {
		s.lines = append(s.lines, seriesLine{above: above})
	}
	return s, problems
}

// badFile says why a name in a series is refused, or nothing.
func badFile(file string) string {
	switch {
	case strings.ContainsAny(file, " \t"):
		return fmt.Sprintf("%q: a line holds one file name and no options; text is always applied with -p1", file)
	case strings.ContainsAny(file, `/\`) || strings.HasPrefix(file, "."):
		return fmt.Sprintf("%q is not a file of this folder", file)
	case strings.ContainsFunc(file, func(r rune) bool { return r <= 0x20 || r >= 0x7f }):
		return fmt.Sprintf("%q has characters that a patch file's name must not have", file)
	case !strings.HasSuffix(file, Extension) || file == Extension:
		return fmt.Sprintf("%q does not end with %s", file, Extension)
	}
	return ""
}

// Files returns the names in order.
func (s *Series) Files() []string {
	var files []string
	for _, l := range s.lines {
		if l.file != "" {
			files = append(files, l.file)
		}
	}
	return files
}

// Line returns the line of a file's name, or 1.
func (s *Series) Line(file string) int {
	for _, l := range s.lines {
		if l.file == file && l.line > 0 {
			return l.line
		}
	}
	return 1
}

// With returns a series of other files. What stood above or behind a file that
// stays goes with it; what stood above one that is gone moves to the next one.
// renamed maps new names to the old ones whose comments they take; it may be
// nil.
func (s *Series) With(base git.ID, files []string, renamed map[string]string) *Series {
	out := &Series{Base: base}
	old := map[string]seriesLine{}
	stays := map[string]bool{}
	for _, f := range files {
		from := f
		if r, ok := renamed[f]; ok {
			from = r
		}
		stays[from] = true
	}
	// The comment at the top of the file stays there, whatever comes first.
	head, lost := "", ""
	for i, l := range s.lines {
		above := l.above
		if i == 0 {
			if j := strings.Index(above, "\n\n"); j >= 0 {
				head, above = above[:j+2], above[j+2:]
			}
		}
		l.above = lost + above
		lost = ""
		if !stays[l.file] && l.file != "" {
			lost = l.above
			continue
		}
		old[l.file] = l
	}
	for _, f := range files {
		from := f
		if r, ok := renamed[f]; ok {
			from = r
		}
		l := old[from]
		out.lines = append(out.lines, seriesLine{above: l.above, file: f, behind: l.behind})
	}
	if tail := lost + old[""].above; tail != "" {
		out.lines = append(out.lines, seriesLine{above: tail})
	}
	if len(out.lines) == 0 {
		out.lines = []seriesLine{{}}
	}
	out.lines[0].above = head + out.lines[0].above
	return out
}

// Format writes the series; ParseSeries reads it back.
func (s *Series) Format() []byte {
	var b strings.Builder
	for i, l := range s.lines {
		above := l.above
		if i == 0 && s.Base != "" {
			// Below the comment at the top, so that a licence stays first.
			j := strings.Index(above, "\n\n") + 2
			if j < 2 {
				j = 0
			}
			b.WriteString(above[:j])
			b.WriteString(basePrefix + string(s.Base) + "\n")
			above = above[j:]
		}
		b.WriteString(above)
		if l.file != "" {
			b.WriteString(l.file + l.behind + "\n")
		}
	}
	if len(s.lines) == 0 && s.Base != "" {
		b.WriteString(basePrefix + string(s.Base) + "\n")
	}
	return []byte(b.String())
}
