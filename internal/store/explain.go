// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// Explain turns the errors that a full or read-only disk gives into a sentence
// that says what to do; others, and those that have one, it returns as they are.
func Explain(err error, dir string) error {
	var said *verdict.Problem
	switch {
	case err == nil:
		return nil
	case errors.As(err, &said) && said.Verdict() == verdict.Infra:
		return err // somebody nearer to it has a sentence
	case elsewhere(err, dir):
		return err // what is copied from here to there may fail there
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return verdict.Infraf("the disk of %s is full (%w): free room there, for example with 'dist store gc', or name another cache with DIST_CACHE", dir, err)
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return verdict.Infraf("%s cannot be written (%w): name a cache that can with DIST_CACHE", dir, err)
	case errors.Is(err, syscall.ENOTDIR):
		return verdict.Infraf("%s is not a folder (%w): name another cache with DIST_CACHE", dir, err)
	}
	return err
}

// elsewhere says whether an error is about a file that is not below dir.
func elsewhere(err error, dir string) bool {
	var at *fs.PathError
	if !errors.As(err, &at) || !filepath.IsAbs(at.Path) || !filepath.IsAbs(dir) {
		return false
	}
	rel, err := filepath.Rel(dir, at.Path)
	return err == nil && !filepath.IsLocal(rel)
}

// explainMkdir is Explain for a folder that cannot be made, for whatever
// reason: a link to nowhere, a name too long, a file system that has no folders.
func explainMkdir(err error, dir string) error {
	if explained := Explain(err, dir); explained != err {
		return explained
	}
	return verdict.Infraf("%s cannot be made (%w): name another cache with DIST_CACHE", dir, err)
}

// explain is Explain for this store, which may also have been removed while we
// used it.
func (s *Store) explain(err error) error {
	if errors.Is(err, fs.ErrNotExist) && verdict.Of(err) == verdict.Fail {
		for _, sub := range subs {
			if _, missing := os.Stat(filepath.Join(s.dir, sub)); missing != nil {
				return Removed(s.dir, err)
			}
		}
	}
	return Explain(err, s.dir)
}

// Removed is the error of a work whose cache somebody removed under it; err is
// what came of that.
func Removed(dir string, err error) error {
	return verdict.Infraf("%s was removed, wholly or in part, while it was in use (%w): run the same again", dir, err)
}
