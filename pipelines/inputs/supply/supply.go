// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package supply makes folders of inputs (package inputs): it fetches what the
// locks name, verifies it, and leaves it in a folder that has nothing else. It is
// for 'dist fetch --for'. Nothing of what it fetches is run.
package supply

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/1bit-MONSTER/engine/internal/filelock"
	"github.com/1bit-MONSTER/engine/internal/rmtree"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/patches"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/build"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
	"github.com/1bit-MONSTER/engine/pipelines/inputs"
	"github.com/1bit-MONSTER/engine/pipelines/toolchain"
)

// The pins that inputs are made of beside those of recipes: the Go toolchain, and
// the root file system in which git, bash and tests run.
const (
	goPin   = "go"
	rootPin = "debian-bookworm-build"
)

// Options say from what a folder is made.
type Options struct {
	Repo    string // the work tree
	Engine  *fetch.Engine
	Stacks  *patches.Repository
	Recipes []*build.Recipe // each after those that it needs; nil: build.Recipes()
	// Modules downloads the modules of a go.mod and go.sum into a folder, as
	// toolchain.DownloadModules does, which it is when nil.
	Modules func(ctx context.Context, what string, goMod, goSum []byte, dir string) error
}

// A Supplied folder.
type Supplied struct {
	To      string   `json:"to"`
	For     []string `json:"for"`
	Entries int      `json:"entries"` // of the store
	Bytes   int64    `json:"bytes"`   // of these
}

// Write makes the folder for components, by name, and inputs.Checks. What is on
// the cache's disk is linked, not copied. The folder appears when it is whole and
// replaces an older one; one that was not made by Write is left alone.
func Write(ctx context.Context, o Options, names []string, to string) (*Supplied, error) {
	to, err := filepath.Abs(to)
	if err != nil {
		return nil, err
	}
	s := &supplier{Options: o, to: to + ".part", keys: map[store.Key]bool{}}
	if err := s.choose(names); err != nil {
		return nil, err
	}
	if err := ours(to); err != nil {
		return nil, err
	}
	lock, err := filelock.Wait(ctx, to+".lock", nil)
	if err != nil {
		return nil, beside(ctx, err, to)
	}
	defer lock.Unlock()
	if err := errors.Join(rmtree.All(s.to), rmtree.All(to+".old")); err != nil {
		return nil, explain(err, to)
	}
	if err := s.fill(ctx); err != nil {
		rmtree.All(s.to)
		return nil, explain(err, to)
	}
	if err := os.Rename(to, to+".old"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, explain(err, to)
	}
	if err := os.Rename(s.to, to); err != nil {
		return nil, explain(err, to)
	}
	s.done.To = to
	return &s.done, rmtree.All(to + ".old")
}

// beside says why nothing can be put beside the folder, where it is made.
func beside(ctx context.Context, err error, to string) error {
	if ctx.Err() == nil && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)) {
		return verdict.Usagef("%s cannot be made (%v): make the folder around it, or name another with --to", to, err)
	}
	return explain(err, to)
}

// explain tells what the user can do about a folder that cannot be written: it
// is --to that names it, not DIST_CACHE.
func explain(err error, to string) error {
	var said *verdict.Problem
	var at *fs.PathError
	parent := filepath.Dir(to)
	switch here := errors.As(err, &at) && strings.HasPrefix(at.Path, to); {
	case here:
		err = at // what the store in the folder says of it speaks of DIST_CACHE
	case at != nil && filepath.IsAbs(at.Path), errors.As(err, &said):
		return err
	}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return verdict.Infraf("the disk of %s is full (%w): free room there, or name a folder on another disk with --to", parent, err)
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return verdict.Infraf("%s cannot be written (%w): name a folder elsewhere with --to", parent, err)
	}
	return err
}

// ours refuses a folder that Write did not make.
func ours(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return verdict.Usagef("%s is no folder: name another with --to", dir)
	}
	if _, err := os.Stat(filepath.Join(dir, inputs.File)); err != nil {
		return verdict.Usagef("%s has no %s, so it was not made by 'dist fetch --for': remove it, or name another folder with --to", dir, inputs.File)
	}
	return nil
}

// supplier is one Write at work.
type supplier struct {
	Options
	to      string
	recipes []*build.Recipe
	root    bool // the root file system is wanted
	checks  bool
	pins    []*pins.Pin // whose repositories go with them
	keys    map[store.Key]bool
	order   []store.Key
	done    Supplied
}

