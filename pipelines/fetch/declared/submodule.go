// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package declared

import (
	"net/url"
	"path"
	"strings"
)

// gitmodules looks at the submodules of the tree's own .gitmodules. Relative
// addresses stay as written; whoever fetches resolves them.
func (f *file) gitmodules() {
	type module struct {
		line                  int
		name, path, url, rest string
	}
	var list []*module
	var m *module
	for i, line := range strings.Split(string(f.content), "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '[':
			m = nil
			name, ok := strings.CutPrefix(line, `[submodule "`)
			name, closed := strings.CutSuffix(name, `"]`)
			if !ok || !closed {
				f.add(Declared{Line: i + 1, Kind: Submodule, Problem: "this section is no [submodule \"name\"]"})
				continue
			}
			m = &module{line: i + 1, name: name}
			list = append(list, m)
		case m == nil:
		default:
			key, value, ok := strings.Cut(line, "=")
			value = strings.Trim(strings.TrimSpace(value), `"`)
			switch strings.ToLower(strings.TrimSpace(key)) {
			case "path":
				m.path = value
			case "url":
				m.url = value
			case "update":
				if strings.HasPrefix(value, "!") {
					m.rest = "its update setting is a command"
				}
			default:
				if !ok {
					m.rest = "its section has a line without a value"
				}
			}
		}
	}
	for _, m := range list {
		d := Declared{Line: m.line, Kind: Submodule, Name: m.path, URL: m.url, Command: "git submodule", Problem: m.rest}
		switch {
		case m.path == "":
			d.Name, d.Problem = m.name, "the submodule has no path"
		case strings.HasPrefix(m.path, "-") || path.IsAbs(m.path) || path.Clean(m.path) != m.path || strings.HasPrefix(m.path, ".."):
			d.Problem = "the path of the submodule does not stay in the tree"
		case m.url == "":
			d.Problem = "the submodule has no address"
		default:
			if why := badAddress(m.url); why != "" {
				d.Problem = why
			}
		}
		for _, l := range f.links {
			if l.Path == m.path {
				d.Rev = l.ID
			}
		}
		if d.Rev == "" && d.Problem == "" {
			continue // a section without a submodule in the tree downloads nothing
		}
		f.add(d)
	}
}

// badAddress says what is wrong with a submodule's address, or nothing.
func badAddress(u string) string {
	switch {
	case strings.HasPrefix(u, "-"):
		return "the address begins like an option"
	case strings.HasPrefix(u, "./") || strings.HasPrefix(u, "../"):
		return ""
	case strings.Contains(u, "::"):
		return "the address runs a program"
	case !strings.Contains(u, "://"):
		if host, rest, ok := strings.Cut(u, ":"); ok && rest != "" && !strings.Contains(host, "/") {
			return "the address is not https"
		}
		return "the address is a path"
	}
	p, err := url.Parse(u)
	switch {
	case err == nil && p.Scheme != "https":
		return "the address is not https"
	case err != nil || p.Host == "":
		return "the address can not be read"
	case p.User != nil:
		return "the address has a user or password in it"
	case isLoopback(u):
		return "the address is on the machine itself"
	}
	return ""
}

// undeclaredLinks reports submodules of which .gitmodules says nothing.
func undeclaredLinks(links []Entry, list []Declared) []Declared {
	known := map[string]bool{}
	for _, d := range list {
		if d.Kind == Submodule {
			known[d.Name] = true
		}
	}
	var out []Declared
	for _, l := range links {
		if name := clean(l.Path); !known[name] {
			out = append(out, Declared{File: ".gitmodules", Line: 1, Kind: Submodule, Scope: ScopeBuild, Name: name, Rev: l.ID,
				Command: "git submodule", Problem: "the tree has this submodule, and .gitmodules has no address for it"})
		}
	}
	return out
}
