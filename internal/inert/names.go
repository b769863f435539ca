// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package inert

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Workflow returns s as one line of at most max runes that a CI runner reading
// the log takes for text: "::" and "##[", which begin its commands, and the
// escapes that it would turn into line ends (%0A) are defused.
func Workflow(s string, max int) string {
	in := []rune(Line(s, max))
	for i, r := range in {
		switch r {
		case ':':
			// The one before may have been replaced a moment ago.
			if i+1 < len(in) && in[i+1] == ':' || i > 0 && (in[i-1] == ':' || in[i-1] == '：') {
				in[i] = '：'
			}
		case '[':
			if i >= 2 && in[i-1] == '#' && in[i-2] == '#' {
				in[i] = '［'
			}
		case '%':
			if i+2 < len(in) && isHex(in[i+1]) && isHex(in[i+2]) {
				in[i] = '％'
			}
		}
	}
	return string(in)
}

func isHex(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'f' || r >= 'A' && r <= 'F'
}

// maxFileName is the longest name that FileName returns, in bytes.
const maxFileName = 100

// FileName returns a name for a file made of s: letters, digits and ._+- of
// ASCII, everything else "_"; never empty, hidden, an option, a device of
// Windows, or longer than 100 bytes. Two texts may give one name.
func FileName(s string) string {
	var b strings.Builder
	for _, r := range s {
		if b.Len() >= maxFileName {
			break
		}
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9',
			r == '.', r == '_', r == '+', r == '-':
			b.WriteRune(r)
		default:
			b.WriteByte('_')
		}
	}
	name := strings.TrimRight(b.String(), ".")
	if name == "" {
		return "_"
	}
	if name[0] == '.' || name[0] == '-' {
		name = "_" + name[1:]
	}
	if base, _, _ := strings.Cut(strings.ToLower(name), "."); device(base) {
		name = "_" + name[1:]
	}
	return name
}

// device reports whether a lower-case name without its ending is a device of
// Windows.
func device(base string) bool {
	switch base {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(base) == 4 && (strings.HasPrefix(base, "com") || strings.HasPrefix(base, "lpt")) &&
		base[3] >= '0' && base[3] <= '9'
}

// Quote returns s between double quotes with everything that [Invisible] names,
// line ends, quotes, backslashes and bytes that are no UTF-8 written as Go
// escapes, so that a hostile name can be told from a plain one in an error.
// Of a longer s it shows the first max runes and "…".
func Quote(s string, max int) string {
	var b strings.Builder
	b.WriteByte('"')
	for n := 0; s != ""; n++ {
		if n >= max {
			b.WriteString("…")
			break
		}
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r < 0x80 && Invisible(r):
			fmt.Fprintf(&b, `\x%02x`, r)
		case Invisible(r) && r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		case Invisible(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
		s = s[size:]
	}
	b.WriteByte('"')
	return b.String()
}
