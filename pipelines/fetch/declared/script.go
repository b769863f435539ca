// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package declared

import (
	"encoding/json"
	"strings"
)

// A dialect says how a script is cut into commands.
type dialect struct {
	comment   string // begins a comment at the start of a word
	goesOn    byte   // at the end of a line: the next one belongs to it
	backticks bool   // `command` is run
	escape    byte   // takes the meaning of the next character; 0: none
	make      bool   // $(…) is a variable, but for $(shell …)
	separate  string // characters that end a command
	single    bool   // ' quotes
}

var (
	shellDialect = dialect{comment: "#", goesOn: '\\', backticks: true, escape: '\\', separate: ";&|\n(){}", single: true}
	makeDialect  = dialect{comment: "#", goesOn: '\\', backticks: true, escape: '\\', make: true, separate: ";&|\n(){}", single: true}
	psDialect    = dialect{comment: "#", goesOn: '`', escape: '`', separate: ";&|\n(){}", single: true}
	batDialect   = dialect{goesOn: '^', escape: '^', separate: "&|\n()"}
)

func (f *file) shell() { f.script(1, string(f.content), shellDialect, 0) }

// script cuts text into simple commands and looks at each. Here-documents are
// read as commands too, for they often are. What is nested is read again at
// each level, and in all not more than some times the length of the file.
func (f *file) script(line int, text string, d dialect, depth int) {
	if f.scanned += len(text); depth > maxDepth || f.scanned > 8*len(f.content)+1<<20 {
		if !f.tired {
			f.tired = true
			f.add(Declared{Line: line, Kind: Unread, Problem: "its commands nest too deep; not all of the file was read"})
		}
		return
	}
	s := &scanner{f: f, d: d, s: text, line: line, depth: depth}
	s.run()
}

// substituted stands for the output of a command in a word. The command itself
// is not kept: a word may be read as a script again, and it was looked at.
const substituted = "$(…)"

// A scanner reads one script once.
type scanner struct {
	f     *file
	d     dialect
	s     string
	i     int
	line  int
	depth int

	words []string
	word  strings.Builder
	open  bool // a word is being read
	start int  // line of the first word
}

// keywords stand before a command of its own.
var keywords = map[string]bool{"then": true, "do": true, "else": true, "if": true, "elif": true, "while": true, "until": true, "!": true}

func (s *scanner) endWord() {
	if s.open {
		if len(s.words) == 0 && keywords[s.word.String()] {
			s.word.Reset()
			s.open = false
			return
		}
		if len(s.words) < maxItems {
			s.words = append(s.words, s.word.String())
		}
		s.word.Reset()
		s.open = false
	}
}

func (s *scanner) endCommand() {
	s.endWord()
	if len(s.words) > 0 {
		s.f.program(s.start, s.words, s.depth)
		s.words = nil
	}
}

func (s *scanner) put(text string) {
	if !s.open {
		s.open = true
		if len(s.words) == 0 {
			s.start = s.line
		}
	}
	s.word.WriteString(text)
}

