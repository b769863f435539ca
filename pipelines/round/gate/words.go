// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package gate

import (
	"go/scanner"
	"go/token"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A word is an identifier in code.
type word struct {
	name string
	line int // from 1
	// quoted: it is the whole of a string, as what is looked up by its name at
	// run time.
	quoted bool
}

// languages says by the ending of a file how its comments and strings look. A
// file with another ending is prose, and has no identifiers.
var languages = map[string]func(src string) []word{
	".go": goWords, ".rs": rustWords,
	".py": hashWords, ".pyi": hashWords, ".sh": hashWords, ".cmake": hashWords, ".rb": hashWords,
}

// likeC are the endings of files that are read as C is.
var likeC = strings.Fields(`.c .cc .cpp .cxx .c++ .h .hh .hpp .hxx .h++ .inc .inl .ipp .tpp .def .cu .cuh .hip .cl .m .mm .metal
	.comp .glsl .vert .frag .hlsl .java .cs .swift .kt .js .mjs .ts .zig`)

// scannerOf returns what reads the identifiers of a file, or nil. Templates are
// read as what they become.
func scannerOf(name string) func(src string) []word {
	ext := strings.ToLower(path.Ext(strings.TrimSuffix(name, ".in")))
	if f := languages[ext]; f != nil {
		return f
	}
	for _, c := range likeC {
		if c == ext {
			return func(src string) []word { return cWords(src, false) }
		}
	}
	return nil
}

func goWords(src string) []word {
	var s scanner.Scanner
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(src))
	s.Init(file, []byte(src), func(token.Position, string) {}, 0)
	var words []word
	for {
		pos, kind, text := s.Scan()
		switch kind {
		case token.EOF:
			return words
		case token.IDENT:
			words = append(words, word{text, file.Line(pos), false})
		case token.STRING:
			if name, err := strconv.Unquote(text); err == nil && isWord(name) {
				words = append(words, word{name, file.Line(pos), true})
			}
		}
	}
}

func rustWords(src string) []word { return cWords(src, true) }

// cWords reads C and what looks like it. Comments, strings, what conditional
// directives ask for and what is below '#if 0' are no code.
func cWords(src string, rust bool) []word {
	l := &cLexer{src: src, rust: rust, line: 1, fresh: true}
	for l.i < len(l.src) {
		l.step()
	}
	return l.words
}

type cLexer struct {
	src   string
	rust  bool
	i     int
	line  int
	words []word

	fresh bool        // nothing but blanks was on the line so far
	mute  bool        // the rest of the line is a directive that declares and uses nothing
	above []condition // the conditions around this place
}

// A condition is one of #if and #ifdef.
type condition struct {
	outside        bool // what is around it is dead
	dead, elseDead bool
}

// quiet are the directives whose names are asked for, not used or declared.
var quiet = map[string]bool{
	"include": true, "include_next": true, "import": true, "embed": true, "ifdef": true, "ifndef": true, "if": true,
	"elif": true, "elifdef": true, "elifndef": true, "else": true, "endif": true, "undef": true, "error": true,
	"warning": true, "pragma": true, "line": true, "ident": true, "region": true, "endregion": true,
}

func (l *cLexer) dead() bool {
	if len(l.above) == 0 {
		return false
	}
	c := l.above[len(l.above)-1]
	return c.outside || c.dead
}

func (l *cLexer) has(prefix string) bool { return strings.HasPrefix(l.src[l.i:], prefix) }

// skip goes n bytes further and counts lines.
func (l *cLexer) skip(n int) {
	n = min(n, len(l.src)-l.i)
	l.line += strings.Count(l.src[l.i:l.i+n], "\n")
	l.i += n
}

// splice goes over a backslash at the end of a line, which joins it with the
// next.
func (l *cLexer) splice() bool {
	for _, s := range []string{"\\\n", "\\\r\n"} {
		if l.has(s) {
			l.skip(len(s))
			return true
		}
	}
	return false
}

func (l *cLexer) step() {
	c := l.src[l.i]
	switch {
	case l.splice():
	case c == '\n':
		l.skip(1)
		l.fresh, l.mute = true, false
	case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
		l.i++
	case l.has("//"):
		for l.i < len(l.src) && l.src[l.i] != '\n' {
			if !l.splice() {
				l.i++
			}
		}
	case l.has("/*"):
		end := strings.Index(l.src[l.i+2:], "*/")
		if end < 0 {
			end = len(l.src)
		}
		l.skip(end + 4)
	case c == '#' && l.fresh && !l.rust:
		l.directive()
	case c == '"':
		l.fresh = false
		l.quote('"')
	case c == '`' && !l.rust:
		l.fresh = false
		l.template()
	case c == '\'':
		l.fresh = false
		l.character()
	case c >= '0' && c <= '9':
		l.fresh = false
		l.number()
	case wordByte(c):
		l.fresh = false
		l.word()
	default:
		l.fresh = false
		l.i++
	}
}

func wordByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= utf8.RuneSelf
}

// isWord reports whether a text is one identifier.
func isWord(s string) bool {
	if s == "" || s[0] >= '0' && s[0] <= '9' {
		return false
	}
	for i := range len(s) {
		if !wordByte(s[i]) {
			return false
		}
	}
	return true
}

func (l *cLexer) add(name string, quoted bool) {
	if !l.mute && !l.dead() {
		l.words = append(l.words, word{name, l.line, quoted})
	}
}

