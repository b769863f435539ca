// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package atomicfile replaces files as a whole: a reader sees the old content
// or the new one, and a killed writer leaves the old one.
package atomicfile

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Write replaces the file at path with data.
func Write(path string, data []byte, perm fs.FileMode) error {
	return Create(path, perm, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// Create replaces the file at path with what fill writes. When fill or any
// step fails, the old file stays and no other file is left.
func Create(path string, perm fs.FileMode, fill func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err = fill(f); err != nil {
		return err
	}
	if err = f.Chmod(perm); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
