// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// A Merged is the outcome of a merge. With conflicts the tree still exists and
// holds conflict markers.
type Merged struct {
	Tree      ID
	Conflicts []Stage // sorted by path and stage; none: the merge is clean
	Messages  []string
}

// A Stage is one side of a path in conflict: 1 base, 2 ours, 3 theirs.
type Stage struct {
	Mode  Mode
	ID    ID
	Stage int
	Path  string
}

// MergeTree merges two commits in the object store, without a work tree. The
// base is their merge base, which the commits must therefore have. A missing
// blob is an error.
func (r *Repo) MergeTree(ctx context.Context, ours, theirs ID) (*Merged, error) {
	if err := check(ours, theirs); err != nil {
		return nil, err
	}
	out, err := r.Output(ctx, "merge-tree", "--write-tree", "-z", "--messages", string(ours), string(theirs))
	if err != nil && exitCode(err) != 1 {
		return nil, fmt.Errorf("merge %s and %s: %w", ours.Short(), theirs.Short(), err)
	}
	return parseMerged(string(out))
}

// parseMerged reads the format of merge-tree -z: the tree, the stages, an
// empty field, and the messages, each as count, paths, kind, text.
func parseMerged(text string) (*Merged, error) {
	fields := strings.Split(strings.TrimSuffix(text, "\x00"), "\x00")
	tree, err := ParseID(fields[0])
	if err != nil {
		return nil, fmt.Errorf("merge-tree: %w", err)
	}
	m := &Merged{Tree: tree}
	fields = fields[1:]
	for len(fields) > 0 && fields[0] != "" {
		info, path, _ := strings.Cut(fields[0], "\t")
		f := strings.Fields(info)
		if len(f) != 3 {
			return nil, fmt.Errorf("merge-tree answered %s", inertQuote(info))
		}
		mode, err := ParseMode(f[0])
		if err != nil {
			return nil, err
		}
		stage, _ := strconv.Atoi(f[2])
		m.Conflicts = append(m.Conflicts, Stage{mode, ID(f[1]), stage, path})
		fields = fields[1:]
	}
	if len(fields) > 0 {
		fields = fields[1:]
	}
	for len(fields) > 0 {
		n, err := strconv.Atoi(fields[0])
		if err != nil || len(fields) < n+3 {
			break
		}
		m.Messages = append(m.Messages, strings.TrimSuffix(fields[n+2], "\n"))
		fields = fields[n+3:]
	}
	return m, nil
}
