// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/progress"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/patches"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
	"github.com/1bit-MONSTER/engine/pipelines/toolchain"
)

// Locked provides what the locks name, fetching what the store lacks.
type Locked struct {
	Engine   *fetch.Engine
	Stacks   *patches.Repository
	Progress *progress.Reporter
}

var _ Provider = (*Locked)(nil)

// Source implements Provider. A source whose build files declare a download
// that no input of the lock covers is refused: its build would want the
// network, or go on silently without.
func (l *Locked) Source(ctx context.Context, name string) (string, error) {
	p, err := Verified(l.Engine.Set, name)
	if err != nil {
		return "", err
	}
	if _, err := l.Engine.Content(ctx, p); err != nil {
		return "", err
	}
	_, undeclared, err := l.Engine.Downloads(ctx, p)
	if err != nil {
		return "", err
	}
	if err := undeclared.Err(); err != nil {
		return "", verdict.Failf("pin %s: %w", name, err)
	}
	return l.Tree(ctx, name)
}

// Tree is Source for who only reads it: what the build files would download
// does not matter.
func (l *Locked) Tree(ctx context.Context, name string) (string, error) {
	p, err := Verified(l.Engine.Set, name)
	if err != nil {
		return "", err
	}
	if _, err := l.Engine.Content(ctx, p); err != nil {
		return "", err
	}
	key, err := store.KeyOf(sourceSum(p))
	if err != nil {
		return "", err
	}
	if p.Lock.Patched == nil {
		if err := l.unpatched(p); err != nil {
			return "", err
		}
		e, err := l.Engine.Store.Get(key)
		if err != nil {
			return "", err
		}
		return e.Path, nil
	}
	return l.patched(ctx, p, key)
}

// unpatched refuses a pin whose stack has patches that its lock does not know:
// it would be built without them.
func (l *Locked) unpatched(p *pins.Pin) error {
	if p.Stack == "" || l.Stacks == nil {
		return nil
	}
	if _, err := os.Lstat(filepath.Join(l.Stacks.Root, "patches", p.Stack)); errors.Is(err, fs.ErrNotExist) {
		return nil // it has no patches yet
	}
	stack, err := l.Stacks.Load(p.Stack)
	if err != nil {
		return err
	}
	if len(stack.Patches) > 0 {
		return verdict.Failf("pin %s has patches (patches/%s), but its lock has no tree with them: run 'dist patches lock %s', or rebase them onto the lock", p.Name, p.Stack, p.Stack)
	}
	return nil
}

// patched puts a pin's tree with our patches into the store.
func (l *Locked) patched(ctx context.Context, p *pins.Pin, key store.Key) (string, error) {
	if len(p.Lock.Submodules) > 0 {
		return "", verdict.Failf("pin %s has patches and submodules: a submodule that its build needs must be a pin of its own", p.Name)
	}
	e, err := l.Engine.Store.Put(ctx, key, store.Maker{
		Kind: "source", Name: p.Name + " with patches",
		// The store sums plain files; the lock's sum knows of exclusions too.
		Check: func(path, _ string) error { return fetch.CheckFolder(path, p.Lock.Patched.Sum, nil, p.Lock.Excluded) },
		Fill: func(ctx context.Context, dir string) error {
			l.Progress.Step("%s: applying our patches", p.Name)
			_, err := l.Stacks.Apply(ctx, p.Stack, dir, func(ctx context.Context, pin *pins.Pin, _ string) (*git.Repo, error) {
				return l.Engine.Repository(ctx, pin.Name)
			})
			return err
		},
	})
	if err != nil {
		return "", err
	}
	return e.Path, nil
}

// Input implements Provider.
func (l *Locked) Input(ctx context.Context, pin, name string) (string, error) {
	p, err := Verified(l.Engine.Set, pin)
	if err != nil {
		return "", err
	}
	entries, err := l.Engine.FetchInputs(ctx, p)
	if err != nil {
		return "", err
	}
	i := 0
	for _, in := range p.Lock.Inputs {
		if in.Kind == pins.InputUnused {
			continue
		}
		if in.Name == name && i < len(entries) {
			return entries[i].Path, nil
		}
		i++
	}
	return "", fmt.Errorf("pin %s has no input %s", pin, name)
}

// Toolchain implements Provider.
func (l *Locked) Toolchain(ctx context.Context, name string) (string, error) {
	p, err := Verified(l.Engine.Set, name)
	if err != nil {
		return "", err
	}
	return toolchain.Fetch(ctx, l.Engine.Store, l.Engine, p, l.Progress)
}
