// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package linktree makes a second folder with the same files as another: by
// hard links where both are on one disk, else by copies. It is for folders of
// which nothing is ever changed in place, such as entries of the store and the
// objects of a git repository; a file that is linked is one file under two names.
package linktree

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Options say what is made how. Paths are relative, with the system's
// separators; of the top itself they are ".".
type Options struct {
	Skip   func(path string) bool // these files and folders are left out
	NoLink func(path string) bool // these files are copied in any case
}

// Copy makes to, which must not be there, with the same files, symbolic links,
// modes and times as from, a folder or a file.
func Copy(from, to string, o Options) error {
	c := &copier{from: from, to: to, options: o}
	if err := filepath.WalkDir(from, c.visit); err != nil {
		return err
	}
	// From the inside out: a folder's time is that of its last new entry.
	for _, d := range slices.Backward(c.folders) {
		if err := os.Chmod(d.path, d.mode); err != nil {
			return err
		}
		if err := os.Chtimes(d.path, d.time, d.time); err != nil {
			return err
		}
	}
	return nil
}

type copier struct {
	from, to string
	options  Options
	apart    bool // on another disk: no link can be made
	folders  []folder
}

type folder struct {
	path string
	mode fs.FileMode
	time time.Time
}

func (c *copier) visit(path string, d fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(c.from, path)
	if err != nil {
		return err
	}
	if c.options.Skip != nil && c.options.Skip(rel) {
		if d.IsDir() {
			return filepath.SkipDir
		}
		return nil
	}
	to := filepath.Join(c.to, rel)
	st, err := d.Info()
	if err != nil {
		return err
	}
	switch {
	case st.IsDir():
		c.folders = append(c.folders, folder{to, st.Mode().Perm(), st.ModTime()})
		return os.Mkdir(to, 0o777)
	case st.Mode()&fs.ModeSymlink != 0:
		return copySymlink(path, to, st)
	case !st.Mode().IsRegular():
		return fmt.Errorf("%s is neither a file, a folder nor a symbolic link", path)
	}
	if !c.apart && (c.options.NoLink == nil || !c.options.NoLink(rel)) {
		err := os.Link(path, to)
		if err == nil || errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
			return err
		}
		c.apart = true // or the system allows none; copies are as good
	}
	return copyFile(path, to, st)
}

func copySymlink(from, to string, st fs.FileInfo) error {
	target, err := os.Readlink(from)
	if err == nil {
		err = os.Symlink(target, to)
	}
	if err == nil {
		err = DateLink(to, st.ModTime())
	}
	return err
}

func copyFile(from, to string, st fs.FileInfo) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Chmod(st.Mode().Perm())
	}
	if e := out.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Chtimes(to, st.ModTime(), st.ModTime())
	}
	return err
}
