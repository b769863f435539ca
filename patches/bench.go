// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"context"
	"os"
	"path/filepath"

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
		err = repo.Borrow(ctx, sources...)
	}
	if err != nil {
		done()
		return nil, nil, explainDisk(err, os.TempDir())
	}
	return repo, done, nil
}
