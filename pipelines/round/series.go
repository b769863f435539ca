// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package round

import (
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/treesum"
	"github.com/1bit-MONSTER/engine/patches"
)

// seriesSum sums what of a stack's folder decides how it is rebased: series,
// patches, policy and resolutions. A stack without a folder has no sum.
func seriesSum(root, stack string) (string, error) {
	if stack == "" {
		return "", nil
	}
	dir := filepath.Join(root, patches.Folder, stack)
	var digests []treesum.Digest
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || d.IsDir() || !decides(name):
			return err
		case !d.Type().IsRegular():
			return nil // whoever reads the stack says so
		}
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err == nil {
			digests = append(digests, treesum.Digest{Mode: git.ModeFile, Path: name, SHA256: sha256.Sum256(data)})
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return treesum.FromDigests(digests)
}

func decides(name string) bool {
	if folder := path.Dir(name); folder != "." {
		return folder == patches.ResolutionsFolder
	}
	return name == patches.SeriesFile || name == patches.PolicyFile || strings.HasSuffix(name, patches.Extension)
}
