// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/httpget"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/treesum"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// LockInputs brings what the pin's build would download into the store, and
// returns the inputs of its lock with their sums, and the entries of all that
// are not unused. The pin's own source must be locked and verified. A sum that
// an input has already must still be right. It touches the network.
func (e *Engine) LockInputs(ctx context.Context, p *pins.Pin) ([]pins.Input, []*store.Entry, error) {
	return e.inputs(ctx, p, true)
}

// FetchInputs brings the inputs of the pin's lock into the store, verified, and
// returns their entries in the order of the lock, without the unused ones. It
// touches the network only for what is not there.
func (e *Engine) FetchInputs(ctx context.Context, p *pins.Pin) ([]*store.Entry, error) {
	_, entries, err := e.inputs(ctx, p, false)
	return entries, err
}

func (e *Engine) inputs(ctx context.Context, p *pins.Pin, lock bool) ([]pins.Input, []*store.Entry, error) {
	if p.Lock == nil || len(p.Lock.Inputs) == 0 {
		return nil, nil, nil
	}
	src := &sourceFiles{e: e, pin: p}
	defer src.close()
	inputs := append([]pins.Input(nil), p.Lock.Inputs...)
	found := make([]*store.Entry, len(inputs))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(min(e.jobs(), 4))
	for i := range inputs {
		in := &inputs[i]
		switch in.Kind {
		case pins.InputGoModules, pins.InputCargoVendor, pins.InputNPM:
			if lock {
				in.Sum = "" // of the source as it was
			}
		}
		if !lock && in.Sum == "" && in.SHA256 == "" {
			return nil, nil, fmt.Errorf("input %s: %w", shown(in.Name), verdict.Failf("it has no sum yet: run 'dist pins update %s'", p.Name))
		}
		g.Go(func() (err error) {
			if found[i], err = e.input(gctx, src, in); err != nil {
				return fmt.Errorf("input %s: %w", shown(in.Name), err)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, nil, err
	}
	var entries []*store.Entry
	for _, x := range found {
		if x != nil {
			entries = append(entries, x)
		}
	}
	return inputs, entries, nil
}

// input brings one input into the store and completes its sum.
func (e *Engine) input(ctx context.Context, src *sourceFiles, in *pins.Input) (*store.Entry, error) {
	switch in.Kind {
	case pins.InputUnused:
		return nil, src.unused(ctx, in)
	case pins.InputFile:
		entry, _, err := e.file(ctx, download{name: in.Name, url: in.URL, expect: httpget.Expect{SHA256: in.SHA256, Size: in.Size}})
		if err == nil {
			in.Size = entry.Size
		}
		return entry, err
	case pins.InputGit:
		return e.folder(ctx, in, func(ctx context.Context, _ string) (*store.Entry, error) { return e.gitInput(ctx, in) })
	case pins.InputGoModules:
		return e.folder(ctx, in, func(ctx context.Context, dir string) (*store.Entry, error) {
			return nil, e.goModules(ctx, src, in, dir)
		})
	case pins.InputCargoVendor:
		return e.folder(ctx, in, func(ctx context.Context, dir string) (*store.Entry, error) {
			return nil, e.cargoVendor(ctx, src, in, dir)
		})
	case pins.InputNPM:
		return e.folder(ctx, in, func(ctx context.Context, dir string) (*store.Entry, error) {
			return nil, e.npmCache(ctx, src, in, dir)
		})
	}
	return nil, verdict.Failf("its kind %q is not known", in.Kind)
}

// folder returns the store's entry of an input that is a folder, made by fill
// when it is absent, and completes its sum. fill either fills dir or returns the
// entry that it made itself.
func (e *Engine) folder(ctx context.Context, in *pins.Input, fill func(ctx context.Context, dir string) (*store.Entry, error)) (*store.Entry, error) {
	if in.Sum != "" {
		key, err := store.KeyOf(in.Sum)
		if err != nil {
			return nil, err
		}
		var absent *store.Absent
		if entry, err := e.Store.Get(key); err == nil || !errors.As(err, &absent) {
			return entry, err
		}
	}
	if err := e.online("it"); err != nil {
		return nil, err
	}
	work, done, err := e.Store.Workspace()
	if err != nil {
		return nil, err
	}
	defer done()
	dir := filepath.Join(work, "input")
	entry, err := fill(ctx, dir)
	if err != nil {
		return nil, err
	}
	sum := ""
	if entry != nil {
		sum = entry.Sum
	} else {
		res, err := treesum.FromFolder(dir, treesum.FolderOptions{})
		if err != nil {
			return nil, err
		}
		sum = res.Sum
	}
	if in.Sum != "" && in.Sum != sum {
		return nil, &Differs{What: "content of " + shown(in.Name), Locked: in.Sum, Found: sum}
	}
	if entry == nil {
		key, err := store.KeyOf(sum)
		if err != nil {
			return nil, err
		}
		entry, err = e.Store.Put(ctx, key, store.Maker{Kind: "source", Name: in.Name, Fill: func(_ context.Context, path string) error {
			return os.Rename(dir, path)
		}})
		if err != nil {
			return nil, err
		}
	}
	in.Sum = sum
	return entry, nil
}

// gitInput brings one commit of another repository into the store.
func (e *Engine) gitInput(ctx context.Context, in *pins.Input) (*store.Entry, error) {
	commit, err := git.ParseID(in.Commit)
	if err != nil {
		return nil, err
	}
	// A pin of its own, for the same checks, in the repository of its address.
	p := &pins.Pin{Name: filepath.Join("by-url", strings.TrimSuffix(repoFolder(in.URL), ".git")), Upstream: in.URL}
	s, err := e.source(ctx, p, commit, nil)
	if err != nil {
		return nil, err
	}
	return e.put(ctx, in.Name+" "+commit.Short(), s)
}

// sourceFiles reads files of a pin's own source in the store.
type sourceFiles struct {
	e    *Engine
	pin  *pins.Pin
	once onceRoot
}

// unused holds the file that declares a download against the sum for which the
// download was found to be not needed.
func (s *sourceFiles) unused(ctx context.Context, in *pins.Input) error {
	data, err := s.read(ctx, in.DeclaredIn)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	if got := hex.EncodeToString(sum[:]); got != in.SHA256 {
		return verdict.Failf("the file %s, which declares it, changed (it has the sum %s): see whether it is still unused (%s), then write the new sum", shown(in.DeclaredIn), got, shown(in.Why))
	}
	return nil
}

// maxDeclaring bounds a file that declares downloads, in bytes.
const maxDeclaring = 64 << 20

func (s *sourceFiles) read(ctx context.Context, name string) ([]byte, error) {
	root, err := s.once.open(func() (*os.Root, error) {
		entries, err := s.e.Content(ctx, s.pin)
		if err != nil {
			return nil, err
		}
		if len(entries) != 1 {
			return nil, verdict.Failf("only a source can declare inputs, and this pin is files")
		}
		return os.OpenRoot(entries[0].Path)
	})
	if err != nil {
		return nil, err
	}
	info, err := root.Stat(filepath.FromSlash(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, verdict.Failf("the source has no file %s, which should declare it", shown(name))
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxDeclaring {
		return nil, verdict.Failf("the file %s is no plain file, or larger than %d bytes", shown(name), maxDeclaring)
	}
	return root.ReadFile(filepath.FromSlash(name))
}

func (s *sourceFiles) close() { s.once.close() }
