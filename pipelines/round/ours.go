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

// oursSum sums what of ours decides how a pin moves: its file, and of its stack's
// folder series, patches, policy and resolutions. Whoever mends one of them makes
// another round.
func oursSum(root, pin, stack string) (string, error) {
	data, err := os.ReadFile(filepath.Join(root, "pins", pin+".yaml"))
	if err != nil {
		return "", err
	}
	digests := []treesum.Digest{{Mode: git.ModeFile, Path: "pin", SHA256: sha256.Sum256(data)}}
	if stack == "" {
		return treesum.FromDigests(digests)
	}
	dir := filepath.Join(root, patches.Folder, stack)
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || d.IsDir() || !decides(name):
			return err
		case !d.Type().IsRegular():
			return nil // whoever reads the stack says so
		}
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err == nil {
			digests = append(digests, treesum.Digest{Mode: git.ModeFile, Path: "stack/" + name, SHA256: sha256.Sum256(data)})
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a stack without a folder is none
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
