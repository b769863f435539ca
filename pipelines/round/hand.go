// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package round

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/1bit-MONSTER/engine/internal/filelock"
	"github.com/1bit-MONSTER/engine/internal/rmtree"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/patches"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/build"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
)

// HandOptions say what a group's folder is made from.
type HandOptions struct {
	Base     *pins.Set           // as on main
	Stacks   *patches.Repository // of main; nil: there are no patches
	Receipts []fetch.Archived
	Recipes  []*build.Recipe // each after those that it needs; nil: build.Recipes()
	// Modules downloads the Go modules of this repository into the new folder
	// dir, as toolchain.DownloadModules does; it is asked when a recipe that is
	// built from the work tree is fed. Nil: those of Stacks.Root.
	Modules func(ctx context.Context, dir string) error
}

// A Handed is what a folder holds.
type Handed struct {
	Recipes []string // those that the group feeds
	Entries int      // of the store
	Bytes   int64    // of all their files
	Left    []string // what could not be handed on and stops nothing: a sentence each
}

// Hand writes the folder of a round whose content was fetched: the round, the
// receipts, the repositories that say something about its pins, and of the store
// what the recipes that it feeds are built from. What is on the same disk is
// linked, not copied. What is not here is fetched; nothing of it is run.
//
// The folder appears when it is whole, and replaces an older one. After a killed
// Hand the next one begins anew.
func (f Folder) Hand(ctx context.Context, r *Round, e *fetch.Engine, o HandOptions) (*Handed, error) {
	if err := r.complete(); err != nil {
		return nil, err
	}
	if err := r.fits(o.Base); err != nil {
		return nil, err
	}
	if o.Recipes == nil {
		o.Recipes = build.Recipes()
	}
	dir, err := filepath.Abs(string(f))
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return nil, err
	}
	lock, err := filelock.Wait(ctx, dir+".lock", nil)
	if err != nil {
		return nil, err
	}
	defer lock.Unlock()
	part := Folder(dir + ".part")
	if err := remove(string(part), dir+".old"); err != nil {
		return nil, err
	}
	h := &handing{folder: part, round: r, engine: e, options: o, next: r.Next(o.Base), keys: map[store.Key]bool{}}
	if err := h.fill(ctx); err != nil {
		remove(string(part))
		return nil, store.Explain(err, filepath.Dir(dir))
	}
	if err := os.Rename(dir, dir+".old"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := os.Rename(string(part), dir); err != nil {
		return nil, err
	}
	return &h.handed, remove(dir + ".old")
}

func remove(dirs ...string) error {
	for _, d := range dirs {
		if err := rmtree.All(d); err != nil {
			return err
		}
	}
	return nil
}

// handing is one Hand at work.
type handing struct {
	folder  Folder
	round   *Round
	engine  *fetch.Engine
	options HandOptions
	next    *pins.Set
	pins    []*pins.Pin        // whose repositories go with them
	keys    map[store.Key]bool // of what goes into the folder's store
	order   []store.Key
	handed  Handed
}

func (h *handing) fill(ctx context.Context) error {
	for _, d := range []string{h.folder.Cache(), h.folder.Logs()} {
		if err := os.MkdirAll(d, 0o777); err != nil {
			return err
		}
	}
	if err := h.members(ctx); err != nil {
		return err
	}
	if err := h.recipes(ctx); err != nil {
		return err
	}
	if err := h.export(ctx); err != nil {
		return err
	}
	if err := h.engine.CopyRepositories(ctx, h.pins, h.folder.Cache()); err != nil {
		return err
	}
	receipts := h.options.Receipts
	if receipts == nil {
		receipts = []fetch.Archived{}
	}
	if err := WriteJSON(h.folder.Receipts(), receipts); err != nil {
		return err
	}
	return Write(h.folder.Round(), h.round)
}

// export brings the entries into the folder's store.
func (h *handing) export(ctx context.Context) error {
	to, err := store.Open(h.folder.Store())
	if err != nil {
		return err
	}
	// Where a cache has its store, for what opens it by the cache.
	if err := os.Symlink(filepath.Join("..", "store"), filepath.Join(h.folder.Cache(), "store")); err != nil {
		return err
	}
	for _, key := range h.order {
		entry, err := to.Import(ctx, h.engine.Store, key)
		if err != nil {
			return fmt.Errorf("hand on: %w", err)
		}
		h.handed.Entries++
		h.handed.Bytes += entry.Size
	}
	return nil
}

func (h *handing) add(entries ...*store.Entry) {
	for _, x := range entries {
		h.addKey(x.Key)
	}
}

func (h *handing) addKey(key store.Key) {
	if !h.keys[key] {
		h.keys[key] = true
		h.order = append(h.order, key)
	}
}

// left notes what is missing in the folder: whoever needs it will say so.
func (h *handing) left(format string, args ...any) {
	h.handed.Left = append(h.handed.Left, fmt.Sprintf(format, args...))
}
