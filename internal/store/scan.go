// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/1bit-MONSTER/engine/internal/filesum"
	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/treesum"
)

// A File is one file of an entry. Mode is git's: 100644, 100755 or 120000. The
// stat of a file that nobody touched since is as it was when it was summed.
type File struct {
	Path   string `json:"path"` // with slashes; empty where the entry is one file
	Mode   string `json:"mode"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
	MTime  int64  `json:"mtime"` // ns since 1970
	Inode  uint64 `json:"inode,omitempty"`
}

// scan lists the files below path, or path itself, in the order of their
// paths, and returns the t1: sum of the folder, or the sha256: of the file.
func scan(path string) ([]File, string, error) {
	st, err := os.Lstat(path)
	if err != nil {
		return nil, "", err
	}
	if !st.IsDir() {
		f := stat(st, "")
		if f.SHA256, err = hashFile(path, f.Mode); err != nil {
			return nil, "", err
		}
		return []File{f}, "sha256:" + f.SHA256, nil
	}
	files, err := list(path)
	if err != nil {
		return nil, "", err
	}
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range files {
		f := &files[i]
		g.Go(func() (err error) {
			f.SHA256, err = hashFile(filepath.Join(path, filepath.FromSlash(f.Path)), f.Mode)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, "", err
	}
	sum, err := sumOf(files)
	return files, sum, err
}

// list walks the folder without reading the files.
func list(root string) ([]File, error) {
	var files []File
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		st, err := d.Info()
		if err != nil {
			return err
		}
		if !st.Mode().IsRegular() && st.Mode()&fs.ModeSymlink == 0 {
			return fmt.Errorf("%s is neither a file nor a symlink", name)
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		files = append(files, stat(st, filepath.ToSlash(rel)))
		return nil
	})
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files, err
}

func stat(st fs.FileInfo, path string) File {
	f := File{Path: path, Mode: "100644", Size: st.Size(), MTime: st.ModTime().UnixNano(), Inode: inode(st)}
	switch {
	case st.Mode()&fs.ModeSymlink != 0:
		f.Mode = "120000"
	case st.Mode()&0o111 != 0:
		f.Mode = "100755"
	}
	return f
}

// hashFile returns the sha256 in hex of a file's content or a symlink's target.
func hashFile(path, mode string) (string, error) {
	if mode != "120000" {
		return filesum.SHA256(path)
	}
	target, err := os.Readlink(path)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(target))
	return hex.EncodeToString(sum[:]), nil
}

// sumOf returns the t1: sum of files.
func sumOf(files []File) (string, error) {
	digests := make([]treesum.Digest, len(files))
	for i, f := range files {
		mode, err := git.ParseMode(f.Mode)
		if err != nil {
			return "", err
		}
		sum, err := hex.DecodeString(f.SHA256)
		if err != nil || len(sum) != sha256.Size {
			return "", fmt.Errorf("%q is no sha256", f.SHA256)
		}
		digests[i] = treesum.Digest{Mode: mode, Path: f.Path, SHA256: [sha256.Size]byte(sum)}
	}
	return treesum.FromDigests(digests)
}

// seal makes everything below path read-only: 0444 or 0555.
func seal(path string) error {
	return filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.Type()&fs.ModeSymlink != 0 {
			return err
		}
		st, err := d.Info()
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o444)
		if d.IsDir() || st.Mode()&0o111 != 0 {
			mode = 0o555
		}
		if st.Mode().Perm() == mode {
			return nil // linked from another store, which is not to be touched
		}
		return os.Chmod(name, mode)
	})
}
