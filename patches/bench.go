// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/git"
)

const benchName = "dist-patches-*"

// newBench makes a temporary repository that borrows the objects of others.
// What is rebuilt lands here, and the others stay as they were. It must be
// removed by calling done.
func newBench(ctx context.Context, sources ...*git.Repo) (repo *git.Repo, done func(), err error) {
	dir, lock, err := tempFolder(os.TempDir(), benchName)
	if err != nil {
		return nil, nil, explainDisk(err, os.TempDir())
	}
	done = func() { lock.Unlock(); os.RemoveAll(dir) }
	repo, err = git.Init(ctx, filepath.Join(dir, "bench.git"))
	if err == nil {
		err = borrow(ctx, repo.Dir(), sources...)
	}
	if err != nil {
		done()
		return nil, nil, explainDisk(err, os.TempDir())
	}
	return repo, done, nil
}

// borrow lets a git directory read the objects of other repositories, from
// where they are: these must stay.
func borrow(ctx context.Context, gitDir string, sources ...*git.Repo) error {
	var alternates, shallow strings.Builder
	for _, s := range sources {
		out, err := s.Output(ctx, "rev-parse", "--git-path", "objects", "--git-path", "shallow")
		if err != nil {
			return err
		}
		objects, cut, ok := strings.Cut(strings.TrimSuffix(string(out), "\n"), "\n")
		if !ok || strings.Contains(cut, "\n") || !filepath.IsAbs(objects) {
			return fmt.Errorf("the objects of %s cannot be borrowed: its name is %q", s.Dir(), objects)
		}
		alternates.WriteString(objects + "\n")
		text, err := os.ReadFile(cut)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		shallow.Write(text)
	}
	if err := os.MkdirAll(filepath.Join(gitDir, "objects", "info"), 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(gitDir, "objects", "info", "alternates"), []byte(alternates.String()), 0o666); err != nil {
		return err
	}
	if shallow.Len() == 0 {
		return nil
	}
	return os.WriteFile(filepath.Join(gitDir, "shallow"), []byte(shallow.String()), 0o666)
}
