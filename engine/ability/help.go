// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package ability

import (
	"regexp"
	"slices"
	"strings"
)

// A Flag is one entry of --help.
type Flag struct {
	Names  []string `json:"names"`  // all spellings, as "-fa" and "--flash-attn"
	Value  string   `json:"value"`  // how the value is shown; empty: it takes none
	Values []string `json:"values"` // the values that it takes, where it lists them
}

// wide is the gap between a flag and its description.
var wide = regexp.MustCompile(`\s{2,}`)

// parseHelp reads the entries. One begins at the first column with a dash; its
// description stands after a gap, or on the next lines, indented.
func parseHelp(text string) []Flag {
	var flags []Flag
	var about []*strings.Builder // the descriptions, one a flag
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if !strings.HasPrefix(line, "-") {
			if len(flags) > 0 && strings.HasPrefix(line, " ") {
				about[len(about)-1].WriteString(" " + strings.TrimSpace(line))
			}
			continue
		}
		if f, rest := parseEntry(line); len(f.Names) > 0 {
			flags, about = append(flags, f), append(about, &strings.Builder{})
			about[len(about)-1].WriteString(rest)
		}
	}
	var have []Flag
	for i, f := range flags {
		if strings.Contains(about[i].String(), "argument has been removed") {
			continue
		}
		f.Values = values(f.Value)
		have = append(have, f)
	}
	return have
}

// parseEntry reads "-fa,   --flash-attn [on|off|auto]   set Flash Attention".
func parseEntry(line string) (Flag, string) {
	var f Flag
	for {
		name := line
		if i := strings.IndexAny(line, " ,"); i >= 0 {
			name, line = line[:i], line[i:]
		} else {
			line = ""
		}
		if name == "" || strings.Trim(name, "-") == "" {
			return Flag{}, ""
		}
		f.Names = append(f.Names, name)
		rest, more := strings.CutPrefix(line, ",")
		if rest = strings.TrimLeft(rest, " "); !more || !strings.HasPrefix(rest, "-") {
			break
		}
		line = rest
	}
	if gap := wide.FindStringIndex(line); gap != nil {
		f.Value = strings.TrimSpace(line[:gap[0]])
		return f, line[gap[1]:]
	}
	f.Value = strings.TrimSpace(line)
	return f, ""
}

// values returns the choices of "[on|off|auto]", "{a,b}", "<0|1>" and "a,b,c".
func values(shown string) []string {
	inner := strings.Trim(shown, "[]{}<>")
	if strings.ContainsAny(inner, " <>[]{}.:=") {
		return nil
	}
	list := strings.FieldsFunc(inner, func(r rune) bool { return r == '|' || r == ',' })
	if len(list) < 2 || slices.ContainsFunc(list, func(s string) bool { return s != strings.ToLower(s) }) {
		return nil
	}
	return list
}
