// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// Explain turns the errors that a full or read-only disk gives into a sentence
// that says what to do; others it returns as they are.
func Explain(err error, dir string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return verdict.Infraf("the disk of %s is full (%w): free room there, for example with 'dist store gc', or name another cache with DIST_CACHE", dir, err)
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return verdict.Infraf("%s cannot be written (%w): name a cache that can with DIST_CACHE", dir, err)
	case errors.Is(err, syscall.ENOTDIR):
		return verdict.Infraf("%s is not a folder (%w): name another cache with DIST_CACHE", dir, err)
	}
	return err
}
