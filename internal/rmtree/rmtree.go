// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package rmtree removes folders whose own folders may be read-only, as those of
// the store's entries are, and what builds and archives leave.
package rmtree

import (
	"io/fs"
	"os"
	"path/filepath"
)

// All removes path and all that is below it. That it is absent is no error.
func All(path string) error {
	if os.RemoveAll(path) == nil {
		return nil
	}
	filepath.WalkDir(path, func(name string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			os.Chmod(name, 0o700)
		}
		return nil
	})
	return os.RemoveAll(path)
}