func (s *scanner) run() {
	for s.i < len(s.s) {
		c := s.s[s.i]
		switch {
		case c == '\r':
			s.i++
		case s.d.escape != 0 && c == s.d.escape && s.i+1 < len(s.s):
			s.escaped()
		case c == ' ' || c == '\t':
			s.endWord()
			s.i++
		case s.d.comment != "" && !s.open && strings.HasPrefix(s.s[s.i:], s.d.comment):
			for s.i < len(s.s) && s.s[s.i] != '\n' {
				s.i++
			}
		case c == '$' && s.dollar():
		case strings.IndexByte(s.d.separate, c) >= 0:
			if (c == '{' || c == '}') && (s.open || c == '{' && s.i+1 < len(s.s) && !isSpace(s.s[s.i+1])) {
				s.put(string(c)) // a{b,c}
				s.i++
				break
			}
			if c == '&' && s.i > 0 && s.s[s.i-1] == '>' { // 2>&1
				s.put("&")
				s.i++
				break
			}
			s.endCommand()
			if c == '\n' {
				s.line++
			}
			s.i++
		case c == '\'' && s.d.single:
			s.single()
		case c == '"':
			s.double()
		case c == '`' && s.d.backticks:
			s.backtick()
		default:
			j := s.i + 1
			for j < len(s.s) && (isIdent(s.s[j]) || strings.IndexByte("/.:-=_", s.s[j]) >= 0) {
				j++
			}
			s.put(s.s[s.i:j])
			s.i = j
		}
	}
	s.endCommand()
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func (s *scanner) escaped() {
	next := s.s[s.i+1]
	if next == '\r' && s.i+2 < len(s.s) && s.s[s.i+2] == '\n' {
		s.i++
		next = '\n'
	}
	s.i += 2
	switch {
	case next == '\n' && s.d.goesOn == s.d.escape:
		s.line++
		s.endWord()
	case next == '\n':
		s.line++
		s.endCommand()
	case s.d.escape == '\\' && (isIdent(next)): // C:\curl.exe in a shell for Windows
		s.put(`\` + string(next))
	default:
		s.put(string(next))
	}
}

// single reads text in single quotes.
func (s *scanner) single() {
	body, _, closed := strings.Cut(s.s[s.i+1:], "'")
	s.put(body)
	s.line += strings.Count(body, "\n")
	s.i += 1 + len(body)
	if closed {
		s.i++
	}
}

// double reads text in double quotes; commands in it are run.
func (s *scanner) double() {
	s.put("")
	s.i++
	for s.i < len(s.s) {
		c := s.s[s.i]
		switch {
		case c == '"':
			s.i++
			return
		case s.d.escape != 0 && c == s.d.escape && s.i+1 < len(s.s):
			if s.s[s.i+1] == '\n' {
				s.line++
			} else {
				s.put(string(s.s[s.i+1]))
			}
			s.i += 2
		case c == '$' && s.dollar():
		case c == '`' && s.d.backticks:
			s.backtick()
		default:
			if c == '\n' {
				if s.d.comment == "" { // batch files: a quote ends with its line
					return
				}
				s.line++
			}
			s.put(string(c))
			s.i++
		}
	}
}

// dollar reads ${…}, $(…) and $((…)); it moves only if there is one.
func (s *scanner) dollar() bool {
	rest := s.s[s.i:]
	if s.d.make && strings.HasPrefix(rest, "$$") {
		s.i++ // the shell sees one
		return s.i < len(s.s) && s.dollarShell()
	}
	if s.d.make && strings.HasPrefix(rest, "$(") {
		body := nested(rest[2:], '(', ')')
		s.i += 2 + len(body)
		if command, ok := strings.CutPrefix(strings.TrimSpace(body), "shell "); ok {
			s.f.script(s.line, command, s.d, s.depth+1)
			s.finish(substituted, body)
			return true
		}
		s.finish("$("+body+")", body)
		return true
	}
	return s.dollarShell()
}

func (s *scanner) dollarShell() bool {
	rest := s.s[s.i:]
	switch {
	case strings.HasPrefix(rest, "${"):
		body := nested(rest[2:], '{', '}')
		s.i += 2 + len(body)
		if strings.Contains(body, "$(") && s.depth < maxDepth {
			s.f.script(s.line, body[strings.Index(body, "$("):], s.d, s.depth+1)
		}
		if strings.ContainsAny(body, "(`") {
			s.finish("${…}", body)
		} else {
			s.finish("${"+body+"}", body)
		}
		return true
	case strings.HasPrefix(rest, "$("):
		body := nested(rest[2:], '(', ')')
		s.i += 2 + len(body)
		s.f.script(s.line, body, s.d, s.depth+1)
		s.finish(substituted, body)
		return true
	}
	return false
}

// finish steps over the closing bracket and keeps the text.
func (s *scanner) finish(text, body string) {
	if s.i < len(s.s) {
		s.i++
	}
	s.put(text)
	s.line += strings.Count(body, "\n")
}

// nested returns the text up to the bracket that closes it, or to the end.
func nested(text string, open, end byte) string {
	depth := 1
	var quote byte
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == open:
			depth++
		case c == end:
			if depth--; depth == 0 {
				return text[:i]
			}
		}
	}
	return text
}

