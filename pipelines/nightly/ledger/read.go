// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/1bit-MONSTER/engine/internal/git"
)

// eventsDir is the folder of all groups on the branch.
const eventsDir = "events"

// Limits of what is read of a branch that anybody might have written.
const (
	maxGroups = 2000
	maxFiles  = 2000      // of a group, one a month
	maxFile   = 8 << 20   // bytes
	maxGroup  = 256 << 20 // bytes of all files of a group
)

// A file is one month of a group.
type file struct {
	name string // 2026-11.jsonl
	id   git.ID
	size int64 // bytes
}

// path is what a person looks for on the branch.
func path(group, name string) string { return eventsDir + "/" + group + "/" + name }

// A reader looks into one state of the branch.
type reader struct {
	cat  *git.CatFile
	note func(format string, args ...any)
}

// root returns the entries of a commit's tree, and of its events folder.
func (r *reader) root(head git.ID) (root, events []git.TreeEntry, err error) {
	if head == "" {
		return nil, nil, nil
	}
	c, err := r.cat.Commit(head)
	if err != nil {
		return nil, nil, err
	}
	if root, err = r.cat.ReadTree(c.Tree); err != nil {
		return nil, nil, err
	}
	events, err = r.below(root, eventsDir)
	return root, events, err
}

// below returns the entries of a folder, none where there is no such folder.
func (r *reader) below(entries []git.TreeEntry, name string) ([]git.TreeEntry, error) {
	for _, e := range entries {
		if e.Name == name && e.Mode == git.ModeTree {
			return r.cat.ReadTree(e.ID)
		}
	}
	return nil, nil
}

// groups returns the names of the groups that have events, sorted.
func (r *reader) groups(events []git.TreeEntry) []string {
	var list []string
	for _, e := range events {
		if e.Mode != git.ModeTree || !nameRE.MatchString(e.Name) {
			r.note("%s on the branch %s is no group's folder and was skipped", quote(eventsDir+"/"+e.Name), Branch)
			continue
		}
		if list = append(list, e.Name); len(list) == maxGroups {
			r.note("the branch %s has more than %d groups: the others were skipped", Branch, maxGroups)
			break
		}
	}
	slices.Sort(list)
	return list
}

// files returns the months of a group that may be read, oldest first. full are
// the names that are taken by something that may not.
func (r *reader) files(group string, entries []git.TreeEntry) (files []file, full []string, err error) {
	for _, e := range entries {
		where := quote(path(group, e.Name))
		if !monthRE.MatchString(e.Name) {
			r.note("%s on the branch %s is no month's file and was skipped", where, Branch)
			continue
		}
		if e.Mode != git.ModeFile {
			r.note("%s on the branch %s is no plain file and was skipped", where, Branch)
			full = append(full, e.Name)
			continue
		}
		h, err := r.cat.Header(e.ID)
		if err != nil {
			return nil, nil, err
		}
		if h.Kind != "blob" {
			return nil, nil, &git.MissingObject{ID: e.ID}
		}
		if h.Size > maxFile {
			r.note("%s on the branch %s has more than %d MiB and was skipped", where, Branch, maxFile>>20)
			full = append(full, e.Name)
			continue
		}
		files = append(files, file{e.Name, e.ID, h.Size})
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	var sum int64
	for i := len(files) - 1; i >= 0; i-- {
		if sum += files[i].size; sum > maxGroup || len(files)-i > maxFiles {
			r.note("the group %s has more on the branch %s than is read: everything up to %s was skipped", group, Branch, files[i].name)
			files = files[i+1:]
			break
		}
	}
	return files, full, nil
}

// events reads what the branch says of a group, in the order in which it was
// written.
func (r *reader) events(head git.ID, group string) ([]Event, error) {
	_, entries, err := r.root(head)
	if err != nil {
		return nil, err
	}
	if entries, err = r.below(entries, group); err != nil {
		return nil, err
	}
	files, _, err := r.files(group, entries)
	if err != nil {
		return nil, err
	}
	ids := make([]git.ID, len(files))
	for i, f := range files {
		ids[i] = f.id
	}
	var events []Event
	err = r.cat.ReadAll(ids, "blob", func(i int, content []byte) error {
		events = parse(events, content, path(group, files[i].name), group, r.note)
		return nil
	})
	return events, err
}

// maxLineNotes is how many bad lines of one file are named one by one.
const maxLineNotes = 3

// parse adds the events of one file. A line that cannot be read is never
// trusted and never fatal: it is named, for a person to mend.
func parse(events []Event, content []byte, where, group string, note func(string, ...any)) []Event {
	bad := 0
	for n := 1; len(content) > 0; n++ {
		var line []byte
		line, content, _ = bytes.Cut(content, []byte("\n"))
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		e, err := decode(line, group)
		if err == nil {
			events = append(events, e)
			continue
		}
		if bad++; bad <= maxLineNotes {
			note("%s:%d was skipped: %v", where, n, err)
		}
	}
	if bad > maxLineNotes {
		note("%s: %d lines in all were skipped", where, bad)
	}
	return events
}

// wrap names the branch in an error of reading it.
func wrap(err error) error {
	var missing *git.MissingObject
	switch {
	case err == nil:
		return nil
	case errors.As(err, &missing):
		return fmt.Errorf("the branch %s is not whole in this clone (%w): remove the ref %s and try again", Branch, err, LocalRef)
	}
	return fmt.Errorf("read the branch %s: %w", Branch, err)
}
