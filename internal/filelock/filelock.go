// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package filelock is an advisory lock between processes, held by an open file
// and released by the system when its process ends, however it ends.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// A Lock is held until Unlock.
type Lock struct{ f *os.File }

// Try takes the lock on path, which is created when absent. It returns nil and
// no error when somebody else holds it.
func Try(path string) (*Lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|closeOnExec, 0o666)
	if err != nil {
		return nil, err
	}
	return hold(f, path)
}

func hold(f *os.File, path string) (*Lock, error) {
	ok, err := tryLock(f)
	if err != nil || !ok {
		f.Close()
		if err != nil {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		return nil, nil
	}
	return &Lock{f}, nil
}

// TryFile takes the lock on an open file, which holds it until it is closed. It
// returns false when somebody else holds it.
func TryFile(f *os.File) (bool, error) { return tryLock(f) }

// Wait takes the lock on path, waiting until it is free or ctx ends. waiting,
// if not nil, is called once when it is not free at first.
func Wait(ctx context.Context, path string, waiting func()) (*Lock, error) {
	return wait(ctx, path, waiting, Try)
}

// Folder locks a folder that is there already, and waits for it. Nothing is
// written into it where the system can lock folders themselves.
func Folder(ctx context.Context, dir string) (*Lock, error) {
	return wait(ctx, dir, nil, tryFolder)
}

func wait(ctx context.Context, path string, waiting func(), try func(string) (*Lock, error)) (*Lock, error) {
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, 200*time.Millisecond) {
		l, err := try(path)
		if l != nil || err != nil {
			return l, err
		}
		if waiting != nil {
			waiting()
			waiting = nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("lock %s: %w", path, ctx.Err())
		case <-time.After(pause):
		}
	}
}

// At reports whether path is still the file that the lock is on: somebody may
// have removed it between its opening and its locking.
func (l *Lock) At(path string) bool {
	mine, err := l.f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(path)
	return err == nil && os.SameFile(mine, there)
}

// Unlock releases the lock. The file stays: removing it would let two
// processes hold locks on two files of the same name.
func (l *Lock) Unlock() error {
	// Closing alone is not enough: a program that is being started at this
	// moment has a copy of the open file until it runs.
	err := unlock(l.f)
	return errors.Join(err, l.f.Close())
}
