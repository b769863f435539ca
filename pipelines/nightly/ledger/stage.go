// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/git"
)

// A stage is the next state of the branch, made in the object store: there is
// no work tree.
type stage struct {
	*reader
	pending *git.Pending
	root    []git.TreeEntry
	events  []git.TreeEntry
	months  map[string]*month // of the groups that were looked at
}

// A month is the file of a group that lines are added to.
type month struct {
	entries  []git.TreeEntry // of the group's folder
	name     string          // empty: there is no file yet
	previous []byte          // the file before it
	content  []byte
	full     []string // names that cannot be used
}

// stage makes a commit on top of the branch and returns it; nothing points at
// it yet.
func (l *Ledger) stage(ctx context.Context, message string, fill func(*stage) error) (git.ID, error) {
	cat, err := l.o.Repo.CatFile(ctx)
	if err != nil {
		return "", err
	}
	defer cat.Close()
	pending, err := l.o.Repo.Pending(ctx)
	if err != nil {
		return "", err
	}
	defer pending.Close()
	s := &stage{reader: &reader{cat, l.note}, pending: pending, months: map[string]*month{}}
	if s.root, s.events, err = s.reader.root(l.head); err != nil {
		return "", wrap(err)
	}
	s.root, s.events = s.safe("", s.root), s.safe(eventsDir+"/", s.events)
	if err := fill(s); err != nil {
		return "", err
	}
	tree, err := s.tree()
	if err != nil {
		return "", wrap(err)
	}
	who := git.Signature{Name: "1bit engine distribution", Email: "dist@1bit.invalid", When: l.o.Clock().UTC().Truncate(time.Second)}
	c := git.Commit{Tree: tree, Author: who, Committer: who, Message: message}
	if l.head != "" {
		c.Parents = []git.ID{l.head}
	}
	commit, err := pending.AddCommit(c)
	if err != nil {
		return "", err
	}
	return commit, pending.Flush(ctx)
}

// safe leaves out entries that no tree of ours may hold, so that they do not
// keep anything from being added beside them.
func (s *stage) safe(folder string, entries []git.TreeEntry) []git.TreeEntry {
	var kept []git.TreeEntry
	for _, e := range entries {
		if _, err := git.FormatTree([]git.TreeEntry{e}); err != nil {
			s.note("%s was removed from the branch %s: %v", quote(folder+e.Name), Branch, err)
			continue
		}
		kept = append(kept, e)
	}
	return kept
}

// month returns the last file of a group.
func (s *stage) month(group string) (*month, error) {
	if m := s.months[group]; m != nil {
		return m, nil
	}
	entries, err := s.below(s.events, group)
	if err != nil {
		return nil, err
	}
	files, full, err := s.files(group, entries)
	if err != nil {
		return nil, err
	}
	m := &month{entries: s.safe(path(group, ""), entries), full: full}
	for _, f := range files[max(0, len(files)-2):] {
		content, err := s.cat.Read(f.id, "blob")
		if err != nil {
			return nil, err
		}
		m.name, m.previous, m.content = f.name, m.content, content
	}
	s.months[group] = m
	return m, nil
}

// has tells whether all lines are there. They would be in one of the last two
// files: the last one, or the one that was the last when an answer got lost.
func (s *stage) has(lines []written) bool {
	for _, w := range lines {
		m, err := s.month(w.Group)
		if err != nil || !m.has(w.line) {
			return false // an error comes again when lines are added
		}
	}
	return true
}

func (m *month) has(line []byte) bool {
	for _, content := range [][]byte{m.content, m.previous} {
		if bytes.HasPrefix(content, line) || bytes.Contains(content, append([]byte{'\n'}, line...)) {
			return true
		}
	}
	return false
}

