// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"bytes"
	"context"

	"github.com/1bit-MONSTER/engine/internal/git"
)

// lost counts the lines that one state of the branch has and a later one has
// not. It looks at content, since a shallow clone knows no history, and a
// branch that was made anew from the same files lost nothing.
func (l *Ledger) lost(ctx context.Context, before, after git.ID) (int, error) {
	cat, err := l.o.Repo.CatFile(ctx)
	if err != nil {
		return 0, err
	}
	defer cat.Close()
	silent := &reader{cat, func(string, ...any) {}} // reading proper will say it
	old, err := silent.index(before)
	if err != nil {
		return 0, err
	}
	now, err := silent.index(after)
	if err != nil {
		return 0, err
	}
	n := 0
	for where, id := range old {
		if now[where] == id {
			continue
		}
		had, err := cat.Read(id, "blob")
		if err != nil {
			return 0, err
		}
		var has []byte
		if there, ok := now[where]; ok {
			if has, err = cat.Read(there, "blob"); err != nil {
				return 0, err
			}
		}
		n += missingLines(had, has)
	}
	return n, nil
}

// index returns every file that may be read, by path.
func (r *reader) index(head git.ID) (map[string]git.ID, error) {
	all := map[string]git.ID{}
	_, events, err := r.root(head)
	if err != nil {
		return nil, err
	}
	for _, group := range r.groups(events) {
		entries, err := r.below(events, group)
		if err != nil {
			return nil, err
		}
		files, _, err := r.files(group, entries)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			all[path(group, f.name)] = f.id
		}
	}
	return all, nil
}

// missingLines counts the lines of had that has lacks. A file only grows, as a
// rule, and then it need not be taken apart.
func missingLines(had, has []byte) int {
	if bytes.HasPrefix(has, had) {
		return 0
	}
	there := map[string]bool{}
	for line := range bytes.Lines(has) {
		there[string(bytes.TrimSpace(line))] = true
	}
	n := 0
	for line := range bytes.Lines(had) {
		if line = bytes.TrimSpace(line); len(line) > 0 && !there[string(line)] {
			n++
		}
	}
	return n
}
