// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package declared

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/1bit-MONSTER/engine/internal/git"
)

// A GitTree is a Tree of git objects. It runs one git process, and must be
// closed. It does not touch the network.
type GitTree struct {
	cat   *git.CatFile
	tree  git.ID
	blobs map[string]git.ID
}

var _ Tree = (*GitTree)(nil)

// OpenGit returns the tree of a commit, or a tree by its id.
func OpenGit(ctx context.Context, repo *git.Repo, id git.ID) (*GitTree, error) {
	cat, err := repo.CatFile(ctx)
	if err != nil {
		return nil, err
	}
	h, err := cat.Header(id)
	if err == nil && h.Kind != "tree" {
		var c *git.Commit
		if c, err = cat.Commit(id); err == nil {
			id = c.Tree
		}
	}
	if err != nil {
		cat.Close()
		return nil, err
	}
	return &GitTree{cat: cat, tree: id}, nil
}

// Close ends the process.
func (t *GitTree) Close() error { return t.cat.Close() }

// List implements Tree.
func (t *GitTree) List() ([]Entry, error) {
	all, err := t.cat.LsTree(t.tree)
	if err != nil {
		return nil, err
	}
	t.blobs = make(map[string]git.ID, len(all))
	list := make([]Entry, 0, len(all))
	for _, e := range all {
		if e.Mode == git.ModeTree {
			continue
		}
		t.blobs[e.Path] = e.ID
		list = append(list, Entry{Path: e.Path, Mode: e.Mode.String(), ID: string(e.ID), Size: -1})
	}
	return list, nil
}

// Read implements Tree.
func (t *GitTree) Read(path string) ([]byte, error) {
	id, ok := t.blobs[path]
	if !ok {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist}
	}
	h, err := t.cat.Header(id)
	switch {
	case err != nil:
		return nil, err
	case h.Kind == "":
		return nil, fmt.Errorf("blob %s: %w", id, fs.ErrNotExist)
	case h.Size > MaxFile:
		return nil, &TooLarge{path, h.Size}
	}
	content, err := t.cat.Read(id, "blob")
	var missing *git.MissingObject
	if errors.As(err, &missing) {
		return nil, fmt.Errorf("blob %s: %w", id, fs.ErrNotExist)
	}
	return content, err
}

// FS returns a Tree of the files of a folder. Symbolic links are not
// followed, and .git is left out. It knows no submodules.
func FS(fsys fs.FS) Tree { return dirTree{fsys} }

type dirTree struct{ fs fs.FS }

func (t dirTree) List() ([]Entry, error) {
	var list []Entry
	err := fs.WalkDir(t.fs, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if d.Name() == ".git" {
				return fs.SkipDir
			}
			return nil
		case !d.Type().IsRegular():
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		mode := "100644"
		if info.Mode()&0o111 != 0 {
			mode = "100755"
		}
		list = append(list, Entry{Path: p, Mode: mode, Size: info.Size()})
		return nil
	})
	return list, err
}

func (t dirTree) Read(path string) ([]byte, error) { return fs.ReadFile(t.fs, path) }
