// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"slices"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/git"
)

// A change is one path that differs between two trees. The side without it
// has mode 0.
type change struct {
	path     string
	old, new git.TreeEntry // without names
}

func (c change) added() bool   { return c.old.Mode == 0 }
func (c change) deleted() bool { return c.new.Mode == 0 }

// cachedTrees bounds the cache of trees; one of a big project's has 50
// entries of about 100 bytes.
const cachedTrees = 8000

func (e *Engine) readTree(id git.ID) ([]git.TreeEntry, error) {
	if t, ok := e.trees[id]; ok {
		return t, nil
	}
	if id == git.EmptyTree {
		return nil, nil
	}
	content, err := e.read(id, "tree")
	if err != nil {
		return nil, err
	}
	return e.keepTree(id, content)
}

func (e *Engine) keepTree(id git.ID, content []byte) ([]git.TreeEntry, error) {
	t, err := git.ParseTree(content)
	if err != nil {
		return nil, err
	}
	if len(e.trees) >= cachedTrees {
		clear(e.trees)
	}
	e.trees[id] = t
	return t, nil
}

// read returns an object, from the scratch repository itself if it is there.
func (e *Engine) read(id git.ID, kind string) ([]byte, error) {
	if content, ok := e.s.loose(id, kind); ok {
		return content, nil
	}
	return e.cat.Read(id, kind)
}

// readAhead reads the trees that diffTrees of these pairs will need, each level
// of all of them with one question. It is only for speed.
func (e *Engine) readAhead(pairs [][2]git.ID) error {
	for len(pairs) > 0 {
		var wanted []git.ID
		asked := map[git.ID]bool{git.EmptyTree: true, "": true}
		for _, p := range pairs {
			for _, id := range p {
				if _, ok := e.trees[id]; !ok && !asked[id] {
					asked[id] = true
					wanted = append(wanted, id)
				}
			}
		}
		if len(e.trees)+len(wanted) > cachedTrees {
			return nil
		}
		if err := e.cat.ReadAll(wanted, "tree", func(i int, content []byte) error {
			_, err := e.keepTree(wanted[i], content)
			return err
		}); err != nil {
			return err
		}
		var below [][2]git.ID
		for _, p := range pairs {
			byName := map[string]git.ID{}
			for _, t := range e.trees[p[0]] {
				if t.Mode == git.ModeTree {
					byName[t.Name] = t.ID
				}
			}
			for _, t := range e.trees[p[1]] {
				if t.Mode == git.ModeTree && byName[t.Name] != t.ID {
					below = append(below, [2]git.ID{byName[t.Name], t.ID})
				}
			}
		}
		pairs = below
	}
	return nil
}

// diffTrees lists the files, symbolic links and submodules that differ,
// without looking for renames, in the order of trees. Folders that are the
// same are not read.
func (e *Engine) diffTrees(a, b git.ID) ([]change, error) {
	var out []change
	err := e.diffInto(&out, "", a, b)
	slices.SortFunc(out, func(x, y change) int { return strings.Compare(x.path, y.path) })
	return out, err
}

