// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// An Applied is a patched tree that was written to a folder.
type Applied struct {
	Stack      string   `json:"stack"`
	Dir        string   `json:"dir"`
	Base       git.ID   `json:"base"`
	Tip        git.ID   `json:"tip"` // the last rebuilt commit, or the base
	Tree       git.ID   `json:"tree"`
	Patches    int      `json:"patches"`
	Files      int      `json:"files"`
	Submodules []string `json:"submodules,omitempty"` // they are empty folders
	Excluded   []string `json:"excluded,omitempty"`   // they are not there
	Onto       git.ID   `json:"onto,omitempty"`       // of EditOnto: the new base
	Conflicts  []string `json:"conflicts,omitempty"`  // and the files that a person must settle first
}

// Apply writes the patched tree of a stack as files into a folder, which must
// not exist or be empty. Files have the modes of the tree and one date: the
// newest among the base's committer and the patches' authors. The folder
// appears when all of it is there.
func (r *Repository) Apply(ctx context.Context, name, dir string, source Source) (*Applied, error) {
	s, repo, commits, trees, done, err := r.rebuilt(ctx, name, source)
	if err != nil {
		return nil, err
	}
	defer done()
	base, err := repo.CommitInfo(ctx, string(s.Base))
	if err != nil {
		return nil, err
	}
	a := &Applied{Stack: name, Base: s.Base, Tip: s.Base, Tree: base.Tree, Patches: len(s.Patches)}
	if n := len(trees); n > 0 {
		a.Tip, a.Tree = commits[n-1], trees[n-1]
	}
	date := base.Committer.When
	for _, p := range s.Patches {
		if p.Author.When.After(date) {
			date = p.Author.When
		}
	}
	excluded := r.excluded(name)
	a.Dir, err = newFolder(dir, func(fresh string) error {
		return writeTree(ctx, repo, a, fresh, date, excluded)
	})
	return a, err
}

// excluded are the paths that are left out of the tree of a stack's pin.
func (r *Repository) excluded(name string) map[string]bool {
	out := map[string]bool{}
	if pin := r.PinOf(name); pin != nil {
		for _, x := range pin.Exclude {
			out[x.Path] = true
		}
		if pin.Lock != nil { // also what the list no longer has, as the old base has it
			for _, x := range pin.Lock.Excluded {
				out[x.Path] = true
			}
		}
	}
	return out
}

// newFolder fills a folder beside dir and moves it there, or leaves nothing.
func newFolder(dir string, fill func(fresh string) error) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	switch entries, err := os.ReadDir(dir); {
	case err == nil && len(entries) > 0:
		return "", verdict.Usagef("%s is not empty: name a folder that does not exist", dir)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", verdict.Usagef("%s cannot be used: %s", dir, errors.Unwrap(err))
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return "", err
	}
	fresh, err := os.MkdirTemp(filepath.Dir(dir), "."+filepath.Base(dir)+".*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(fresh)
	if err := os.Chmod(fresh, 0o755); err != nil {
		return "", err
	}
	if err := fill(fresh); err != nil {
		return "", err
	}
	// Only an empty folder is replaced.
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return dir, os.Rename(fresh, dir)
}

// writeTree writes a tree that CheckTree accepts, so that no name leads out of
// the folder and nothing is inside of a symbolic link.
func writeTree(ctx context.Context, repo *git.Repo, a *Applied, dir string, date time.Time, excluded map[string]bool) error {
	entries, err := repo.LsTree(ctx, a.Tree)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	at := map[git.ID][]git.Entry{}
	var blobs []git.ID
	folders := map[string]bool{}
	for _, e := range entries {
		if excluded[e.Path] {
			a.Excluded = append(a.Excluded, e.Path)
			continue
		}
		folder := path.Dir(e.Path)
		if e.Mode == git.ModeSubmodule {
			a.Submodules = append(a.Submodules, e.Path)
			folder = e.Path
		} else {
			if len(at[e.ID]) == 0 {
				blobs = append(blobs, e.ID)
			}
			at[e.ID] = append(at[e.ID], e)
		}
		for ; folder != "." && !folders[folder]; folder = path.Dir(folder) {
			folders[folder] = true
		}
		if e.Mode == git.ModeSubmodule {
			folder = e.Path
		} else {
			folder = path.Dir(e.Path)
		}
		if folder != "." {
			if err := root.MkdirAll(filepath.FromSlash(folder), 0o755); err != nil {
				return err
			}
		}
	}
	err = repo.Contents(ctx, git.Chunks(blobs), func(id git.ID, h git.Header, content io.Reader) error {
		paths := at[id]
		if h.Kind != "blob" {
			return fmt.Errorf("%s: %w", show(paths[0].Path), &git.MissingObject{ID: id})
		}
		data, err := io.ReadAll(content)
		if err != nil {
			return err
		}
		for _, e := range paths {
			if err := writeEntry(root, e, data, date); err != nil {
				return err
			}
			a.Files++
		}
		return nil
	})
	if err != nil {
		return err
	}
	for folder := range folders {
		name := filepath.FromSlash(folder)
		if err := root.Chmod(name, 0o755); err != nil {
			return err
		}
		if err := root.Chtimes(name, date, date); err != nil {
			return err
		}
	}
	return root.Chtimes(".", date, date)
}

func writeEntry(root *os.Root, e git.Entry, data []byte, date time.Time) error {
	name := filepath.FromSlash(e.Path)
	if e.Mode == git.ModeSymlink {
		if strings.Contains(string(data), "\x00") || len(data) == 0 {
			return fmt.Errorf("the symbolic link %s has no target that a system takes", show(e.Path))
		}
		return root.Symlink(string(data), name)
	}
	perm := fs.FileMode(0o644)
	if e.Mode == git.ModeExecutable {
		perm = 0o755
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(perm), f.Close())
	if err == nil {
		err = root.Chtimes(name, date, date)
	}
	return err
}
