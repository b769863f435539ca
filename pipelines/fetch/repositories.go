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
	"slices"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/filelock"
	"github.com/1bit-MONSTER/engine/internal/linktree"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/pins"
)

// CopyRepositories makes another cache, for an engine that is offline, with the
// repositories of these pins: of their upstreams and the submodules in their
// locks, of what they are read from, and of the histories by which directions
// are judged. They are as they are here, with what was left out of them, and
// share their objects with ours by hard links where the disk is the same. What
// is not here is left out.
func (e *Engine) CopyRepositories(ctx context.Context, list []*pins.Pin, cacheDir string) error {
	var names []string
	for _, p := range list {
		for _, name := range e.repositories(p) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	for _, name := range names {
		if err := e.copyRepository(ctx, name, filepath.Join(cacheDir, "git", name)); err != nil {
			return fmt.Errorf("copy the repository %s: %w", name, store.Explain(err, cacheDir))
		}
	}
	return nil
}

// repositories names those of the cache that say something about a pin.
func (e *Engine) repositories(p *pins.Pin) []string {
	var names []string
	add := func(name string) { names = append(names, name, strings.TrimSuffix(name, ".git")+historySuffix) }
	if commits(p) {
		add(p.Name + ".git")
	}
	if p.Lock != nil {
		for _, s := range p.Lock.Submodules {
			names = append(names, e.repoName(s.URL))
		}
	}
	if of := p.Track.OfPin(); of != "" {
		add(of + ".git")
	} else if p.Track.Of != "" {
		add(e.repoName(p.Track.Of))
		add(byURL(p.Track.Of))
	}
	return names
}

// copyRepository copies one repository of the cache if it is there, while
// nobody else changes it.
func (e *Engine) copyRepository(ctx context.Context, name, to string) error {
	from := filepath.Join(e.CacheDir, "git", name)
	if _, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	lock, err := filelock.Wait(ctx, from+".lock", nil)
	if err != nil {
		return err
	}
	defer lock.Unlock()
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	e.Progress.Step("hand on the repository %s", name)
	return linktree.Copy(from, to, linktree.Options{
		// Objects never change; refs and settings do.
		NoLink: func(path string) bool { return !strings.HasPrefix(path, "objects"+string(filepath.Separator)) },
		Skip: func(path string) bool {
			base := filepath.Base(path)
			return path == "hooks" || path == "logs" || strings.HasSuffix(base, ".lock") || strings.HasPrefix(base, "tmp_")
		},
	})
}
