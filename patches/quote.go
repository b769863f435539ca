// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"fmt"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/inert"
)

// quotePath writes a path as git does: in quotes, bytes beyond ASCII in octal,
// where it has anything but plain characters.
func quotePath(prefix, path string) string {
	plain := true
	var b strings.Builder
	for i := range len(path) {
		switch c := path[i]; {
		case c == '"' || c == '\\':
			plain = false
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < 0x20 || c >= 0x7f:
			plain = false
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	if plain {
		return prefix + path
	}
	return `"` + prefix + b.String() + `"`
}

// unquotePath reads what quotePath writes, from the start of s, and returns
// what follows. The prefix must be there. Without quotes the path goes to the
// end of s.
func unquotePath(prefix, s string) (path, rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		path, ok = strings.CutPrefix(s, prefix)
		return path, "", ok
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; c {
		case '"':
			path, ok = strings.CutPrefix(b.String(), prefix)
			return path, s[i+1:], ok
		case '\\':
			if i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\') {
				i++
				b.WriteByte(s[i])
				continue
			}
			if i+3 >= len(s) {
				return "", "", false
			}
			n := 0
			for _, d := range []byte(s[i+1 : i+4]) {
				if d < '0' || d > '7' {
					return "", "", false
				}
				n = n*8 + int(d-'0')
			}
			if n > 255 {
				return "", "", false
			}
			b.WriteByte(byte(n))
			i += 3
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false
}

// show makes untrusted text fit for one line of a message.
func show(s string) string { return inert.Line(s, 200) }