func (e *Engine) diffInto(out *[]change, folder string, a, b git.ID) error {
	if a == b {
		return nil
	}
	var olds, news []git.TreeEntry
	var err error
	if a != "" {
		if olds, err = e.readTree(a); err != nil {
			return err
		}
	}
	if b != "" {
		if news, err = e.readTree(b); err != nil {
			return err
		}
	}
	// Both are sorted, but a folder and a file of one name are not neighbours.
	index := make(map[string]git.TreeEntry, len(news))
	for _, n := range news {
		index[n.Name] = n
	}
	emit := func(name string, old, new git.TreeEntry) error {
		if old.Mode == new.Mode && old.ID == new.ID {
			return nil
		}
		path := name
		if folder != "" {
			path = folder + "/" + name
		}
		oldTree, newTree := git.ID(""), git.ID("")
		if old.Mode == git.ModeTree {
			oldTree, old = old.ID, git.TreeEntry{}
		}
		if new.Mode == git.ModeTree {
			newTree, new = new.ID, git.TreeEntry{}
		}
		if old.Mode != 0 || new.Mode != 0 {
			old.Name, new.Name = "", ""
			*out = append(*out, change{path, old, new})
		}
		return e.diffInto(out, path, oldTree, newTree)
	}
	for _, o := range olds {
		n := index[o.Name]
		delete(index, o.Name)
		if err := emit(o.Name, o, n); err != nil {
			return err
		}
	}
	for _, n := range news {
		if _, left := index[n.Name]; left {
			if err := emit(n.Name, git.TreeEntry{}, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// editTree returns tree with some paths replaced; an entry of mode 0 removes
// the path, and folders that become empty with it.
func (e *Engine) editTree(tree git.ID, edits map[string]git.TreeEntry) (git.ID, error) {
	here := map[string]git.TreeEntry{}
	below := map[string]map[string]git.TreeEntry{}
	for path, entry := range edits {
		name, rest, deeper := strings.Cut(path, "/")
		if !deeper {
			here[name] = entry
			continue
		}
		if below[name] == nil {
			below[name] = map[string]git.TreeEntry{}
		}
		below[name][rest] = entry
	}
	old, err := e.readTree(tree)
	if err != nil {
		return "", err
	}
	var entries []git.TreeEntry
	for _, o := range old {
		if entry, ok := here[o.Name]; ok && entry.Mode == 0 {
			if _, becomesFolder := below[o.Name]; !becomesFolder {
				continue
			}
		}
		if _, ok := here[o.Name]; ok {
			continue
		}
		if _, ok := below[o.Name]; ok {
			continue
		}
		entries = append(entries, o)
	}
	for name, entry := range here {
		if entry.Mode != 0 {
			entries = append(entries, git.TreeEntry{Mode: entry.Mode, Name: name, ID: entry.ID})
		}
	}
	for name, edits := range below {
		sub := git.EmptyTree
		for _, o := range old {
			if o.Name == name && o.Mode == git.ModeTree {
				sub = o.ID
			}
		}
		id, err := e.editTree(sub, edits)
		if err != nil {
			return "", err
		}
		if id != git.EmptyTree {
			entries = append(entries, git.TreeEntry{Mode: git.ModeTree, Name: name, ID: id})
		}
	}
	if len(entries) == 0 {
		return e.s.write("tree", nil)
	}
	content, err := git.FormatTree(entries)
	if err != nil {
		return "", err
	}
	return e.s.write("tree", content)
}

// A text is a blob in lines, each with its line end.
type text struct {
	content []byte
	lines   []string
	binary  bool // no lines: it has NUL bytes, or is larger than largestText
	counts  bag  // made when it is asked for
}

const (
	largestText = 8 << 20  // bytes; compared line by line up to here
	cachedText  = 24 << 20 // bytes
)

var noText = &text{counts: bag{}}

// text reads a file's blob; for no file, a link or a submodule it is empty.
func (e *Engine) text(entry git.TreeEntry) (*text, error) {
	if entry.Mode.Kind() != "blob" || entry.Mode == 0 || entry.Mode == git.ModeSymlink {
		return noText, nil
	}
	if t, ok := e.blobs[entry.ID]; ok {
		return t, nil
	}
	content, err := e.read(entry.ID, "blob")
	if err != nil {
		return nil, err
	}
	return e.keepText(entry.ID, content), nil
}

func (e *Engine) keepText(id git.ID, content []byte) *text {
	t := newText(content)
	if e.held+len(content) > cachedText {
		clear(e.blobs)
		e.held = 0
	}
	e.blobs[id] = t
	e.held += 2 * len(content)
	return t
}

func newText(content []byte) *text {
	t := &text{content: content}
	if isBinary(content) || len(content) > largestText {
		t.binary = true
		return t
	}
	t.lines = splitLines(string(content))
	return t
}

// entryAt returns the entry at a path, of mode 0 when there is none.
func (e *Engine) entryAt(tree git.ID, path string) (git.TreeEntry, error) {
	for {
		name, rest, deeper := strings.Cut(path, "/")
		entries, err := e.readTree(tree)
		if err != nil {
			return git.TreeEntry{}, err
		}
		i := slices.IndexFunc(entries, func(t git.TreeEntry) bool { return t.Name == name })
		if i < 0 {
			return git.TreeEntry{}, nil
		}
		if !deeper {
			if entries[i].Mode == git.ModeTree {
				return git.TreeEntry{}, nil
			}
			return git.TreeEntry{Mode: entries[i].Mode, ID: entries[i].ID}, nil
		}
		if entries[i].Mode != git.ModeTree {
			return git.TreeEntry{}, nil
		}
		tree, path = entries[i].ID, rest
	}
}

// bag counts the lines of a text.
func (t *text) bag() bag {
	if t.counts == nil {
		t.counts = newBag(t.lines)
	}
	return t.counts
}
