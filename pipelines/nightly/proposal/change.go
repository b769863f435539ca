// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package proposal

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/patches"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

// Notice is the one generated file that follows the pins.
const Notice = "NOTICE"

// changes are what a round makes of main: content by path, nil for a file that
// goes.
type changes map[string][]byte

func (c changes) paths() []string { return slices.Sorted(maps.Keys(c)) }

// An Outside says that a round would change what is not its own.
type Outside struct{ Path, Why string }

func (e *Outside) Error() string {
	return fmt.Sprintf("the round changes %s, and %s: nothing is proposed", inert.Quote(e.Path, 200), e.Why)
}

// mayChange says whether a round may change or, with gone, remove a file: the
// pins that move, the patches on them, and what is generated of these.
func mayChange(r *round.Round, name string, gone bool) error {
	if name == Notice && !gone {
		return nil
	}
	for _, m := range r.Moves() {
		if name == pinPath(m.Pin) && !gone {
			return nil
		}
		if m.Stack == "" {
			continue
		}
		folder, file := path.Split(name)
		switch stack := stackPath(m.Stack); folder {
		case stack + "/":
			if file == patches.SeriesFile && !gone || strings.HasSuffix(file, patches.Extension) {
				return nil
			}
		case stack + "/" + patches.ResolutionsFolder + "/":
			if strings.HasSuffix(file, ".yaml") && !gone {
				return nil
			}
		}
	}
	return &Outside{name, "a round of group " + r.Group + " may not"}
}

func pinPath(pin string) string     { return "pins/" + pin + ".yaml" }
func stackPath(stack string) string { return patches.Folder + "/" + stack }

// compare returns what differs between a tree and a folder that was made of it.
// What the tools leave beside it, their locks, is no file of the tree.
func compare(ctx context.Context, r *round.Round, entries []git.Entry, dir string) (changes, error) {
	was := map[string]git.Entry{}
	for _, e := range entries {
		was[e.Path] = e
	}
	out := changes{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		if d.IsDir() {
			return nil
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		e, known := was[rel]
		delete(was, rel)
		if !known && path.Base(rel) == ".lock" {
			return nil
		}
		var data []byte
		switch {
		case d.Type() == fs.ModeSymlink && known && e.Mode == git.ModeSymlink:
			target, err := os.Readlink(name)
			if err != nil {
				return err
			}
			if git.HashObject("blob", []byte(target)) == e.ID {
				return nil
			}
			return &Outside{rel, "it is a symbolic link"}
		case !d.Type().IsRegular():
			return &Outside{rel, "it is no regular file"}
		}
		if data, err = os.ReadFile(name); err != nil {
			return err
		}
		if known && git.HashObject("blob", data) == e.ID {
			return nil
		}
		if known && e.Mode != git.ModeFile {
			return &Outside{rel, "its mode is " + e.Mode.String()}
		}
		out[rel] = data
		return mayChange(r, rel, false)
	})
	if err != nil {
		return nil, err
	}
	for name, e := range was {
		if e.Mode == git.ModeSubmodule {
			continue
		}
		if err := mayChange(r, name, true); err != nil {
			return nil, err
		}
		out[name] = nil
	}
	return out, nil
}

// between returns the changes from one tree to another, under the same rules;
// every file that is new or other is plain.
func between(r *round.Round, before, after []git.Entry, read func(git.Entry) ([]byte, error)) (changes, error) {
	was := map[string]git.Entry{}
	for _, e := range before {
		was[e.Path] = e
	}
	out := changes{}
	for _, e := range after {
		old, known := was[e.Path]
		delete(was, e.Path)
		if known && old == e {
			continue
		}
		if err := mayChange(r, e.Path, false); err != nil {
			return nil, err
		}
		if e.Mode != git.ModeFile {
			return nil, &Outside{e.Path, "its mode is " + e.Mode.String()}
		}
		data, err := read(e)
		if err != nil {
			return nil, err
		}
		out[e.Path] = bytes.Clone(data)
		if data == nil {
			out[e.Path] = []byte{}
		}
	}
	for name := range was {
		if err := mayChange(r, name, true); err != nil {
			return nil, err
		}
		out[name] = nil
	}
	return out, nil
}

// apply returns the tree that changes make of another one.
func (c changes) apply(objects *git.Pending, tree git.ID) (git.ID, error) {
	below := map[string]changes{}
	here := changes{}
	for name, data := range c {
		if folder, rest, ok := strings.Cut(name, "/"); ok {
			if below[folder] == nil {
				below[folder] = changes{}
			}
			below[folder][rest] = data
			continue
		}
		here[name] = data
	}
	entries, err := objects.ReadTree(tree)
	if err != nil {
		return "", err
	}
	entries = slices.DeleteFunc(slices.Clone(entries), func(e git.TreeEntry) bool {
		_, is := here[e.Name]
		return is
	})
	for name, data := range here {
		if data != nil {
			entries = append(entries, git.TreeEntry{Mode: git.ModeFile, Name: name, ID: objects.AddBlob(data)})
		}
	}
	for folder, inside := range below {
		i := slices.IndexFunc(entries, func(e git.TreeEntry) bool { return e.Name == folder })
		old := git.EmptyTree
		if i >= 0 {
			if entries[i].Mode != git.ModeTree {
				return "", fmt.Errorf("%s is no folder", inert.Quote(folder, 100))
			}
			old = entries[i].ID
		} else {
			entries = append(entries, git.TreeEntry{Mode: git.ModeTree, Name: folder})
			i = len(entries) - 1
		}
		fresh, err := inside.apply(objects, old)
		if err != nil {
			return "", err
		}
		entries[i].ID = fresh
	}
	entries = slices.DeleteFunc(entries, func(e git.TreeEntry) bool { return e.Mode == git.ModeTree && e.ID == git.EmptyTree })
	return objects.AddTree(entries)
}
