// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"fmt"
	"strings"
)

// CheckRefName accepts full names below refs/ in the form that git demands.
func CheckRefName(name string) error {
	bad := !strings.HasPrefix(name, "refs/") || strings.HasSuffix(name, "/") || strings.HasSuffix(name, ".") ||
		strings.Contains(name, "..") || strings.Contains(name, "//") || strings.Contains(name, "@{") ||
		strings.ContainsFunc(name, isControl) || strings.ContainsAny(name, `~^:?*[\`)
	for part := range strings.SplitSeq(name, "/") {
		bad = bad || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock")
	}
	if bad {
		return fmt.Errorf("%s is not the full name of a ref, such as refs/heads/main", inertQuote(name))
	}
	return nil
}

// UpdateRef moves a ref from old to new if it is still at old. An empty old
// means that it must not exist, an empty new deletes it. The error is a
// *RefMoved when another process was faster.
func (r *Repo) UpdateRef(ctx context.Context, ref string, new, old ID) error {
	if err := CheckRefName(ref); err != nil {
		return err
	}
	for _, id := range []ID{new, old} {
		if id == "" {
			continue
		}
		if err := check(id); err != nil {
			return err
		}
	}
	_, err := r.Output(ctx, "update-ref", "--no-deref", "--end-of-options", ref, new.orZero(), old.orZero())
	if err == nil {
		return nil
	}
	if have, e := r.readRef(ctx, ref); e == nil && have != old {
		return &RefMoved{Ref: ref, Want: old, Have: have}
	}
	return fmt.Errorf("move the ref %s: %w", plain(ref), err)
}

// SetRef moves a ref wherever it is. It is for refs that only we know.
func (r *Repo) SetRef(ctx context.Context, ref string, id ID) error {
	if err := CheckRefName(ref); err != nil {
		return err
	}
	if err := check(id); err != nil {
		return err
	}
	if _, err := r.Output(ctx, "update-ref", "--no-deref", "--end-of-options", ref, string(id)); err != nil {
		return fmt.Errorf("set the ref %s: %w", plain(ref), err)
	}
	return nil
}

func (r *Repo) readRef(ctx context.Context, ref string) (ID, error) {
	refs, err := r.ForEachRef(ctx, ref)
	if err != nil {
		return "", err
	}
	for _, x := range refs {
		if x.Name == ref {
			return x.ID, nil
		}
	}
	return "", nil
}

// ForEachRef returns the refs below the given prefixes, which are full names
// or folders of them, sorted by name; all refs without a prefix.
func (r *Repo) ForEachRef(ctx context.Context, prefixes ...string) ([]Ref, error) {
	args := append([]string{"for-each-ref", "--format=%(objectname) %(*objectname) %(refname)", "--end-of-options"}, prefixes...)
	out, err := r.Output(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("list refs: %w", r.local(err))
	}
	var refs []Ref
	for l := range strings.Lines(string(out)) {
		f := strings.SplitN(strings.TrimSuffix(l, "\n"), " ", 3)
		if len(f) != 3 {
			return nil, fmt.Errorf("for-each-ref answered %s", inertQuote(l))
		}
		refs = append(refs, Ref{Name: f[2], ID: ID(f[0]), Peeled: ID(f[1])})
	}
	return refs, nil
}
