// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// tagKind follows the newest tag by the pin's schemes.
type tagKind struct{ sources }

var (
	_ kind   = tagKind{}
	_ finder = tagKind{}
)

func (tagKind) newest(ctx context.Context, e *Engine, p *pins.Pin) (*Candidate, error) {
	schemes, err := pins.NewSchemes(&p.Track)
	if err != nil {
		return nil, err
	}
	refs, place, err := e.refs(ctx, p.Upstream, "refs/tags/*")
	if err != nil {
		return nil, explainGit(p, err)
	}
	if err := lockedTag(p, refs); err != nil {
		return nil, err
	}
	best, outside, err := schemes.Newest(tagNames(refs))
	if len(outside) > 0 {
		more := ""
		if len(outside) > 1 {
			more = " (and so are " + andMore(outside[1:]) + ")"
		}
		return nil, verdict.Heldf("%w%s", &pins.OutsideScheme{Tag: outside[0]}, more)
	}
	if err != nil {
		return nil, err
	}
	ref, _ := refs.Find("refs/tags/" + best)
	c := tagged(ref)
	c.StandsIn = place.StandsIn
	c.behind = newerThan(schemes, p.Lock, tagNames(refs))
	return c, nil
}

// newerThan counts the versions that are newer than the locked one, and 0 where
// that has no place among them.
func newerThan(schemes *pins.Schemes, l *pins.Lock, tags []string) (n int) {
	if l == nil {
		return 0
	}
	locked, err := schemes.Parse(l.Version)
	if err != nil {
		return 0
	}
	seen := map[string]bool{}
	for _, tag := range tags {
		v, err := schemes.Parse(tag)
		if err == nil && !schemes.Ignored(tag) && schemes.Admits(v) && v.Compare(locked) > 0 && !seen[v.Canonical()] {
			seen[v.Canonical()] = true
			n++
		}
	}
	return n
}

// find takes a tag, or a full commit, which gets the tag that is at it.
func (tagKind) find(ctx context.Context, e *Engine, p *pins.Pin, rev string) (*Candidate, error) {
	id, err := git.ParseID(rev)
	if err != nil {
		return e.revision(ctx, p.Upstream, rev)
	}
	schemes, err := pins.NewSchemes(&p.Track)
	if err != nil {
		return nil, err
	}
	refs, place, err := e.refs(ctx, p.Upstream, "refs/tags/*")
	if err != nil {
		return nil, explainGit(p, err)
	}
	c := &Candidate{Commit: id, StandsIn: place.StandsIn}
	for _, ref := range refs.All {
		name := strings.TrimPrefix(ref.Name, "refs/tags/")
		if ref.Commit() != id || schemes.Ignored(name) {
			continue
		}
		if _, err := schemes.Parse(name); err == nil {
			c = tagged(ref)
			c.StandsIn = place.StandsIn
		}
	}
	return c, nil
}

// lockedTag returns a *Moved when the locked tag is at another commit now.
func lockedTag(p *pins.Pin, refs git.Refs) error {
	l := p.Lock
	if l == nil || l.Version == "" || l.Commit == "" {
		return nil
	}
	if ref, ok := refs.Find("refs/tags/" + l.Version); ok && string(ref.Commit()) != l.Commit {
		return &Moved{Tag: l.Version, Old: git.ID(l.Commit), New: ref.Commit()}
	}
	return nil
}

func tagNames(refs git.Refs) []string {
	names := make([]string, 0, len(refs.All))
	for _, ref := range refs.All {
		names = append(names, strings.TrimPrefix(ref.Name, "refs/tags/"))
	}
	return names
}

// andMore lists some texts of an upstream, quoted.
func andMore(all []string) string {
	var out []string
	for i, s := range all {
		if i == 5 {
			out = append(out, "others")
			break
		}
		out = append(out, quoted(s))
	}
	return strings.Join(out, ", ")
}
