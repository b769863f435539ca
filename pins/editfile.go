// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package pins

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/1bit-MONSTER/engine/internal/atomicfile"
	"github.com/1bit-MONSTER/engine/internal/filelock"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// A Change is an edit of one pin's file. Edit gets its bytes and returns new
// ones, as WriteLock does.
type Change struct {
	Name string
	Edit func(file []byte) ([]byte, error)
}

// Edit is EditAll for one pin; changed is false if its file stays as it is.
func Edit(dir, name string, edit func(file []byte) ([]byte, error)) (changed bool, err error) {
	did, err := EditAll(dir, Change{name, edit})
	return len(did) > 0 && did[0], err
}

// EditAll changes the files of several pins in dir: all of them or, where an
// edit or a write does not go well, none. No other EditAll runs meanwhile, so
// an edit that looks at the bytes it gets decides for good. Each file is
// replaced as a whole. changed says which files did not stay as they are.
func EditAll(dir string, changes ...Change) (changed []bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	lock, err := filelock.Folder(ctx, dir)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, verdict.Infraf("another process has been writing into %s for a minute: wait for it, or end it", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("pins: %w", err)
	}
	defer lock.Unlock()
	files := make([]edited, len(changes))
	for i, c := range changes {
		if files[i], err = c.read(dir); err != nil {
			return nil, fmt.Errorf("pin %s: %w", c.Name, err)
		}
	}
	changed = make([]bool, len(changes))
	for i, f := range files {
		if bytes.Equal(f.before, f.after) {
			continue
		}
		if err := f.write(); err != nil {
			for j, done := range files[:i] {
				if changed[j] {
					err = errors.Join(err, atomicfile.Write(done.path, done.before, done.perm))
				}
			}
			return nil, fmt.Errorf("pin %s: %w", changes[i].Name, err)
		}
		changed[i] = true
	}
	return changed, nil
}

type edited struct {
	path          string
	perm          fs.FileMode
	before, after []byte
}

func (c Change) read(dir string) (f edited, err error) {
	f.path = filepath.Join(dir, c.Name+".yaml")
	info, err := os.Stat(f.path)
	if err != nil {
		return f, err
	}
	f.perm = info.Mode().Perm()
	if f.before, err = os.ReadFile(f.path); err != nil {
		return f, err
	}
	f.after, err = c.Edit(f.before)
	return f, err
}

// write replaces the file, unless somebody who knows no locks, such as an
// editor, changed it since it was read.
func (f edited) write() error {
	if now, err := os.ReadFile(f.path); err != nil || !bytes.Equal(now, f.before) {
		return &Changed{f.path}
	}
	return atomicfile.Write(f.path, f.after, f.perm)
}

// Changed says that a pin's file is not any more what a work began with.
type Changed struct{ File string }

func (e *Changed) Error() string {
	return fmt.Sprintf("%s was changed by somebody else meanwhile: look at it, and run the same again", e.File)
}

// Verdict says that nothing is wrong with the pin.
func (e *Changed) Verdict() verdict.Verdict { return verdict.Infra }

// StillIs returns *Changed unless file, which is the pin's as it is now, says
// what p says, comments and the hold apart, with p's lock or one of the others.
func (p *Pin) StillIs(file []byte, others ...*Lock) error {
	now, err := Parse(file, p.file)
	if err != nil {
		return err
	}
	for _, lock := range append([]*Lock{p.Lock}, others...) {
		want := *p
		want.Lock, want.Hold, now.Hold = lock, nil, nil
		if same(&want, now) {
			return nil
		}
	}
	return &Changed{p.file}
}

// same compares what is written of two pins.
func same(a, b *Pin) bool {
	x, err := json.Marshal(a)
	if err != nil {
		return false
	}
	y, err := json.Marshal(b)
	return err == nil && bytes.Equal(x, y)
}
