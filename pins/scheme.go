// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package pins

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// maxTag is the longest tag that can be a version, in bytes. It keeps the
// length of every number in one byte of a key.
const maxTag = 200

// A Stage says how finished a version is.
type Stage int

// The stages of a version.
const (
	Release   Stage = iota
	Candidate       // a release candidate
	Early           // anything before: alpha, beta, development
)

// A Version is a tag that one of the schemes understands.
type Version struct {
	Tag    string
	Scheme int // which of the schemes, from 0; a higher one is newer
	Stage  Stage

	key   string // byte order is version order
	canon string
}

// Compare returns -1, 0 or 1 as v is older than, the same as or newer than w.
// It is a total order on the versions of one list of schemes, and 0 exactly
// where the canonical forms are the same.
func (v Version) Compare(w Version) int {
	if c := cmp.Compare(v.Scheme, w.Scheme); c != 0 {
		return c
	}
	return strings.Compare(v.key, w.key)
}

// Canonical returns the tag in the one form that all tags of the same version
// have: without leading zeros and other spellings.
func (v Version) Canonical() string { return v.canon }

// OutsideScheme is a tag that no scheme understands and nothing ignores: the
// upstream numbers its versions in a new way, and a person must look.
type OutsideScheme struct{ Tag string }

func (e *OutsideScheme) Error() string {
	return fmt.Sprintf("the tag %q is outside the schemes: add a scheme for it, or ignore it", clip(e.Tag))
}

// NoVersion says that there was no tag to choose from.
type NoVersion struct{ Tags int }

func (e *NoVersion) Error() string {
	return fmt.Sprintf("none of %d tags is a version by the schemes", e.Tags)
}

// Schemes are the ways in which an upstream writes its versions, in order.
type Schemes struct {
	list       []*scheme
	ignore     []string
	prerelease Prerelease
}

// A scheme is one compiled pattern.
type scheme struct {
	pattern string
	re      *regexp.Regexp
	parts   []placeholder // one for each group of re
	literal []string      // text before, between and after the parts
	since   string        // key of the oldest version; empty: all
}

// NewSchemes compiles the schemes of a track.
func NewSchemes(t *Track) (*Schemes, error) {
	s := &Schemes{ignore: t.Ignore, prerelease: t.Prerelease}
	for _, one := range t.Schemes {
		c, err := compileScheme(one)
		if err != nil {
			return nil, err
		}
		s.list = append(s.list, c)
	}
	for _, g := range t.Ignore {
		if _, err := path.Match(g, ""); err != nil {
			return nil, fmt.Errorf("%q is not a glob", clip(g))
		}
	}
	return s, nil
}

// Ignored reports whether a tag is known to be no version.
func (s *Schemes) Ignored(tag string) bool {
	return slices.ContainsFunc(s.ignore, func(g string) bool {
		ok, _ := path.Match(g, tag)
		return ok
	})
}

// Parse returns the version that a tag stands for, by the first scheme that
// matches; the error is an *OutsideScheme. Ignore and prerelease have no say
// in it.
func (s *Schemes) Parse(tag string) (Version, error) {
	for i, one := range s.list {
		if v, ok := one.parse(tag); ok {
			if v.key < one.since {
				break
			}
			v.Scheme = i
			return v, nil
		}
	}
	return Version{}, &OutsideScheme{Tag: tag}
}

// Compare orders two tags; the error is an *OutsideScheme.
func (s *Schemes) Compare(a, b string) (int, error) {
	v, err := s.Parse(a)
	if err != nil {
		return 0, err
	}
	w, err := s.Parse(b)
	if err != nil {
		return 0, err
	}
	return v.Compare(w), nil
}

// Admits reports whether a version counts under the track's prerelease.
func (s *Schemes) Admits(v Version) bool {
	switch s.prerelease {
	case PrereleaseYes:
		return true
	case PrereleaseBeforeRelease:
		return v.Stage != Early
	}
	return v.Stage == Release
}

