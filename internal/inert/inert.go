// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package inert makes text that somebody else wrote (subjects, tags, file
// names, headers, answers of a server) safe to show: on a terminal, in
// Markdown, in an issue, in a workflow's log, as a file name.
//
// Every function is total (any bytes, any length), linear in its input, and,
// apart from [Code], [Prose], [Block] and [Quote] which wrap, idempotent.
//
// Active characters are not escaped but replaced by look-alikes that mean
// nothing (a fullwidth ＠ for @, ＃ for #). GitHub looks for mentions and issue
// references in the rendered text, after entities and backslashes are gone, so
// escapes do not stop them; it links the ASCII characters only, so a look-alike
// does, and it survives being processed twice. A look-alike that the author
// wrote is left as it is.
//
// Limits: references that a repository's owner configured (autolinks such as
// TICKET-1) are not known here. For HTML use html/template on the result of
// [Line]. Nothing here makes text safe for a shell: do not pass it to one.
package inert

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line returns s as one line for a terminal, of at most max runes: terminal
// sequences, control, bidirectional, zero-width and other invisible characters
// and invalid UTF-8 are removed, white space of any kind becomes single spaces.
// A line that was cut ends with "…". With max below 1 it is empty.
func Line(s string, max int) string {
	if max < 1 {
		return ""
	}
	var c cleaner
	b := make([]rune, 0, min(len(s), max)+1)
	for i := 0; i < len(s); {
		r, n := c.next(s, i)
		i += n
		switch {
		case r == drop:
			continue
		case r == ' ' || r == '\n':
			if len(b) == 0 || b[len(b)-1] == ' ' {
				continue
			}
			r = ' '
		}
		if b = append(b, r); len(b) > max+1 {
			break
		}
	}
	return finish(b, max)
}

// finish trims b and cuts it to max runes.
func finish(b []rune, max int) string {
	t := strings.TrimRight(string(b), " ")
	if utf8.RuneCountInString(t) <= max {
		return t
	}
	return strings.TrimRight(string(b[:max-1]), " ") + "…"
}

// Text returns s as at most maxLines lines of at most maxColumns runes, clean
// like [Line] but with line ends and indentation kept; it ends without a line
// end. What was cut is said in a last line, "… N more lines".
func Text(s string, maxLines, maxColumns int) string {
	lines := cleanLines(s, maxColumns)
	if maxLines < 1 {
		return ""
	}
	if len(lines) > maxLines {
		cut := len(lines) - maxLines + 1
		lines = append(lines[:maxLines-1:maxLines-1], "… "+itoa(cut)+" more lines")
	}
	return strings.Join(lines, "\n")
}

func cleanLines(s string, maxColumns int) []string {
	var lines []string
	var c cleaner
	var b []rune
	end := func() {
		lines = append(lines, finish(b, max(maxColumns, 1)))
		b = b[:0]
	}
	for i := 0; i < len(s); {
		r, n := c.next(s, i)
		i += n
		switch {
		case r == drop:
		case r == '\n':
			end()
		case len(b) <= maxColumns+1:
			b = append(b, r)
		}
	}
	end()
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// drop stands for a character that is left out.
const drop rune = -1

// A cleaner reads one safe rune after another.
type cleaner struct {
	marks   int // combining marks since the last base character
	term    int // where the next terminator of a terminal string is, or past it
	noTerms bool
}

// maxMarks is how many combining marks one character may carry; more than any
// language needs climbs into the neighbouring lines.
const maxMarks = 4

// next returns the rune at s[i:] that may be shown, or drop, and how many bytes
// it stood for. Line ends are '\n', every other space is ' '.
func (c *cleaner) next(s string, i int) (rune, int) {
	r, n := utf8.DecodeRuneInString(s[i:])
	switch {
	case r >= 0x20 && r < 0x7f:
		c.marks = 0
		return r, 1
	case r == utf8.RuneError && n == 1:
		return drop, 1
	case r == '\r' && strings.HasPrefix(s[i:], "\r\n"):
		return '\n', 2
	case r == '\n' || r == '\r' || r == '\v' || r == '\f' || r == 0x85 || r == 0x2028 || r == 0x2029:
		c.marks = 0
		return '\n', n
	case r == '\t' || unicode.Is(unicode.Zs, r):
		c.marks = 0
		return ' ', n
	case r == 0x1b || r == 0x9b || r == 0x90 || r == 0x9d || r == 0x98 || r == 0x9e || r == 0x9f:
		return drop, n + c.sequence(s, i+n, r)
	case Invisible(r):
		return drop, n
	case unicode.Is(unicode.M, r):
		if c.marks++; c.marks > maxMarks {
			return drop, n
		}
		return r, n
	}
	c.marks = 0
	return r, n
}

// sequence returns how many bytes after the introducer belong to a terminal
// sequence. One that never ends is only its introducer, so that an author
// cannot hide the rest of a text behind it.
func (c *cleaner) sequence(s string, i int, intro rune) int {
	start := i
	if intro == 0x1b {
		if i >= len(s) {
			return 0
		}
		switch s[i] {
		case '[':
			intro, i = 0x9b, i+1
		case ']', 'P', 'X', '^', '_':
			intro, i = 0x9d, i+1
		default: // two or three characters: ESC ( B, ESC c
			for i < len(s) && i-start < 2 && s[i] >= 0x20 && s[i] <= 0x2f {
				i++
			}
			if i < len(s) && s[i] >= 0x30 && s[i] <= 0x7e {
				i++
			}
			return i - start
		}
	}
	if intro == 0x9b {
		for j := i; j < len(s) && j-i < 64; j++ {
			if s[j] >= 0x40 && s[j] <= 0x7e {
				return j + 1 - start
			}
			if s[j] < 0x20 || s[j] > 0x3f {
				break
			}
		}
		return i - start
	}
	if c.noTerms {
		return i - start
	}
	if c.term < i {
		if c.term = terminator(s, i); c.term < 0 {
			c.term, c.noTerms = 0, true
			return i - start
		}
	}
	return c.term - start
}

// terminator returns the index after the next BEL, ESC \ or ST in s[i:], or -1.
func terminator(s string, i int) int {
	for j := i; j < len(s); j++ {
		switch {
		case s[j] == 0x07:
			return j + 1
		case s[j] == 0x1b && j+1 < len(s) && s[j+1] == '\\',
			s[j] == 0xc2 && j+1 < len(s) && s[j+1] == 0x9c:
			return j + 2
		case s[j] == '\n':
			return j
		}
	}
	return -1
}

// Invisible reports whether r shows nothing by itself or changes how its
// neighbours are shown: control and format characters (bidirectional marks,
// zero-width characters, tags), variation selectors, fillers, private use,
// surrogates and non-characters. Spaces are visible here.
func Invisible(r rune) bool {
	switch {
	case r < 0x80:
		return r < 0x20 || r == 0x7f
	case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
		return true
	case r&0xfffe == 0xfffe, r >= 0xfdd0 && r <= 0xfdef: // non-characters
		return true
	case r >= 0xfff0 && r <= 0xfffb: // interlinear annotation and reserved
		return true
	case r == 0x2800: // an empty Braille cell
		return true
	}
	return false
}
