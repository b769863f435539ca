// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// RevParse returns the object that a revision names, such as a ref, or an id
// with ^{tree}. The error is an *Unknown when there is none.
func (r *Repo) RevParse(ctx context.Context, revision string) (ID, error) {
	out, err := r.Output(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", revision)
	if code := exitCode(err); code == 1 || code == 128 {
		return "", &Unknown{revision}
	}
	if err != nil {
		return "", err
	}
	return ParseID(line(out))
}

// CommitInfo returns the commit that a revision names.
func (r *Repo) CommitInfo(ctx context.Context, revision string) (*Commit, error) {
	id, err := r.RevParse(ctx, revision+"^{commit}")
	var unknown *Unknown
	if errors.As(err, &unknown) {
		return nil, &Unknown{revision} // as the caller wrote it
	}
	if err != nil {
		return nil, err
	}
	content, err := r.Output(ctx, "cat-file", "commit", string(id))
	if err != nil {
		return nil, r.local(err)
	}
	return ParseCommit(id, content)
}

// IsAncestor tells whether a is b or in b's history, as far as that is here.
func (r *Repo) IsAncestor(ctx context.Context, a, b ID) (bool, error) {
	if err := check(a, b); err != nil {
		return false, err
	}
	_, err := r.Output(ctx, "merge-base", "--is-ancestor", string(a), string(b))
	if exitCode(err) == 1 {
		return false, nil
	}
	return err == nil, r.local(err)
}

// MergeBase returns the best common ancestor, empty when there is none.
func (r *Repo) MergeBase(ctx context.Context, a, b ID) (ID, error) {
	if err := check(a, b); err != nil {
		return "", err
	}
	out, err := r.Output(ctx, "merge-base", string(a), string(b))
	if exitCode(err) == 1 {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return ParseID(line(out))
}

// A Range is a part of the history: what From and its history do not have and
// To does.
type Range struct {
	From        []ID // none: from the first commit
	To          ID
	FirstParent bool     // follow only the main line
	Max         int      // at most so many, the newest; 0 is all
	Paths       []string // only commits that touch these; literal, relative to the top
	Reverse     bool     // oldest first
}

// RevList returns the commits of a range, newest first, parents always after
// their children.
func (r *Repo) RevList(ctx context.Context, span Range) ([]ID, error) {
	if err := check(append([]ID{span.To}, span.From...)...); err != nil {
		return nil, err
	}
	args := []string{"--literal-pathspecs", "rev-list", "--topo-order"}
	if span.FirstParent {
		args = append(args, "--first-parent")
	}
	if span.Reverse {
		args = append(args, "--reverse")
	}
	if span.Max > 0 {
		args = append(args, "--max-count="+strconv.Itoa(span.Max))
	}
	args = append(args, "--end-of-options", string(span.To))
	for _, id := range span.From {
		args = append(args, "^"+string(id))
	}
	args = append(append(args, "--"), span.Paths...)
	out, err := r.Output(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("history of %s: %w", span.To, err)
	}
	var ids []ID
	for l := range strings.FieldsSeq(string(out)) {
		ids = append(ids, ID(l))
	}
	return ids, nil
}
