// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package toolchain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/unpack"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// unpackArchives puts the archives of a lock (tar in any compression, zip) into
// one folder. The single folder that an archive holds everything in is stripped;
// of Rust's installers, which name their components in a file, those are laid
// over each other as their install script does. No two may have the same file.
func unpackArchives(ctx context.Context, pin *pins.Pin, entries []*store.Entry, dir string) error {
	work := filepath.Join(filepath.Dir(dir), "archives")
	whole := filepath.Join(work, "whole")
	if err := os.MkdirAll(whole, 0o755); err != nil {
		return err
	}
	defer os.RemoveAll(work)
	when := timeOfAll(pin.Lock)
	for i, e := range entries {
		name := fmt.Sprint(i)
		if i < len(pin.Lock.Files) {
			name = pin.Lock.Files[i].Name
		}
		one := filepath.Join(work, fmt.Sprint(i))
		if err := unpackArchive(ctx, e.Path, one, when); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		roots, err := rootsOf(one)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, root := range roots {
			if err := merge(root, whole); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	if err := setTimes(whole, when); err != nil {
		return err
	}
	return os.Rename(whole, dir)
}

func unpackArchive(ctx context.Context, file, dir string, when time.Time) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	opts := []unpack.Option{unpack.SetidBits(unpack.ClearSetid), unpack.ModTime(when), unpack.AllowGit()}
	head := make([]byte, 4)
	if _, err := io.ReadFull(f, head); err != nil {
		return &unpack.Broken{Err: err}
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if bytes.Equal(head, []byte("PK\x03\x04")) { // wheels too
		st, err := f.Stat()
		if err != nil {
			return err
		}
		return unpack.Zip(ctx, f, st.Size(), dir, opts...)
	}
	return unpack.Tar(ctx, f, dir, opts...)
}

// rootsOf returns the folders of an unpacked archive that hold what is wanted.
func rootsOf(dir string) ([]string, error) {
	all, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	if len(all) != 1 || !all[0].IsDir() {
		return []string{dir}, nil
	}
	top := filepath.Join(dir, all[0].Name())
	list, err := os.ReadFile(filepath.Join(top, "components"))
	if err != nil {
		return []string{top}, nil
	}
	if _, err := os.Stat(filepath.Join(top, "rust-installer-version")); err != nil {
		return []string{top}, nil
	}
	var roots []string
	for _, name := range strings.Fields(string(list)) {
		if name != filepath.Base(name) || name == ".." || name == "." {
			return nil, verdict.Failf("its list of components names %q", name)
		}
		root := filepath.Join(top, name)
		if err := os.Remove(filepath.Join(root, "manifest.in")); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		roots = append(roots, root)
	}
	return roots, nil
}

// merge moves what from has into to. Both are unpacked and checked, so links
// are moved, never followed.
func merge(from, to string) error {
	all, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, x := range all {
		source, target := filepath.Join(from, x.Name()), filepath.Join(to, x.Name())
		st, err := os.Lstat(target)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			err = os.Rename(source, target)
		case err == nil && st.IsDir() && x.IsDir():
			err = merge(source, target)
		case err == nil:
			err = verdict.Failf("%s is in an archive before it too", x.Name())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// setTimes gives the folders their time back, which moving changed.
func setTimes(dir string, when time.Time) error {
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		return os.Chtimes(name, when, when)
	})
}
