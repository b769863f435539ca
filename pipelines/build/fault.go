// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/1bit-MONSTER/engine/internal/run"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// machineSigns are what programs print, or the go command about those that it
// starts, when the machine has no more to give.
var machineSigns = [...]string{
	"resource temporarily unavailable", "cannot allocate memory", "out of memory",
	"too many open files", "signal: killed", "input/output error",
}

// notStarted says of a program that did not start whether the machine was at
// fault; other errors it returns as they are.
func notStarted(err error) error {
	for _, number := range []syscall.Errno{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE} {
		if errors.Is(err, number) {
			return verdict.Infraf("this machine is out of memory, processes or files (%w): see what else it is doing, and run the same again", err)
		}
	}
	return err
}

// machineFault returns an error when it was the machine that ended a go command:
// a full disk, no memory or processes left, the time limit, a signal.
func machineFault(what string, exit *run.ExitError) error {
	switch {
	case strings.Contains(strings.ToLower(exit.Stderr), "no space left on device"):
		return fmt.Errorf("%s: %w", what, syscall.ENOSPC)
	case exit.TimedOut:
		return verdict.Infraf("%s was not done in time: see what else this machine is doing, and run the same again", what)
	case exit.Signal != "":
		return verdict.Infraf("%s was killed by a signal (%s): see whether this machine is out of memory, and run the same again", what, exit.Signal)
	}
	for line := range strings.Lines(exit.Stderr) {
		for _, sign := range machineSigns {
			if strings.Contains(line, sign) {
				return verdict.Infraf("%s: this machine is out of memory, processes or files (%s): see what else it is doing, and run the same again", what, strings.TrimSpace(line))
			}
		}
	}
	return nil
}

// removed returns store.Removed when the cache that the build used is no longer
// there as it should be, which explains err better than err does.
func (w *workTree) removed(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || verdict.Of(err) != verdict.Fail {
		return err
	}
	gone := false
	if w.goRoot != nil {
		key, e := store.KeyOf(w.goRoot.Sum)
		gone = e != nil || !w.store.Intact(key)
	}
	for _, dir := range []string{w.modCache, w.buildCache, w.tmp, w.store.Dir()} {
		_, missing := os.Stat(dir)
		gone = gone || dir != "" && missing != nil
	}
	if gone {
		return store.Removed(w.cache.Dir, errors.New(lastLine(err.Error())))
	}
	return err
}
