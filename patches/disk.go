// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// explainDisk makes a sentence of what a full or read-only disk gives: that is
// the machine's failure, not the patches'. git says it in words only. Other
// errors stay as they are.
func explainDisk(err error, dir string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), strings.Contains(err.Error(), "No space left on device"):
		return verdict.Infraf("the disk of %s is full (%w): free room there and do it again; nothing was changed", dir, err)
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return verdict.Infraf("%s cannot be written (%w); nothing was changed", dir, err)
	}
	return err
}