// Newest returns the newest of the tags that counts, and the tags that no
// scheme and no ignore matches, sorted: the caller stops at one of those that
// it has not seen before. Of two tags for the same version the one that is
// written in canonical form wins. The error is a *NoVersion.
func (s *Schemes) Newest(tags []string) (best string, outside []string, err error) {
	var newest Version
	for _, tag := range tags {
		if s.Ignored(tag) {
			continue
		}
		v, err := s.Parse(tag)
		if err != nil {
			outside = append(outside, tag)
			continue
		}
		if s.Admits(v) && (newest.Tag == "" || newer(v, newest)) {
			newest = v
		}
	}
	slices.Sort(outside)
	outside = slices.Compact(outside)
	if newest.Tag == "" {
		return "", outside, &NoVersion{Tags: len(tags)}
	}
	return newest.Tag, outside, nil
}

// newer is Compare with a choice between two tags of the same version that
// does not depend on their order.
func newer(v, w Version) bool {
	if c := v.Compare(w); c != 0 {
		return c > 0
	}
	if (v.Tag == v.canon) != (w.Tag == w.canon) {
		return v.Tag == v.canon
	}
	return v.Tag < w.Tag
}

var placeholderRE = regexp.MustCompile(`\{([^{}]*)\}`)

// compileScheme turns a pattern such as v{semver} into one that reads tags.
func compileScheme(in Scheme) (*scheme, error) {
	s := &scheme{pattern: in.Pattern}
	if len(in.Pattern) > maxTag {
		return nil, fmt.Errorf("the pattern is longer than %d bytes", maxTag)
	}
	found := placeholderRE.FindAllStringSubmatchIndex(in.Pattern, -1)
	if len(found) == 0 {
		return nil, fmt.Errorf("the pattern %q has no placeholder such as {semver}", clip(in.Pattern))
	}
	re, end := "^", 0
	for i, m := range found {
		literal, name := in.Pattern[end:m[0]], in.Pattern[m[2]:m[3]]
		part, ok := placeholders[name]
		switch {
		case !ok:
			return nil, fmt.Errorf("the pattern %q has an unknown placeholder {%s}; there are %s", clip(in.Pattern), clip(name), placeholderNames())
		case literal == "" && i > 0:
			return nil, fmt.Errorf("the pattern %q has two placeholders with nothing between them", clip(in.Pattern))
		}
		re += regexp.QuoteMeta(literal) + "(" + part.re + ")"
		s.parts = append(s.parts, part)
		s.literal = append(s.literal, literal)
		end = m[1]
	}
	s.literal = append(s.literal, in.Pattern[end:])
	if strings.ContainsAny(strings.Join(s.literal, ""), "{}") {
		return nil, fmt.Errorf("the pattern %q has a brace that is no placeholder", clip(in.Pattern))
	}
	compiled, err := regexp.Compile(re + regexp.QuoteMeta(in.Pattern[end:]) + "$")
	if err != nil {
		return nil, fmt.Errorf("the pattern %q cannot be used", clip(in.Pattern))
	}
	s.re = compiled
	if in.Since != "" {
		v, ok := s.parse(in.Since)
		if !ok {
			return nil, fmt.Errorf("since %q does not match its own pattern %q", clip(in.Since), clip(in.Pattern))
		}
		s.since = v.key
	}
	return s, nil
}

func (s *scheme) parse(tag string) (Version, bool) {
	if len(tag) > maxTag {
		return Version{}, false
	}
	m := s.re.FindStringSubmatch(tag)
	if m == nil {
		return Version{}, false
	}
	v := Version{Tag: tag}
	for i, p := range s.parts {
		one, ok := p.parse(m[i+1])
		if !ok {
			return Version{}, false
		}
		v.key += one.key
		v.canon += s.literal[i] + one.canon
		v.Stage = max(v.Stage, one.stage)
	}
	v.canon += s.literal[len(s.parts)]
	return v, true
}
