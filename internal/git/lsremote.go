// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"fmt"
	"strings"
)

// A Ref is a name and what it points at.
type Ref struct {
	Name   string // full, such as refs/tags/v1.0
	ID     ID     // what the name holds: for an annotated tag the tag object
	Peeled ID     // the object behind an annotated tag; empty for all else
}

// Commit is the id that a build cares for: the peeled one where there is one.
func (r Ref) Commit() ID {
	if r.Peeled != "" {
		return r.Peeled
	}
	return r.ID
}

// Refs is a remote's answer to one question.
type Refs struct {
	Head string // the default branch, such as refs/heads/main; empty if not asked for or not set
	All  []Ref  // sorted by name as the remote sorts them, HEAD excluded
}

// Find returns the ref with that full name.
func (r Refs) Find(name string) (Ref, bool) {
	for _, ref := range r.All {
		if ref.Name == name {
			return ref, true
		}
	}
	return Ref{}, false
}

// LsRemote asks a remote for its refs. It uses the network: one question, no
// objects. Without patterns it lists all refs; patterns are full names or git
// globs such as refs/tags/*, and HEAD is always asked for as well.
//
// Errors: *BadURL, *Unreachable, *NotFound, *AuthRequired, *ProxyAuth,
// *Redirected, *ObjectFormat. A pattern without a match is no error.
func LsRemote(ctx context.Context, remote Remote, patterns ...string) (Refs, error) {
	t, err := remote.check()
	if err != nil {
		return Refs{}, err
	}
	args := append([]string{"ls-remote", "--symref", "--quiet"}, t.local("--upload-pack", "upload-pack")...)
	args = append(args, "--end-of-options", t.arg)
	if len(patterns) > 0 {
		args = append(args, "HEAD")
		for _, p := range patterns {
			// A tag's peeled line has its own name on the wire.
			args = append(args, p, p+"^{}")
		}
	}
	c := command("", t.config(), t.secret, args)
	c.Secrets = t.secrets
	r, err := c.Run(ctx)
	if err != nil {
		return Refs{}, t.explain(ctx, r, err)
	}
	return parseRefs(t.shown, string(r.Stdout), patterns)
}

func parseRefs(where, text string, patterns []string) (Refs, error) {
	var refs Refs
	for l := range strings.Lines(text) {
		l = strings.TrimSuffix(l, "\n")
		value, name, ok := strings.Cut(l, "\t")
		if !ok {
			return refs, fmt.Errorf("%s answered %s, which is no ref", where, inertQuote(l))
		}
		if target, ok := strings.CutPrefix(value, "ref: "); ok {
			if name == "HEAD" {
				refs.Head = target
			}
			continue
		}
		id, err := ParseID(value)
		if err != nil {
			if len(value) == 64 && isHex(value) {
				return refs, &ObjectFormat{where, "sha256"}
			}
			return refs, fmt.Errorf("%s: ref %s: %w", where, plain(name), err)
		}
		if name == "HEAD" || !strings.HasPrefix(name, "refs/") {
			continue
		}
		if base, ok := strings.CutSuffix(name, "^{}"); ok {
			if n := len(refs.All); n > 0 && refs.All[n-1].Name == base {
				refs.All[n-1].Peeled = id
			}
			continue
		}
		// git matches the tail of a name; refs/x/refs/heads/main is not
		// refs/heads/main.
		if len(patterns) > 0 && !matchesAny(patterns, name) {
			continue
		}
		refs.All = append(refs.All, Ref{Name: name, ID: id})
	}
	return refs, nil
}

func matchesAny(patterns []string, name string) bool {
	for _, p := range patterns {
		if p == name || matches(p, name) {
			return true
		}
	}
	return false
}

// matches is git's glob without its tail matching: a star also spans slashes.
func matches(pattern, name string) bool {
	before, after, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == name
	}
	rest, ok := strings.CutPrefix(name, before)
	if !ok {
		return false
	}
	for i := 0; i <= len(rest); i++ {
		if matches(after, rest[i:]) {
			return true
		}
	}
	return false
}
