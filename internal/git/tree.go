// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// A Mode is the mode of a tree's entry, as git writes it.
type Mode uint32

// The modes that git makes. Others occur in old or hostile trees.
const (
	ModeTree       Mode = 0o040000
	ModeFile       Mode = 0o100644
	ModeExecutable Mode = 0o100755
	ModeSymlink    Mode = 0o120000
	ModeSubmodule  Mode = 0o160000

	// modeGroupWritable is what git made before 2005; git itself treats it
	// as ModeFile.
	modeGroupWritable Mode = 0o100664
)

// String returns six octal digits, such as 100644.
func (m Mode) String() string { return fmt.Sprintf("%06o", uint32(m)) }

// ParseMode reads what String writes.
func ParseMode(s string) (Mode, error) {
	n, err := strconv.ParseUint(s, 8, 32)
	if err != nil || len(s) > 6 {
		return 0, fmt.Errorf("%s is not a file mode", inertQuote(s))
	}
	return Mode(n), nil
}

// Kind is the kind of object that an entry of this mode names.
func (m Mode) Kind() string {
	switch m & 0o170000 {
	case ModeTree:
		return "tree"
	case ModeSubmodule:
		return "commit"
	}
	return "blob"
}

// A TreeEntry is one entry of one tree. Name holds the bytes that git has,
// which may be no UTF-8.
type TreeEntry struct {
	Mode Mode
	Name string
	ID   ID
}

// An Entry is a file, symbolic link, submodule or folder below some tree. Path
// has slashes between the names of its folders, and none at its ends.
type Entry struct {
	Mode Mode
	Path string
	ID   ID
}

// ParseTree reads the content of a tree object. It checks the form, not
// whether the names are safe: that is CheckTree's.
func ParseTree(content []byte) ([]TreeEntry, error) {
	var entries []TreeEntry
	for len(content) > 0 {
		space := bytes.IndexByte(content, ' ')
		if space < 1 || space > 7 {
			return nil, fmt.Errorf("broken tree: entry %d has no mode", len(entries)+1)
		}
		mode, err := strconv.ParseUint(string(content[:space]), 8, 32)
		if err != nil {
			return nil, fmt.Errorf("broken tree: entry %d has the mode %s", len(entries)+1, inertQuote(string(content[:space])))
		}
		content = content[space+1:]
		end := bytes.IndexByte(content, 0)
		if end < 0 || len(content) < end+21 {
			return nil, fmt.Errorf("broken tree: entry %d is cut off", len(entries)+1)
		}
		entries = append(entries, TreeEntry{Mode(mode), string(content[:end]), ID(hex.EncodeToString(content[end+1 : end+21]))})
		content = content[end+21:]
	}
	return entries, nil
}

// ReadTree returns the entries of one tree. A commit's id is refused.
func (c *CatFile) ReadTree(id ID) ([]TreeEntry, error) {
	if id == EmptyTree {
		return nil, nil
	}
	content, err := c.Read(id, "tree")
	if err != nil {
		return nil, err
	}
	return ParseTree(content)
}

// A walkStep sees one tree of a walk, its path empty for the root. An error
// ends the walk.
type walkStep func(path string, depth int, entries []TreeEntry) error

// walk visits a tree and all trees below it, a level at a time, each level's
// trees in one go.
func (c *CatFile) walk(root ID, step walkStep) error {
	type node struct {
		path string
		id   ID
	}
	if root == EmptyTree {
		return step("", 0, nil)
	}
	for level, depth := []node{{"", root}}, 0; len(level) > 0; depth++ {
		ids := make([]ID, len(level))
		for i, n := range level {
			ids[i] = n.id
		}
		var below []node
		err := c.ReadAll(ids, "tree", func(i int, content []byte) error {
			entries, err := ParseTree(content)
			if err == nil {
				err = step(level[i].path, depth, entries)
			}
			if err != nil {
				return err
			}
			for _, e := range entries {
				if e.Mode.Kind() == "tree" {
					below = append(below, node{join(level[i].path, e.Name), e.ID})
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		level = below
	}
	return nil
}

func join(folder, name string) string {
	if folder == "" {
		return name
	}
	return folder + "/" + name
}

// LsTree returns every file, symbolic link and submodule below a tree, sorted
// by path, after the checks of CheckTree. folders are not listed.
func (r *Repo) LsTree(ctx context.Context, tree ID) ([]Entry, error) {
	c, err := r.CatFile(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.LsTree(tree)
}

// LsTree is Repo.LsTree in this process.
func (c *CatFile) LsTree(tree ID) ([]Entry, error) {
	report, err := c.CheckTree(tree, Limits{})
	if err != nil {
		return nil, err
	}
	return report.Entries, nil
}

// Lookup returns the entry at a path below a tree; ok is false when there is
// none. An empty path is the tree itself.
func (c *CatFile) Lookup(tree ID, path string) (e Entry, ok bool, err error) {
	e = Entry{Mode: ModeTree, ID: tree}
	for name := range strings.SplitSeq(path, "/") {
		if path == "" {
			break
		}
		if e.Mode.Kind() != "tree" {
			return Entry{}, false, nil
		}
		entries, err := c.ReadTree(e.ID)
		if err != nil {
			return Entry{}, false, err
		}
		found := false
		for _, t := range entries {
			if t.Name == name {
				e, found = Entry{t.Mode, path, t.ID}, true
				break
			}
		}
		if !found {
			return Entry{}, false, nil
		}
	}
	return e, true, nil
}
