// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"fmt"
	"sort"

	"github.com/1bit-MONSTER/engine/internal/git"
)

// kindMask is the part of a mode that says what an entry is.
const kindMask = 0o170000

// DiffTrees returns what leads from one tree to another, by path, with the text
// of each change. Blobs that are the same on both sides are not read.
func DiffTrees(objects *git.Pending, before, after git.ID) ([]Change, error) {
	var changes []Change
	if err := diffTrees(objects, "", before, after, &changes); err != nil {
		return nil, err
	}
	sortChanges(changes)
	for i := range changes {
		if err := changes[i].fill(objects); err != nil {
			return nil, err
		}
	}
	return changes, nil
}

// sortChanges puts them in the order of the text: by path, a deletion first.
func sortChanges(changes []Change) {
	sort.SliceStable(changes, func(i, j int) bool {
		a, b := &changes[i], &changes[j]
		if a.Path != b.Path {
			return a.Path < b.Path
		}
		return a.NewMode == 0 && b.NewMode != 0
	})
}

func diffTrees(objects *git.Pending, folder string, before, after git.ID, out *[]Change) error {
	if before == after {
		return nil
	}
	old, err := treeEntries(objects, before)
	if err != nil {
		return err
	}
	now, err := treeEntries(objects, after)
	if err != nil {
		return err
	}
	byName := make(map[string]git.TreeEntry, len(now))
	for _, e := range now {
		byName[e.Name] = e
	}
	for _, e := range old {
		n := byName[e.Name]
		delete(byName, e.Name)
		if n == e {
			continue
		}
		if err := diffEntry(objects, folder, e, n, out); err != nil {
			return err
		}
	}
	for _, n := range now {
		if _, ok := byName[n.Name]; !ok {
			continue
		}
		if err := diffEntry(objects, folder, git.TreeEntry{}, n, out); err != nil {
			return err
		}
	}
	return nil
}

func treeEntries(objects *git.Pending, id git.ID) ([]git.TreeEntry, error) {
	if id == "" {
		return nil, nil
	}
	return objects.ReadTree(id)
}

// diffEntry compares two entries of one name, of which one may be none.
func diffEntry(objects *git.Pending, folder string, old, now git.TreeEntry, out *[]Change) error {
	name := old.Name + now.Name
	if old.Name == now.Name {
		name = old.Name
	}
	path := name
	if folder != "" {
		path = folder + "/" + name
	}
	var oldTree, newTree git.ID
	if old.Mode == git.ModeTree {
		oldTree, old = old.ID, git.TreeEntry{}
	}
	if now.Mode == git.ModeTree {
		newTree, now = now.ID, git.TreeEntry{}
	}
	if oldTree != "" || newTree != "" {
		if err := diffTrees(objects, path, oldTree, newTree, out); err != nil {
			return err
		}
	}
	add := func(old, now git.TreeEntry) {
		c := Change{Path: path, OldMode: plainMode(old.Mode), NewMode: plainMode(now.Mode), OldID: old.ID, NewID: now.ID}
		if c.OldID == c.NewID {
			if c.OldMode == c.NewMode {
				return // only the old spelling of a mode differs
			}
			c.OldID, c.NewID = "", ""
		}
		*out = append(*out, c)
	}
	switch {
	case old.Mode == 0 && now.Mode == 0:
	case old.Mode != 0 && now.Mode != 0 && old.Mode&kindMask != now.Mode&kindMask:
		add(old, git.TreeEntry{})
		add(git.TreeEntry{}, now)
	default:
		add(old, now)
	}
	return nil
}

// plainMode is what git takes an old, group-writable file for.
func plainMode(m git.Mode) git.Mode {
	if m == 0o100664 {
		return git.ModeFile
	}
	return m
}

// fill reads both contents and makes the text of the change.
func (c *Change) fill(objects *git.Pending) error {
	if c.OldID == c.NewID {
		return nil
	}
	old, err := contentOf(objects, c.Path, c.OldMode, c.OldID)
	if err != nil {
		return err
	}
	now, err := contentOf(objects, c.Path, c.NewMode, c.NewID)
	if err != nil {
		return err
	}
	if isBinary(old) || isBinary(now) {
		c.IsBinary = true
		c.Binary = now
		return nil
	}
	c.Hunks = makeHunks(string(old), string(now))
	return nil
}

// contentOf returns the content of one side, nothing where there is none.
func contentOf(objects *git.Pending, path string, mode git.Mode, id git.ID) ([]byte, error) {
	switch {
	case mode == 0:
		return nil, nil
	case mode == git.ModeSubmodule:
		return []byte(submoduleText(id)), nil
	}
	b, err := objects.Read(id, "blob")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", show(path), err)
	}
	return b, nil
}

// submoduleText is how a patch shows the commit of a submodule.
func submoduleText(id git.ID) string { return submodulePrefix + string(id) + "\n" }

const submodulePrefix = "Subproject commit "
