// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package pins

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

func (g *Group) line(path string) int { return lineOf(g.lines, path) }

// check returns what is wrong with a group by itself.
func (g *Group) check() Errors {
	c := &checker{file: g.file, line: g.line}
	c.match(g.path+".name", g.Name, nameRE, "a name of small letters, digits and hyphens")
	if len(g.Members) < 2 {
		c.problem(g.path+".members", "a group has at least two members; a pin alone needs none")
	}
	c.oneOf(g.path+".every", g.Every, false, []any{EveryDay, EveryWeek, EveryMonth, EveryNever})
	c.oneOf(g.path+".split", g.Split, false, []any{SplitNo, SplitAllowed})
	for i, k := range g.Contracts {
		at := fmt.Sprintf("%s.contracts[%d]", g.path, i)
		if _, err := regexp.Compile(k.User.Pattern); err != nil || k.User.Pattern == "" {
			c.problem(at+".user.pattern", "%q is not a regular expression", clip(k.User.Pattern))
		}
		c.files(at+".user.files", k.User.Files)
		c.files(at+".provider.files", k.Provider.Files)
		for side, name := range map[string]string{"user": k.User.Pin, "provider": k.Provider.Pin} {
			if !g.has(name) {
				c.problem(at+"."+side+".pin", "%q is not a member of the group", clip(name))
			}
		}
		if k.User.Pin == k.Provider.Pin {
			c.problem(at, "user and provider are the same pin")
		}
	}
	return c.problems
}

func (g *Group) has(pin string) bool { return slices.Contains(g.Members, pin) }

func (c *checker) files(at string, globs []string) {
	if len(globs) == 0 {
		c.problem(at, "missing; want globs such as src/**")
	}
	for i, g := range globs {
		c.glob(fmt.Sprintf("%s[%d]", at, i), g)
		if g != "" && !validPath(g) {
			c.problem(fmt.Sprintf("%s[%d]", at, i), "%q does not stay inside the tree", clip(g))
		}
	}
}

// check returns what is wrong between files.
func (s *Set) check() Errors {
	var problems Errors
	add := func(file string, line int, format string, args ...any) {
		problems = append(problems, Problem{file, line, fmt.Sprintf(format, args...)})
	}
	in := map[string]*Group{}
	names := map[string]bool{}
	for _, g := range s.Groups {
		if names[g.Name] && g.Name != "" {
			add(g.file, g.line(g.path+".name"), "there are two groups called %s", g.Name)
		}
		names[g.Name] = true
		for i, m := range g.Members {
			line := g.line(fmt.Sprintf("%s.members[%d]", g.path, i))
			switch first := in[m]; {
			case s.Pin(m) == nil:
				add(g.file, line, "group %s: there is no pin %q", g.Name, clip(m))
			case first == g:
				add(g.file, line, "group %s: %s is a member twice", g.Name, m)
			case first != nil:
				add(g.file, line, "group %s: %s is already in group %s; a pin is in one group only", g.Name, m, first.Name)
			}
			in[m] = g
		}
	}
	for _, p := range s.Pins {
		of := p.Track.OfPin()
		switch {
		case of == "":
		case s.Pin(of) == nil:
			add(p.file, p.Line("track.of"), "track.of: there is no pin %q", of)
		default:
			if loop := s.loop(p); loop != nil {
				add(p.file, p.Line("track.of"), "track.of: the pins follow each other in a circle: %s", strings.Join(loop, " -> "))
			}
		}
	}
	return problems
}

// loop returns the names from p along its tracks back to p, or nil.
func (s *Set) loop(p *Pin) []string {
	names := []string{p.Name}
	seen := map[string]bool{p.Name: true}
	for q := p; ; {
		q = s.Pin(q.Track.OfPin())
		if q == nil {
			return nil
		}
		names = append(names, q.Name)
		if q == p {
			return names
		}
		if seen[q.Name] {
			return nil // a circle that p is not on
		}
		seen[q.Name] = true
	}
}