// word reads an identifier, or a raw string that it begins.
func (l *cLexer) word() {
	start := l.i
	for l.i < len(l.src) && wordByte(l.src[l.i]) {
		l.i++
	}
	name := l.src[start:l.i]
	next := byte(0)
	if l.i < len(l.src) {
		next = l.src[l.i]
	}
	switch {
	case l.rust && (name == "r" || name == "br" || name == "cr") && (next == '"' || next == '#'):
		l.rustRaw()
	case !l.rust && next == '"' && (name == "R" || name == "LR" || name == "uR" || name == "UR" || name == "u8R"):
		l.raw()
	case next == '"' && (name == "L" || name == "u" || name == "U" || name == "u8" || name == "b" || name == "c"):
		l.quote('"')
	default:
		l.add(name, false)
	}
}

// number goes over a number, whose digits C++ parts with single quotes.
func (l *cLexer) number() {
	for l.i < len(l.src) {
		c := l.src[l.i]
		apart := c == '\'' && !l.rust && l.i+1 < len(l.src) && wordByte(l.src[l.i+1])
		if !wordByte(c) && c != '.' && !apart {
			return
		}
		if c == '.' && l.has("..") {
			return // a range
		}
		l.i++
	}
}

// quote reads a string up to its end, or to that of the line.
func (l *cLexer) quote(end byte) {
	l.i++
	start := l.i
	for l.i < len(l.src) {
		switch c := l.src[l.i]; {
		case l.splice():
		case c == '\\':
			l.skip(2)
		case c == end:
			if s := l.src[start:l.i]; isWord(s) {
				l.add(s, true)
			}
			l.i++
			return
		case c == '\n' && !l.rust:
			return // it was none
		default:
			l.skip(1)
		}
	}
}

// template reads a string between back-ticks, over lines.
func (l *cLexer) template() {
	l.i++
	for l.i < len(l.src) {
		switch l.src[l.i] {
		case '\\':
			l.skip(2)
		case '`':
			l.i++
			return
		default:
			l.skip(1)
		}
	}
}

// character goes over a character; a quote that begins none is left alone, as
// the lifetimes of Rust.
func (l *cLexer) character() {
	rest := l.src[l.i+1:]
	_, n := utf8.DecodeRuneInString(rest)
	switch {
	case strings.HasPrefix(rest, "\\"):
		l.quote('\'')
	case n > 0 && n < len(rest) && rest[n] == '\'':
		l.skip(n + 2)
	case l.rust:
		l.i++
	default: // of several characters, or an apostrophe in a text that is no code
		end := strings.IndexAny(rest, "'\n")
		if end > 0 && rest[end] == '\'' && end <= 8 {
			l.skip(end + 2)
			return
		}
		l.i++
	}
}

// raw reads R"delimiter(…)delimiter".
func (l *cLexer) raw() {
	// A delimiter has 16 characters at most.
	open := strings.IndexByte(l.src[l.i:min(len(l.src), l.i+18)], '(')
	if open < 0 {
		l.quote('"')
		return
	}
	close := ")" + l.src[l.i+1:l.i+open] + `"`
	end := strings.Index(l.src[l.i:], close)
	if end < 0 {
		l.skip(len(l.src))
		return
	}
	l.skip(end + len(close))
}

// rustRaw reads r#"…"# with as many signs as there are.
func (l *cLexer) rustRaw() {
	signs := 0
	for l.i+signs < len(l.src) && l.src[l.i+signs] == '#' {
		signs++
	}
	if l.i+signs >= len(l.src) || l.src[l.i+signs] != '"' {
		return // r#name, an identifier
	}
	close := `"` + strings.Repeat("#", signs)
	from := l.i + signs + 1
	end := strings.Index(l.src[from:], close)
	if end < 0 {
		l.skip(len(l.src))
		return
	}
	l.skip(signs + 1 + end + len(close))
}

// directive reads the name of a directive and what it means for what follows.
func (l *cLexer) directive() {
	l.fresh = false
	l.i++
	for l.i < len(l.src) && (l.src[l.i] == ' ' || l.src[l.i] == '\t') {
		l.i++
	}
	start := l.i
	for l.i < len(l.src) && wordByte(l.src[l.i]) {
		l.i++
	}
	name := l.src[start:l.i]
	l.mute = quiet[name]
	last := len(l.above) - 1
	switch name {
	case "if", "ifdef", "ifndef":
		c := condition{outside: l.dead()}
		if name == "if" {
			c.dead, c.elseDead = l.always("0"), l.always("1")
		}
		l.above = append(l.above, c)
	case "elif", "elifdef", "elifndef", "else":
		if last >= 0 {
			l.above[last].dead = l.above[last].elseDead
		}
	case "endif":
		if last >= 0 {
			l.above = l.above[:last]
		}
	}
}

// always reports whether the rest of the line is that one number.
func (l *cLexer) always(number string) bool {
	rest, _, _ := strings.Cut(l.src[l.i:], "\n")
	rest, _, _ = strings.Cut(rest, "//")
	rest, _, _ = strings.Cut(rest, "/*")
	return strings.Trim(strings.TrimSpace(rest), "()") == number
}

// hashWords reads languages whose comments begin with a number sign.
func hashWords(src string) []word {
	l := &cLexer{src: src, line: 1}
	for l.i < len(l.src) {
		c := l.src[l.i]
		switch {
		case c == '#':
			for l.i < len(l.src) && l.src[l.i] != '\n' {
				l.i++
			}
		case l.has(`"""`) || l.has("'''"):
			end := strings.Index(l.src[l.i+3:], l.src[l.i:l.i+3])
			if end < 0 {
				end = len(l.src)
			}
			l.skip(end + 6)
		case c == '"' || c == '\'':
			l.quote(c)
		case wordByte(c):
			start := l.i
			for l.i < len(l.src) && wordByte(l.src[l.i]) {
				l.i++
			}
			if name := l.src[start:l.i]; isWord(name) {
				l.add(name, false)
			}
		default:
			l.skip(1)
		}
	}
	return l.words
}