func (s *scanner) backtick() {
	body, _, closed := strings.Cut(s.s[s.i+1:], "`")
	s.f.script(s.line, body, s.d, s.depth+1)
	s.put(substituted)
	s.line += strings.Count(body, "\n")
	s.i += 1 + len(body)
	if closed {
		s.i++
	}
}

// makefile looks at a makefile: recipes, and $(shell …) anywhere.
func (f *file) makefile() { f.script(1, string(f.content), makeDialect, 0) }

func (f *file) powershell() {
	text := blank(string(f.content), "<#", "#>")
	f.script(1, text, psDialect, 0)
	f.calls(text, psCalls)
}

// batch looks at a batch file.
func (f *file) batch() {
	lines := strings.Split(string(f.content), "\n")
	for i, l := range lines {
		t := strings.ToLower(strings.TrimLeft(strings.TrimSpace(l), "@"))
		if strings.HasPrefix(t, "::") || t == "rem" || strings.HasPrefix(t, "rem ") {
			lines[i] = ""
		}
	}
	f.script(1, strings.Join(lines, "\n"), batDialect, 0)
}

// dockerfile looks at RUN and ADD; what a container runs later is no build.
func (f *file) dockerfile() {
	lines := strings.Split(string(f.content), "\n")
	for i := 0; i < len(lines); i++ {
		first := i
		word, rest, _ := strings.Cut(strings.TrimSpace(lines[i]), " ")
		var b strings.Builder
		b.WriteString(strings.TrimRight(rest, "\r"))
		for goesOn(lines[i]) && i+1 < len(lines) {
			i++
			b.WriteByte('\n')
			if t := strings.TrimSpace(lines[i]); strings.HasPrefix(t, "#") || t == "" {
				b.WriteByte('\\') // comments inside an instruction do not end it
				lines[i] = `\`
				continue
			}
			b.WriteString(strings.TrimRight(lines[i], "\r"))
		}
		text := b.String()
		switch strings.ToUpper(word) {
		case "RUN":
			if end, ok := hereDoc(text); ok {
				for i+1 < len(lines) && strings.TrimSpace(lines[i+1]) != end {
					i++
					text += "\n" + lines[i]
				}
			}
			var words []string
			if json.Unmarshal([]byte(text), &words) == nil {
				f.program(first+1, words, 0)
				continue
			}
			for strings.HasPrefix(text, "--") {
				_, text, _ = strings.Cut(text, " ")
				text = strings.TrimLeft(text, " ")
			}
			f.script(first+1, text, shellDialect, 0)
		case "ADD":
			for _, w := range strings.Fields(text) {
				if u, ok := address(w); ok && !strings.HasPrefix(w, "--") {
					f.add(Declared{Line: first + 1, Kind: Script, Name: baseName(u), URL: u, Command: "ADD"})
				}
			}
		}
	}
}

func goesOn(line string) bool {
	return strings.HasSuffix(strings.TrimRight(line, " \t\r"), `\`)
}

// hereDoc returns the word that ends the here-document that text begins.
func hereDoc(text string) (string, bool) {
	_, end, ok := strings.Cut(text, "<<")
	if !ok {
		return "", false
	}
	end = strings.TrimLeft(end, "-")
	end, _, _ = strings.Cut(end, "\n")
	fields := strings.Fields(end)
	if len(fields) == 0 {
		return "", false
	}
	return strings.Trim(fields[0], `"'`), true
}

// blank replaces what is between two marks by its line ends.
func blank(s, open, end string) string {
	var b strings.Builder
	for {
		i := strings.Index(s, open)
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		body, rest, _ := strings.Cut(s[i+len(open):], end)
		b.WriteString(strings.Repeat("\n", strings.Count(body, "\n")))
		s = rest
	}
}
