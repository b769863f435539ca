// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package pins

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// A checker collects what is wrong with one pin or group.
type checker struct {
	file     string
	line     func(path string) int
	problems Errors
}

func (c *checker) problem(path, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	c.problems = append(c.problems, Problem{c.file, c.line(path), path + ": " + text})
}

// check returns what is wrong with a pin by itself.
func (p *Pin) check() Errors {
	c := &checker{file: p.file, line: p.Line}
	c.match("name", p.Name, nameRE, "a name of small letters, digits and hyphens")
	c.oneLine("what", p.What, true)
	if p.Upstream != "" {
		c.url("upstream", p.Upstream)
	} else if kinds[p.Track.Kind].upstream {
		c.problem("upstream", "a %s pin needs the address of its repository", p.Track.Kind)
	}
	if err := checkSPDX(p.License); err != nil {
		c.problem("license", "%s", err)
	}
	for i, s := range p.Copyright {
		c.oneLine(fmt.Sprintf("copyright[%d]", i), s, true)
	}
	c.one("use", p.Use, Linked, Child, BuildTool, Model, Image)
	if p.Stack != "" {
		c.match("stack", p.Stack, nameRE, "a name of small letters, digits and hyphens")
	}
	c.track(p)
	c.signers(p)
	c.excludes(p)
	if h := p.Hold; h != nil {
		c.hold(h)
	}
	seen := map[string]bool{}
	for i, r := range p.Reject {
		path := fmt.Sprintf("reject[%d]", i)
		c.id(path, r.ID, p.Track.Kind)
		c.oneLine(path+".why", r.Why, false)
		if seen[r.ID] {
			c.problem(path, "%s is rejected twice", clip(r.ID))
		}
		seen[r.ID] = true
	}
	if p.Lock != nil {
		c.lock(p)
	}
	return c.problems
}

func (c *checker) hold(h *Hold) {
	c.oneLine("hold.reason", h.Reason, true)
	c.day("hold.until", h.Until, false)
	if h.Issue != "" && !issueRE.MatchString(h.Issue) {
		c.url("hold.issue", h.Issue)
	}
}

var (
	nameRE   = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	hex40RE  = regexp.MustCompile(`^[0-9a-f]{40}$`)
	sha256RE = regexp.MustCompile(`^[0-9a-f]{64}$`)
	treeRE   = regexp.MustCompile(`^t1:[A-Za-z0-9+/]{43}=$`)
	goSumRE  = regexp.MustCompile(`^h1:[A-Za-z0-9+/]{43}=$`)
	digestRE = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	modeRE   = regexp.MustCompile(`^(100644|100755|120000|160000)$`)
	issueRE  = regexp.MustCompile(`^[1-9][0-9]{0,8}$`)
)

// match checks a value that must have the form of re; want says it in words.
func (c *checker) match(path, value string, re *regexp.Regexp, want string) {
	switch {
	case value == "":
		c.problem(path, "missing; want %s", want)
	case !re.MatchString(value):
		c.problem(path, "%q is not %s", clip(value), want)
	}
}

// one checks that value is one of the given words.
func (c *checker) one(path string, value any, words ...any) { c.oneOf(path, value, true, words) }

func (c *checker) oneOf(path string, value any, need bool, words []any) {
	s := fmt.Sprint(value)
	if s == "" && !need {
		return
	}
	list := make([]string, len(words))
	for i, w := range words {
		if list[i] = fmt.Sprint(w); list[i] == s {
			return
		}
	}
	if s == "" {
		c.problem(path, "missing; want one of %s", strings.Join(list, ", "))
		return
	}
	c.problem(path, "%q is not one of %s", clip(s), strings.Join(list, ", "))
}

// maxText is the most characters that a text for people may have.
const maxText = 500

// oneLine checks text for people: one line, no control characters.
func (c *checker) oneLine(path, value string, need bool) {
	switch {
	case strings.TrimSpace(value) == "":
		if need {
			c.problem(path, "missing")
		}
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }):
		c.problem(path, "the text must be one line without control characters")
	case len(value) > maxText:
		c.problem(path, "the text is longer than %d bytes", maxText)
	}
}

// url checks an https address without credentials.
func (c *checker) url(path, value string) {
	if value == "" {
		c.problem(path, "missing; want an https address")
		return
	}
	u, err := url.Parse(value)
	switch {
	case err != nil || u.Host == "" || strings.ContainsAny(value, " \n\\"):
		c.problem(path, "%q is not an address", clip(value))
	case u.Scheme != "https":
		c.problem(path, "%q is not an https address", clip(value))
	case u.User != nil:
		c.problem(path, "the address must not have a user or password in it")
	}
}

// day checks a date.
func (c *checker) day(path string, d Day, need bool) {
	if d == "" {
		if need {
			c.problem(path, "missing; want a date such as 2026-12-31")
		}
		return
	}
	if _, err := time.Parse(time.DateOnly, string(d)); err != nil {
		c.problem(path, "%q is not a date such as 2026-12-31", clip(string(d)))
	}
}

// id checks what identifies a version: a full commit where the kind has
// commits.
func (c *checker) id(path, id string, kind Kind) {
	if kinds[kind].commit {
		c.match(path, id, hex40RE, "a full commit of 40 hex digits")
		return
	}
	c.oneLine(path, id, true)
}

// relative checks the exact path of something inside a tree.
func (c *checker) relative(path, value string) {
	switch {
	case value == "":
		c.problem(path, "missing; want a path inside the tree")
	case !validPath(value):
		c.problem(path, "%q is not a clean path inside the tree", clip(value))
	}
}

// validPath reports whether p stays inside its tree and is written in the one
// way that git writes it.
func validPath(p string) bool {
	for _, part := range strings.Split(p, "/") {
		if part == "" || part == "." || part == ".." || strings.EqualFold(part, ".git") {
			return false
		}
	}
	return !strings.ContainsAny(p, "\\\x00\n\r") && len(p) <= 4096
}

var licenseNameRE = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|copyright)([.-].*)?$`)

func (c *checker) excludes(p *Pin) {
	seen := map[string]bool{}
	for i, e := range p.Exclude {
		path := fmt.Sprintf("exclude[%d]", i)
		c.oneLine(path+".why", e.Why, true)
		c.relative(path+".path", e.Path)
		base := e.Path[strings.LastIndexByte(e.Path, '/')+1:]
		switch {
		case strings.ContainsAny(e.Path, "*?["):
			c.problem(path+".path", "%q has a glob; an excluded path is written out exactly", clip(e.Path))
		case licenseNameRE.MatchString(base):
			c.problem(path+".path", "%q is a licence file, which cannot be excluded", clip(e.Path))
		case seen[e.Path]:
			c.problem(path+".path", "%q is excluded twice", clip(e.Path))
		}
		if p.Lock != nil {
			for _, l := range p.Lock.Licenses {
				if l.Path == e.Path && !licenseNameRE.MatchString(base) {
					c.problem(path+".path", "%q is a licence file, which cannot be excluded", clip(e.Path))
				}
			}
		}
		seen[e.Path] = true
	}
}
