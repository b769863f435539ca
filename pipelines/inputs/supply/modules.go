// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package supply

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/1bit-MONSTER/engine/internal/filelock"
	"github.com/1bit-MONSTER/engine/internal/linktree"
	"github.com/1bit-MONSTER/engine/internal/rmtree"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/inputs"
	"github.com/1bit-MONSTER/engine/pipelines/toolchain"
)

// modules brings the Go modules of this repository, with checks also those of
// its tools, and returns what identifies them.
func (s *supplier) modules(ctx context.Context) (string, error) {
	folders := []string{"."}
	if s.checks {
		folders = append(folders, filepath.Join("internal", "tools"))
	}
	sum := ""
	for i, folder := range folders {
		goMod, err1 := os.ReadFile(filepath.Join(s.Repo, folder, "go.mod"))
		goSum, err2 := os.ReadFile(filepath.Join(s.Repo, folder, "go.sum"))
		if err := errors.Join(err1, err2); err != nil {
			return "", err
		}
		if i == 0 {
			sum = inputs.ModulesSum(goSum)
		}
		kept, err := s.keptModules(ctx, goMod, goSum)
		if err != nil {
			return "", err
		}
		if err := merge(kept, filepath.Join(s.to, filepath.FromSlash(inputs.Modules))); err != nil {
			return "", err
		}
	}
	return sum, nil
}

// keptModules returns a folder of the cache with the modules of a go.mod, which
// are downloaded when it is not there.
func (s *supplier) keptModules(ctx context.Context, goMod, goSum []byte) (string, error) {
	name := fmt.Sprintf("%x", sha256.Sum256(bytes.Join([][]byte{goMod, goSum}, []byte{0})))[:32]
	dir := filepath.Join(s.Engine.CacheDir, "modules", name)
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return "", store.Explain(err, s.Engine.CacheDir)
	}
	lock, err := filelock.Wait(ctx, dir+".lock", nil)
	if err != nil {
		return "", err
	}
	defer lock.Unlock()
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if s.Engine.Offline {
		return "", verdict.Infraf("the Go modules of this repository are not here and --offline forbids to ask for them: run the same once without --offline")
	}
	part := dir + ".part"
	if err := rmtree.All(part); err != nil {
		return "", err
	}
	download := s.Modules
	if download == nil {
		download = func(ctx context.Context, what string, goMod, goSum []byte, dir string) error {
			return toolchain.DownloadModules(ctx, what, goMod, goSum, dir, s.Engine.Progress)
		}
	}
	if err := download(ctx, "this repository", goMod, goSum, part); err != nil {
		rmtree.All(part)
		return "", store.Explain(err, s.Engine.CacheDir)
	}
	return dir, os.Rename(part, dir)
}

// merge links the files of a folder into another that may have some of them.
func merge(from, to string) error {
	return filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if d.IsDir() {
			return os.MkdirAll(target, 0o777)
		}
		if _, err := os.Lstat(target); err == nil {
			return nil // a module's file is the same wherever it came from
		}
		return linktree.Copy(name, target, linktree.Options{})
	})
}
