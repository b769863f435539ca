// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/filelock"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// Unfinished is the name of the file that a folder has while an export writes
// into it. It says what is exported and is locked by who does it; where it is
// left, the export was killed, and the same again goes on.
const Unfinished = ".unfinished-export"

// A claim is a folder that an export may write into.
type claim struct {
	marker string
	lock   *filelock.Lock
}

// mayClaim refuses early what takeFolder would refuse after the content was
// fetched.
func mayClaim(to string, force bool) error {
	if st, err := os.Lstat(to); err == nil && !st.IsDir() {
		return verdict.Usagef("%s is no folder: name one that is empty or does not exist", to)
	}
	names, err := os.ReadDir(to)
	if err != nil || len(names) == 0 || force || has(names, Unfinished) {
		return nil // a folder that cannot be read is refused when it is written
	}
	return notEmpty(to)
}

func notEmpty(to string) error {
	return verdict.Usagef("%s is not empty: name another folder, or say --force to replace what is in the way", to)
}

func has(names []os.DirEntry, name string) bool {
	return slices.ContainsFunc(names, func(d os.DirEntry) bool { return d.Name() == name })
}

// takeFolder claims the folder for what; it makes it where it is absent.
func takeFolder(to, what string, force bool) (*claim, error) {
	if err := mayClaim(to, force); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(to, 0o777); err != nil {
		return nil, err
	}
	c := &claim{marker: filepath.Join(to, Unfinished)}
	if st, err := os.Lstat(c.marker); err == nil && !st.Mode().IsRegular() {
		return nil, verdict.Usagef("%s is no file of ours: remove it", c.marker)
	}
	var err error
	if c.lock, err = filelock.Try(c.marker); err != nil {
		return nil, err
	}
	if c.lock == nil {
		return nil, verdict.Infraf("another process is exporting into %s now: wait for it, or name another folder", to)
	}
	before, err := os.ReadFile(c.marker)
	names, err2 := os.ReadDir(to)
	switch {
	case err != nil:
	case err2 != nil:
		err = err2
	case !has(names, Unfinished):
		err = verdict.Infraf("another process has just exported into %s: look at it", to)
	case force || len(names) == 1 || string(before) == what:
		err = os.WriteFile(c.marker, []byte(what), 0o666)
	case len(before) == 0: // ours from just now: who had the folder is done with it
		os.Remove(c.marker)
		err = notEmpty(to)
	default:
		err = verdict.Usagef("%s holds an export of %s that was not finished: remove the folder, or say --force to replace what is in the way", to, shown(strings.Fields(string(before) + " ?")[0]))
	}
	if err != nil {
		c.lock.Unlock()
		return nil, err
	}
	return c, nil
}

// leave gives the folder back unfinished.
func (c *claim) leave() { c.lock.Unlock() }

// finish takes the mark away.
func (c *claim) finish() error { return os.Remove(c.marker) }