// add puts the lines that are not there at the end of their groups' last files,
// so that files and lines are in the order in which they were written, whatever
// a clock says.
func (s *stage) add(lines []written) error {
	for _, w := range lines {
		m, err := s.month(w.Group)
		if err != nil {
			return wrap(err)
		}
		if m.has(w.line) {
			continue
		}
		name := monthOf(w.At)
		if name < m.name {
			name = m.name
		}
		for slices.Contains(m.full, name) || name == m.name && len(m.content)+len(w.line) > maxFile {
			if name, err = following(name); err != nil {
				return err
			}
		}
		if name != m.name {
			if m.name != "" {
				if err := s.store(w.Group, m); err != nil {
					return err
				}
			}
			m.name, m.previous, m.content = name, m.content, nil
		}
		m.content = appendLine(m.content, w.line)
	}
	return nil
}

// appendLine adds a line to a file that may lack its last line end.
func appendLine(content, line []byte) []byte {
	content = slices.Clip(content)
	if n := len(content); n > 0 && content[n-1] != '\n' {
		content = append(content, '\n')
	}
	return append(content, line...)
}

func monthOf(t time.Time) string { return t.UTC().Format("2006-01") + ".jsonl" }

// following returns the file name of the next month.
func following(name string) (string, error) {
	t, err := time.Parse("2006-01", strings.TrimSuffix(name, ".jsonl"))
	if err != nil || t.Year() == 9999 {
		return "", fmt.Errorf("there is no file after %s", quote(name))
	}
	return monthOf(t.AddDate(0, 1, 0)), nil
}

// store stages the content of a group's last file.
func (s *stage) store(group string, m *month) error {
	id := s.pending.AddBlob(m.content)
	m.entries = put(m.entries, git.TreeEntry{Mode: git.ModeFile, Name: m.name, ID: id})
	tree, err := s.pending.AddTree(m.entries)
	if err != nil {
		return err
	}
	s.events = put(s.events, git.TreeEntry{Mode: git.ModeTree, Name: group, ID: tree})
	return nil
}

// tree stages everything and returns the root. A person's other files stay.
func (s *stage) tree() (git.ID, error) {
	for group, m := range s.months {
		if m.name != "" {
			if err := s.store(group, m); err != nil {
				return "", err
			}
		}
	}
	root := s.root
	if len(s.events) > 0 {
		tree, err := s.pending.AddTree(s.events)
		if err != nil {
			return "", err
		}
		root = put(root, git.TreeEntry{Mode: git.ModeTree, Name: eventsDir, ID: tree})
	}
	if !slices.ContainsFunc(root, func(e git.TreeEntry) bool { return e.Name == readmeName }) {
		root = put(root, git.TreeEntry{Mode: git.ModeFile, Name: readmeName, ID: s.pending.AddBlob([]byte(readme))})
	}
	return s.pending.AddTree(root)
}

// put returns entries with one more, or another in its place.
func put(entries []git.TreeEntry, e git.TreeEntry) []git.TreeEntry {
	entries = slices.DeleteFunc(slices.Clone(entries), func(x git.TreeEntry) bool { return x.Name == e.Name })
	return append(entries, e)
}

// mostNamed is how many groups a commit's message names.
const mostNamed = 10

// describe returns the message of a commit: only names of ours.
func describe(lines []written) string {
	var groups []string
	kinds := map[string][]string{}
	for _, w := range lines {
		if kinds[w.Group] == nil {
			groups = append(groups, w.Group)
		}
		if !slices.Contains(kinds[w.Group], string(w.Kind)) {
			kinds[w.Group] = append(kinds[w.Group], string(w.Kind))
		}
	}
	if len(groups) == 1 {
		return fmt.Sprintf("%s: %s\n", groups[0], strings.Join(kinds[groups[0]], ", "))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d groups: %d events\n\n", len(groups), len(lines))
	for i, g := range groups {
		if i == mostNamed {
			fmt.Fprintf(&b, "and %d more\n", len(groups)-i)
			break
		}
		fmt.Fprintf(&b, "%s: %s\n", g, strings.Join(kinds[g], ", "))
	}
	return b.String()
}