// choose finds the recipes, those that they need included.
func (s *supplier) choose(names []string) error {
	if s.Recipes == nil {
		s.Recipes = build.Recipes()
	}
	if len(names) == 0 {
		return verdict.Usagef("name a component, or %s, with --for", inputs.Checks)
	}
	wanted := map[string]bool{}
	for _, name := range names {
		known := slices.ContainsFunc(s.Recipes, func(r *build.Recipe) bool { return r.Name == name })
		if !known && name != inputs.Checks {
			return verdict.Usagef("--for %s: there is no such component; 'dist build --list' names them, and there is %s", name, inputs.Checks)
		}
		wanted[name] = true
	}
	s.checks = wanted[inputs.Checks]
	s.root = s.checks
	for _, r := range slices.Backward(s.Recipes) {
		if !wanted[r.Name] {
			continue
		}
		if r.Unavailable != "" {
			return verdict.Infraf("recipe %s cannot be built yet: %s", r.Name, r.Unavailable)
		}
		s.recipes = append(s.recipes, r)
		s.root = s.root || r.WorkTree == "" // its sources are read with git
		for _, need := range r.Needs {
			wanted[need] = true
		}
	}
	for name := range wanted {
		s.done.For = append(s.done.For, name)
	}
	slices.Sort(s.done.For)
	return nil
}

func (s *supplier) fill(ctx context.Context) error {
	m := inputs.Manifest{For: s.done.For}
	var err error
	if m.Go, err = s.toolchain(ctx, goPin); err != nil {
		return err
	}
	p, err := s.Engine.Set.Named(goPin)
	if err != nil {
		return err
	}
	m.GoSum = p.Lock.Sum
	if s.root {
		if m.Root, err = s.toolchain(ctx, rootPin); err != nil {
			return err
		}
	}
	for _, r := range s.recipes {
		if err := s.recipe(ctx, r); err != nil {
			return fmt.Errorf("recipe %s: %w", r.Name, err)
		}
	}
	if err := s.export(ctx); err != nil {
		return err
	}
	if err := s.Engine.CopyRepositories(ctx, s.pins, s.to); err != nil {
		return err
	}
	if m.Modules, err = s.modules(ctx); err != nil {
		return err
	}
	data, err := m.Encode()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.to, inputs.File), data, 0o644)
}

// toolchain brings a toolchain and returns where the folder will have it.
func (s *supplier) toolchain(ctx context.Context, name string) (string, error) {
	p, err := build.Verified(s.Engine.Set, name)
	if err != nil {
		return "", err
	}
	sum, err := toolchain.Sum(p)
	if err != nil {
		return "", err
	}
	key, err := s.addSum(sum)
	if err != nil {
		return "", err
	}
	// A Go toolchain comes from a go client, which knows nothing of --offline.
	if s.Engine.Offline && !s.Engine.Store.Intact(key) {
		return "", verdict.Infraf("the toolchain %s is not here, or damaged, and --offline forbids to ask for it: run the same once without --offline", name)
	}
	if _, err := toolchain.Fetch(ctx, s.Engine.Store, s.Engine, p, s.Engine.Progress); err != nil {
		return "", err
	}
	return path.Join("store", "entries", string(key), "content"), nil
}

// recipe brings sources, inputs and toolchain of one recipe.
func (s *supplier) recipe(ctx context.Context, r *build.Recipe) error {
	if _, err := s.toolchain(ctx, r.Toolchain); err != nil {
		return err
	}
	locked := &build.Locked{Engine: s.Engine, Stacks: s.Stacks, Progress: s.Engine.Progress}
	for _, name := range r.Pins {
		p, err := build.Verified(s.Engine.Set, name)
		if err != nil {
			return err
		}
		if _, err := locked.Source(ctx, name); err != nil {
			return err
		}
		content, err := s.Engine.Content(ctx, p)
		if err != nil {
			return err
		}
		given, err := s.Engine.FetchInputs(ctx, p)
		if err != nil {
			return err
		}
		for _, e := range append(content, given...) {
			s.add(e.Key)
		}
		if p.Lock.Patched != nil {
			if _, err := s.addSum(p.Lock.Patched.Sum); err != nil {
				return err
			}
		}
		s.pins = append(s.pins, p)
	}
	return nil
}

func (s *supplier) addSum(sum string) (store.Key, error) {
	key, err := store.KeyOf(sum)
	if err == nil {
		s.add(key)
	}
	return key, err
}

func (s *supplier) add(key store.Key) {
	if !s.keys[key] {
		s.keys[key] = true
		s.order = append(s.order, key)
	}
}

// export brings the entries into the folder's store, summing each.
func (s *supplier) export(ctx context.Context) error {
	to, err := store.Open(filepath.Join(s.to, "store"))
	if err != nil {
		return err
	}
	for _, key := range s.order {
		entry, err := to.Import(ctx, s.Engine.Store, key)
		if err != nil {
			return err
		}
		s.done.Entries++
		s.done.Bytes += entry.Size
	}
	return nil
}
