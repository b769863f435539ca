// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"fmt"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/git"
)

// An edit is what becomes of one path: an entry, or nothing when Mode is 0.
type edit struct {
	mode git.Mode
	id   git.ID
}

// editTree returns a tree with the edits made, keyed by path. Folders that
// become empty go. The error is *inTheWay where a file would be a folder.
func editTree(objects *git.Pending, tree git.ID, edits map[string]edit) (git.ID, error) {
	id, err := editFolder(objects, "", tree, edits)
	if err == nil && id == "" {
		// git knows this one without storing it, but a commit of it is walked.
		return objects.AddTree(nil)
	}
	return id, err
}

// An inTheWay says that a path is below something that is no folder, or is one
// with other things inside.
type inTheWay struct{ path, what string }

func (e *inTheWay) Error() string { return fmt.Sprintf("%s is %s", show(e.path), e.what) }

func editFolder(objects *git.Pending, folder string, tree git.ID, edits map[string]edit) (git.ID, error) {
	old, err := treeEntries(objects, tree)
	if err != nil {
		return "", err
	}
	here := map[string]edit{}
	below := map[string]map[string]edit{}
	for path, e := range edits {
		name, rest, deeper := strings.Cut(path, "/")
		if !deeper {
			here[name] = e
			continue
		}
		if below[name] == nil {
			below[name] = map[string]edit{}
		}
		below[name][rest] = e
	}
	var out []git.TreeEntry
	one := func(name string, have git.TreeEntry) error {
		path := name
		if folder != "" {
			path = folder + "/" + name
		}
		mine, direct := here[name]
		if direct && have.Mode != git.ModeTree && mine.mode == 0 {
			have = git.TreeEntry{}
		}
		if sub := below[name]; sub != nil {
			if have.Mode != 0 && have.Mode != git.ModeTree {
				return &inTheWay{path, kindName(have.Mode)}
			}
			id, err := editFolder(objects, path, have.ID, sub)
			if err != nil {
				return err
			}
			have = git.TreeEntry{}
			if id != "" {
				have = git.TreeEntry{Mode: git.ModeTree, Name: name, ID: id}
			}
		}
		if direct && mine.mode != 0 {
			if have.Mode == git.ModeTree {
				return &inTheWay{path, kindName(have.Mode)}
			}
			have = git.TreeEntry{Mode: mine.mode, Name: name, ID: mine.id}
		}
		if have.Mode != 0 {
			out = append(out, have)
		}
		delete(here, name)
		delete(below, name)
		return nil
	}
	for _, e := range old {
		if err := one(e.Name, e); err != nil {
			return "", err
		}
	}
	for name := range here {
		if err := one(name, git.TreeEntry{}); err != nil {
			return "", err
		}
	}
	for name := range below {
		if err := one(name, git.TreeEntry{}); err != nil {
			return "", err
		}
	}
	if len(out) == 0 {
		return "", nil
	}
	return objects.AddTree(out)
}

// kindName names an entry by its mode.
func kindName(m git.Mode) string {
	switch m {
	case git.ModeTree:
		return "a folder"
	case git.ModeSymlink:
		return "a symbolic link"
	case git.ModeSubmodule:
		return "a submodule"
	}
	return "a file"
}

// lookup returns the entry at a path. through is the first part of the path
// that is no folder, when the path goes below it.
func lookup(objects *git.Pending, tree git.ID, path string) (e git.TreeEntry, through string, err error) {
	e = git.TreeEntry{Mode: git.ModeTree, ID: tree}
	done := ""
	for name := range strings.SplitSeq(path, "/") {
		if e.Mode != git.ModeTree {
			return git.TreeEntry{}, done, nil
		}
		entries, err := objects.ReadTree(e.ID)
		if err != nil {
			return git.TreeEntry{}, "", err
		}
		e = git.TreeEntry{}
		for _, x := range entries {
			if x.Name == name {
				e = x
				break
			}
		}
		if e.Mode == 0 {
			return git.TreeEntry{}, "", nil
		}
		if done != "" {
			done += "/"
		}
		done += name
	}
	return e, "", nil
}
