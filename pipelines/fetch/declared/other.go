// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package declared

import (
	"path"
	"strings"

	"golang.org/x/mod/modfile"
)

// goMod adds one entry for the modules that a go.mod requires.
func (f *file) goMod() {
	m, err := modfile.ParseLax(f.path, f.content, nil)
	if err != nil {
		f.problem(GoModules, err)
		return
	}
	if len(m.Require) > 0 {
		f.add(Declared{Line: m.Require[0].Syntax.Start.Line, Kind: GoModules, Name: "go.mod", Count: len(m.Require), Command: "go"})
	}
}

// wrap looks at a Meson wrap: a file to download or a repository.
func (f *file) wrap() {
	values := map[string]string{}
	section := ""
	start := 1
	for i, line := range strings.Split(string(f.content), "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '[':
			section = strings.Trim(line, "[]")
			if strings.HasPrefix(section, "wrap-") && section != "wrap-redirect" {
				start = i + 1
			}
		case strings.HasPrefix(section, "wrap-"):
			if key, value, ok := strings.Cut(line, "="); ok {
				values[strings.TrimSpace(key)] = strings.TrimSpace(value)
			}
		}
	}
	d := Declared{Line: start, Kind: Meson, Name: strings.TrimSuffix(path.Base(f.path), ".wrap"), URL: values["url"], Rev: values["revision"], Command: "meson"}
	if d.URL != "" {
		f.add(d)
	}
	for _, what := range []string{"source", "patch"} {
		if u := values[what+"_url"]; u != "" {
			d.URL, d.Rev, d.Hash = u, "", ""
			if h := values[what+"_hash"]; h != "" {
				d.Hash = "SHA256=" + h
			}
			f.add(d)
		}
	}
}

// zon looks at the dependencies of a Zig package.
func (f *file) zon() {
	type frame struct {
		key  string
		line int
		url  string
		hash string
	}
	var stack []frame
	key := ""
	keyLine := 0
	z := &zonLexer{s: string(f.content), line: 1}
	for {
		kind, text := z.next()
		switch kind {
		case zonEnd:
			return
		case zonOpen:
			if len(stack) > maxNesting {
				f.add(Declared{Line: z.line, Kind: Unread, Problem: "its brackets nest too deep; the rest of the file was not read"})
				return
			}
			stack = append(stack, frame{key: key, line: max(keyLine, 1)})
			key = ""
		case zonClose:
			if len(stack) == 0 {
				continue
			}
			top := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if top.url != "" && len(stack) > 0 && stack[len(stack)-1].key == "dependencies" {
				u, rev, _ := strings.Cut(top.url, "#")
				f.add(Declared{Line: top.line, Kind: Zig, Name: top.key, URL: u, Rev: rev, Hash: top.hash, Command: "zig"})
			}
			key = ""
		case zonName:
			key, keyLine = text, z.line
		case zonString:
			if len(stack) > 0 {
				switch top := &stack[len(stack)-1]; key {
				case "url":
					top.url = text
				case "hash":
					top.hash = text
				}
			}
			key = ""
		}
	}
}

type zonKind int

const (
	zonEnd zonKind = iota
	zonOpen
	zonClose
	zonName // .name or .@"name"
	zonString
)

// A zonLexer cuts Zig object notation into what matters here.
type zonLexer struct {
	s    string
	i    int
	line int
}

func (z *zonLexer) next() (zonKind, string) {
	for z.i < len(z.s) {
		c := z.s[z.i]
		rest := z.s[z.i:]
		switch {
		case c == '\n':
			z.line++
			z.i++
		case strings.HasPrefix(rest, "//") || strings.HasPrefix(rest, `\\`):
			for z.i < len(z.s) && z.s[z.i] != '\n' {
				z.i++
			}
		case c == '{':
			z.i++
			return zonOpen, ""
		case c == '}':
			z.i++
			return zonClose, ""
		case c == '"':
			return zonString, z.quoted()
		case strings.HasPrefix(rest, `.@"`):
			z.i += 2
			return zonName, z.quoted()
		case c == '.' && len(rest) > 1 && isIdent(rest[1]):
			j := 1
			for j < len(rest) && isIdent(rest[j]) {
				j++
			}
			z.i += j
			return zonName, rest[1:j]
		default:
			z.i++
		}
	}
	return zonEnd, ""
}

func (z *zonLexer) quoted() string {
	var b strings.Builder
	for z.i++; z.i < len(z.s); z.i++ {
		switch c := z.s[z.i]; c {
		case '"', '\n':
			if c == '"' {
				z.i++
			}
			return b.String()
		case '\\':
			if z.i+1 < len(z.s) && z.s[z.i+1] != '\n' {
				z.i++
				b.WriteByte(z.s[z.i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
