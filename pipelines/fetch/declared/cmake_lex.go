// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package declared

import "strings"

// A cmakeCommand is one command invocation.
type cmakeCommand struct {
	name string // in small letters
	text string // as written
	line int
	args []cmakeArg
}

// A cmakeArg is an argument before variables are replaced.
type cmakeArg struct {
	text   string
	line   int
	quoted bool // in quotes: it is one value, whatever its variables hold
	raw    bool // in brackets: nothing in it is replaced
}

// A cmakeLexer splits a CMake file into commands. It never fails: what is no
// command is skipped, what is not closed ends with the file. It takes time in
// proportion to the file's length.
type cmakeLexer struct {
	s    string
	i    int
	line int
}

// cmakeCommands returns the commands of a file, in order.
func cmakeCommands(s string) []cmakeCommand {
	l := &cmakeLexer{s: s, line: 1}
	var list []cmakeCommand
	for l.i < len(l.s) {
		c := l.s[l.i]
		switch {
		case c == '#':
			l.comment()
		case isIdent(c):
			start, line := l.i, l.line
			for l.i < len(l.s) && isIdent(l.s[l.i]) {
				l.i++
			}
			name := l.s[start:l.i]
			for l.i < len(l.s) && (l.s[l.i] == ' ' || l.s[l.i] == '\t') {
				l.i++
			}
			if l.i < len(l.s) && l.s[l.i] == '(' {
				l.i++
				list = append(list, cmakeCommand{strings.ToLower(name), name, line, l.args()})
			}
		default:
			l.next()
		}
	}
	return list
}

func isIdent(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func (l *cmakeLexer) next() {
	if l.s[l.i] == '\n' {
		l.line++
	}
	l.i++
}

// args reads to the bracket that closes the command.
func (l *cmakeLexer) args() []cmakeArg {
	var list []cmakeArg
	depth := 0
	for l.i < len(l.s) {
		line := l.line
		switch c := l.s[l.i]; c {
		case ' ', '\t', '\r', '\n', ';':
			l.next()
		case '#':
			l.comment()
		case '(':
			depth++
			l.i++
			list = append(list, cmakeArg{text: "(", line: line})
		case ')':
			l.i++
			if depth == 0 {
				return list
			}
			depth--
			list = append(list, cmakeArg{text: ")", line: line})
		case '"':
			list = append(list, cmakeArg{text: l.quoted(), line: line, quoted: true})
		default:
			if c == '[' {
				if text, ok := l.bracket(); ok {
					list = append(list, cmakeArg{text: text, line: line, quoted: true, raw: true})
					continue
				}
			}
			list = append(list, cmakeArg{text: l.unquoted(), line: line})
		}
	}
	return list
}

// comment skips a comment, to the end of the line or of its brackets.
func (l *cmakeLexer) comment() {
	l.i++
	if l.i < len(l.s) && l.s[l.i] == '[' {
		if _, ok := l.bracket(); ok {
			return
		}
	}
	for l.i < len(l.s) && l.s[l.i] != '\n' {
		l.i++
	}
}

// bracket reads [[…]] or [=[…]=] and so on; it moves only if there is one.
func (l *cmakeLexer) bracket() (string, bool) {
	j := l.i + 1
	for j < len(l.s) && l.s[j] == '=' {
		j++
	}
	if j >= len(l.s) || l.s[j] != '[' {
		return "", false
	}
	end := "]" + l.s[l.i+1:j] + "]"
	body := l.s[j+1:]
	rest := ""
	if k := strings.Index(body, end); k >= 0 {
		body, rest = body[:k], body[k+len(end):]
	}
	l.line += strings.Count(body, "\n")
	l.i = len(l.s) - len(rest)
	return strings.TrimPrefix(strings.TrimPrefix(body, "\r"), "\n"), true
}

// quoted reads a quoted argument and replaces its escapes.
func (l *cmakeLexer) quoted() string {
	var b strings.Builder
	l.i++
	for l.i < len(l.s) {
		c := l.s[l.i]
		if c == '"' {
			l.i++
			break
		}
		if c == '\\' && l.i+1 < len(l.s) {
			l.i++
			l.escape(&b)
			continue
		}
		b.WriteByte(c)
		l.next()
	}
	return b.String()
}

func (l *cmakeLexer) escape(b *strings.Builder) {
	switch c := l.s[l.i]; c {
	case '\n': // the line goes on
	case 'n':
		b.WriteByte('\n')
	case 't':
		b.WriteByte('\t')
	case 'r':
		b.WriteByte('\r')
	default:
		b.WriteByte(c)
	}
	l.next()
}

// unquoted reads an argument without quotes; quotes inside it are kept as old
// CMake keeps them.
func (l *cmakeLexer) unquoted() string {
	var b strings.Builder
	for l.i < len(l.s) {
		switch c := l.s[l.i]; c {
		case ' ', '\t', '\r', '\n', ';', '(', ')', '#':
			return b.String()
		case '"':
			b.WriteByte('"')
			b.WriteString(l.quoted())
			b.WriteByte('"')
		case '\\':
			l.i++
			if l.i < len(l.s) {
				l.escape(&b)
			}
		default:
			b.WriteByte(c)
			l.i++
		}
	}
	return b.String()
}
