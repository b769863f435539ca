// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/1bit-MONSTER/engine/internal/filelock"
	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// damagedSuffix is behind the name of a repository that was moved aside. One
// is kept: it may be all that is left of a commit that the upstream lost.
const damagedSuffix = ".damaged"

// mostMends bounds how many repositories one work makes again.
const mostMends = 20

// mending does the work, and does it again when a repository of the cache turns
// out to be damaged: that one is moved aside, so that it is made anew. Offline
// nothing is moved, since nothing could be made.
func (e *Engine) mending(ctx context.Context, work func() error) error {
	for range mostMends {
		began := time.Now()
		err := work()
		var damaged *git.Damaged
		if !errors.As(err, &damaged) || !e.ours(damaged.Dir) || ctx.Err() != nil {
			return e.explainDisk(err)
		}
		if e.Offline {
			return verdict.Infraf("the repository %s in the cache is damaged and --offline forbids to make it again: run the same once without --offline", damaged.Dir)
		}
		if err := e.moveAside(ctx, damaged.Dir, began); err != nil {
			return errors.Join(damaged, store.Explain(err, e.CacheDir))
		}
	}
	return e.explainDisk(work())
}

// explainDisk says where the disk is full on which git wrote.
func (e *Engine) explainDisk(err error) error {
	var full *git.DiskFull
	if !errors.As(err, &full) {
		return err
	}
	return verdict.Infraf("the disk of %s is full (%w): free room there, for example with 'dist store gc', or name another cache with DIST_CACHE", e.CacheDir, syscall.ENOSPC)
}

// ours says whether a repository is one of the cache: nobody else's is touched.
func (e *Engine) ours(dir string) bool {
	rel, err := filepath.Rel(filepath.Join(e.CacheDir, "git"), dir)
	return err == nil && filepath.IsLocal(rel) && strings.HasSuffix(rel, ".git")
}

// moveAside takes a repository away, unless it is younger than our work: then
// somebody else did so.
func (e *Engine) moveAside(ctx context.Context, dir string, since time.Time) error {
	lock, err := filelock.Wait(ctx, dir+".lock", nil)
	if err != nil {
		return err
	}
	defer lock.Unlock()
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if st, err := os.Stat(filepath.Join(dir, "HEAD")); err == nil && st.ModTime().After(since) {
		return nil // another process made it again
	}
	aside := dir + damagedSuffix
	if err := os.RemoveAll(aside); err != nil {
		return err
	}
	e.Progress.Step("the repository %s is damaged: it is kept as %s and made again", dir, filepath.Base(aside))
	if err := os.Rename(dir, aside); err != nil {
		return fmt.Errorf("move it aside: %w", err)
	}
	return nil
}
