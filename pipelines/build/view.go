// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/rmtree"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// view shows a component as a folder: hard links to the store's read-only
// files, or copies where the disk is another. A folder that shows it already
// stays as it is; another one is replaced as a whole. What is there and is no
// view of ours is left alone.
func view(e *store.Entry, files []store.File, dir string) error {
	if shows(e, files, dir) {
		return nil
	}
	if err := ours(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return explainOut(err, filepath.Dir(dir))
	}
	aside := filepath.Join(filepath.Dir(dir), "."+filepath.Base(dir)+".view")
	if err := rmtree.All(aside); err != nil {
		return explainOut(err, filepath.Dir(dir))
	}
	if err := link(e, files, aside); err != nil {
		rmtree.All(aside)
		return explainOut(err, filepath.Dir(dir))
	}
	if err := rmtree.All(dir); err != nil {
		return explainOut(err, filepath.Dir(dir))
	}
	return explainOut(os.Rename(aside, dir), filepath.Dir(dir))
}

// mark is the file that tells a view of ours from a folder of the user's; its
// content is the key.
const mark = ".1bit-component"

// ours refuses a folder that we did not make.
func ours(dir string) error {
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return explainOut(err, dir)
	}
	if _, err := os.Stat(filepath.Join(dir, mark)); err != nil {
		return verdict.Usagef("%s is there and was not made by dist build: remove it, or name another folder with --out", dir)
	}
	return nil
}

// shows reports whether the folder is a view of the entry, by the stat of its
// files.
func shows(e *store.Entry, files []store.File, dir string) bool {
	key, err := os.ReadFile(filepath.Join(dir, mark))
	if err != nil || strings.TrimSpace(string(key)) != string(e.Key) {
		return false
	}
	for _, f := range files {
		st, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(f.Path)))
		if err != nil || st.Size() != f.Size || st.ModTime().UnixNano() != f.MTime {
			return false
		}
	}
	n := 0
	filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return err
	})
	return n == len(files)+1
}

func link(e *store.Entry, files []store.File, dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, f := range files {
		from, to := filepath.Join(e.Path, filepath.FromSlash(f.Path)), filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return err
		}
		if err := os.Link(from, to); err == nil {
			continue
		}
		if err := duplicate(from, to); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, mark), []byte(string(e.Key)+"\n"), 0o444)
}

// duplicate copies a file or symlink with its mode and time.
func duplicate(from, to string) error {
	st, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if st.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	}
	r, err := os.Open(from)
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, st.Mode().Perm()|0o200)
	if err != nil {
		return err
	}
	if _, err := io.Copy(w, r); err != nil {
		w.Close()
		return err
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("copy %s: %w", from, err)
	}
	if err := os.Chmod(to, st.Mode().Perm()); err != nil {
		return err
	}
	return os.Chtimes(to, st.ModTime(), st.ModTime())
}
