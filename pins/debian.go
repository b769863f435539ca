// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package pins

import "strings"

// parseDebian reads a Debian version in the order of Debian's policy (5.6.12):
// epoch, upstream version, revision; runs of digits are numbers, letters come
// before other characters, the end before both, and ~ before the end.
func parseDebian(s string) (part, bool) {
	epoch, rest, ok := strings.Cut(s, ":")
	if !ok {
		epoch, rest = "0", s
	}
	upstream, revision := rest, "0"
	if i := strings.LastIndexByte(rest, '-'); i >= 0 {
		upstream, revision = rest[:i], rest[i+1:]
	}
	if upstream == "" || revision == "" || strings.ContainsRune(revision, ':') || upstream[0] < '0' || upstream[0] > '9' {
		return part{}, false
	}
	e, u, r := number(epoch), debianPart(upstream), debianPart(revision)
	return part{key: e.key + u.key + r.key, canon: e.canon + ":" + u.canon + "-" + r.canon}, true
}

// debianPart encodes text and numbers in turn, text first; a part that ends
// with text has the number 0 after it.
func debianPart(s string) part {
	const end = 2
	var key, canon strings.Builder
	for {
		n := strings.IndexAny(s, "0123456789")
		if n < 0 {
			n = len(s)
		}
		for _, c := range []byte(s[:n]) {
			switch {
			case c == '~':
				key.WriteByte(1)
			case c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z':
				key.WriteByte(c)
			default:
				key.WriteByte(c | 0x80)
			}
		}
		canon.WriteString(s[:n])
		key.WriteByte(end)
		s = s[n:]
		n = len(s) - len(strings.TrimLeft(s, "0123456789"))
		one := number(s[:n])
		key.WriteString(one.key)
		canon.WriteString(one.canon)
		if s = s[n:]; s == "" {
			key.WriteByte(end)
			return part{key: key.String(), canon: canon.String()}
		}
	}
}
