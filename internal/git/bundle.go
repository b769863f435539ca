// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// CreateBundle writes refs and everything they need into one file. In a
// repository without all blobs it is an error, not a bundle with holes.
func (r *Repo) CreateBundle(ctx context.Context, file string, refs ...string) error {
	return r.CreateBundleOn(ctx, file, "", refs...)
}

// CreateBundleOn is CreateBundle for somebody who has base already: what base
// and its history hold is left out. The same objects give the same bytes.
func (r *Repo) CreateBundleOn(ctx context.Context, file string, base ID, refs ...string) error {
	if len(refs) == 0 {
		return errors.New("bundle: no ref was named")
	}
	for _, ref := range refs {
		if err := CheckRefName(ref); err != nil {
			return err
		}
	}
	list := strings.Join(refs, "\n") + "\n"
	if base != "" {
		if err := check(base); err != nil {
			return err
		}
		list += "^" + string(base) + "\n"
	}
	file, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	// Which deltas several threads find is a matter of luck.
	c := command(r.dir, []string{"pack.threads=1"}, nil, []string{"bundle", "create", "--quiet", file, "--stdin"})
	c.Stdin = strings.NewReader(list)
	if _, err := output(ctx, c); err != nil {
		return fmt.Errorf("write the bundle %s: %w", file, err)
	}
	return nil
}

// VerifyBundle checks that a bundle is well-formed and needs nothing that is
// not in the repository, and returns its refs. The sums of its objects are
// checked when it is fetched from.
func (r *Repo) VerifyBundle(ctx context.Context, file string) ([]Ref, error) {
	file, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	if _, err := r.Output(ctx, "bundle", "verify", "--quiet", file); err != nil {
		return nil, fmt.Errorf("the bundle %s cannot be used: %w", file, err)
	}
	out, err := r.Output(ctx, "bundle", "list-heads", file)
	if err != nil {
		return nil, fmt.Errorf("the bundle %s cannot be used: %w", file, err)
	}
	var refs []Ref
	for l := range strings.Lines(string(out)) {
		value, name, _ := strings.Cut(strings.TrimSuffix(l, "\n"), " ")
		id, err := ParseID(value)
		if err != nil {
			return nil, fmt.Errorf("the bundle %s: %w", file, err)
		}
		refs = append(refs, Ref{Name: name, ID: id})
	}
	if len(refs) == 0 {
		return nil, fmt.Errorf("the bundle %s cannot be used: it has no refs", file)
	}
	return refs, nil
}
