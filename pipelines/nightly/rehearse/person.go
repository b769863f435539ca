// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package rehearse

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/pins"
)

// What people do in a world between its nights.

// Merge merges a proposal into main as a forge's button does, and removes its
// branch.
func (w *World) Merge(ctx context.Context, branch string) error {
	ref := "refs/heads/" + branch
	theirs, err := w.Main.RevParse(ctx, ref)
	if err != nil {
		return fmt.Errorf("merge %s: %w", branch, err)
	}
	main, err := w.Main.RevParse(ctx, "refs/heads/main")
	if err != nil {
		return err
	}
	m, err := w.Main.MergeTree(ctx, main, theirs)
	if err != nil {
		return err
	}
	if len(m.Conflicts) > 0 {
		return fmt.Errorf("merge %s: it conflicts with main in %s", branch, m.Conflicts[0].Path)
	}
	if err := w.commitTree(ctx, "Merge "+branch, m.Tree, theirs); err != nil {
		return err
	}
	_, err = w.Main.Output(ctx, "update-ref", "-d", ref)
	return err
}

// EditPin changes a pin's file on main.
func (w *World) EditPin(ctx context.Context, name, message string, edit func([]byte) ([]byte, error)) error {
	path := "pins/" + name + ".yaml"
	file, err := w.File(ctx, path)
	if err != nil {
		return err
	}
	if file, err = edit(file); err != nil {
		return err
	}
	_, err = w.Main.Commit(ctx, "main", message, Files{path: string(file)})
	return err
}

// Hold stops a pin from moving, as 'dist pins hold' and a merge of that would.
func (w *World) Hold(ctx context.Context, name, reason string) error {
	return w.EditPin(ctx, name, "Hold "+name, func(file []byte) ([]byte, error) {
		return pins.SetHold(file, pins.Hold{Reason: reason})
	})
}

// Unhold lets a pin move again.
func (w *World) Unhold(ctx context.Context, name string) error {
	return w.EditPin(ctx, name, "Unhold "+name, pins.RemoveHold)
}

// File returns a file of main.
func (w *World) File(ctx context.Context, path string) ([]byte, error) {
	return w.Main.Output(ctx, "cat-file", "blob", "refs/heads/main:"+path)
}

// Clone makes a work tree of main as a job of a forge has it: one branch, one
// commit deep. Its origin is the world's main.
func (w *World) Clone(ctx context.Context, dir string) error {
	// Over the file protocol, since git copies a folder whole whatever depth
	// is asked for.
	c := git.Command("", "-c", "protocol.file.allow=always", "clone", "--quiet", "--template=",
		"--single-branch", "--depth=1", "--branch=main", "--upload-pack=git -c safe.directory=* upload-pack",
		"--end-of-options", "file://"+w.Main.Dir(), dir)
	if _, err := c.Run(ctx); err != nil {
		return fmt.Errorf("clone main: %w", err)
	}
	return nil
}

// Sleep lets time pass.
func (w *World) Sleep(d time.Duration) { w.Now = w.Now.Add(d) }

// NoNetwork takes the world's upstreams out of reach until the function that it
// returns is called. Main and its state stay where they are.
func (w *World) NoNetwork(address string) (back func() error, err error) {
	path := w.path("mirrors.yaml")
	old, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	text := fmt.Sprintf("allow-http: true\nurls:\n  %s: %s/\n  %s: %s/archive.git\n", Host, address, ArchiveURL, address)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		return nil, err
	}
	return func() error { return os.WriteFile(path, old, 0o666) }, nil
}
