// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package build makes components from pinned inputs: the sources that went in
// are summed, copied and built from the copy, with an environment that is
// stated in full.
package build

import (
	"os"
	"path/filepath"

	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// A Cache is the folder of everything that can be made again: the store, the
// module and build caches of the pinned Go, and notes of what was built.
type Cache struct{ Dir string }

// DefaultCache returns the cache that DIST_CACHE names, else the user's cache
// folder's 1bit-dist.
func DefaultCache() (Cache, error) {
	if dir := os.Getenv("DIST_CACHE"); dir != "" {
		if !filepath.IsAbs(dir) {
			return Cache{}, verdict.Usagef("DIST_CACHE=%s is not an absolute path", dir)
		}
		return Cache{dir}, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return Cache{}, verdict.Usagef("there is no cache folder (%s): name one with DIST_CACHE", err)
	}
	return Cache{filepath.Join(dir, "1bit-dist")}, nil
}

// Store opens the cache's store.
func (c Cache) Store() (*store.Store, error) { return store.Open(c.path("store")) }

func (c Cache) path(elem ...string) string {
	return filepath.Join(append([]string{c.Dir}, elem...)...)
}

// mkdir makes a folder of the cache.
func (c Cache) mkdir(elem ...string) (string, error) {
	dir := c.path(elem...)
	return dir, store.Explain(os.MkdirAll(dir, 0o777), c.Dir)
}
