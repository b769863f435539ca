// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// Damaged says that an entry is there and cannot be used. Put makes it again.
type Damaged struct{ Key Key }

func (e *Damaged) Error() string {
	return fmt.Sprintf("store: the entry %s is damaged; run 'dist store verify --repair'", e.Key)
}

// Verdict says that the machine is at fault.
func (e *Damaged) Verdict() verdict.Verdict { return verdict.Infra }

// whole returns the entry as Get does, after a look at each of its files: it is
// *Damaged where one is missing, new or changed. A file whose stat is not as it
// was when it was summed is read again; the others are believed, since Verify is
// there to read all.
func (s *Store) whole(key Key) (*Entry, error) {
	e, err := s.Get(key)
	if err != nil {
		return nil, err
	}
	then, err := s.Files(key)
	if err != nil || !sums(then, e.Sum) {
		return nil, &Damaged{key}
	}
	now, err := listAny(e.Path)
	if errors.Is(err, fs.ErrPermission) {
		return nil, s.explain(err)
	}
	if err != nil || len(now) != len(then) {
		return nil, &Damaged{key}
	}
	for i, n := range now {
		t := then[i]
		if n.Path != t.Path || n.Mode != t.Mode || n.Size != t.Size {
			return nil, &Damaged{key}
		}
		if n.MTime == t.MTime && n.Inode == t.Inode {
			continue
		}
		sum, err := hashFile(filepath.Join(e.Path, filepath.FromSlash(n.Path)), n.Mode)
		if err != nil || sum != t.SHA256 {
			return nil, &Damaged{key}
		}
	}
	return e, nil
}

// Intact says whether the entry is there, and each of its files as far as its
// stat tells.
func (s *Store) Intact(key Key) bool {
	_, err := s.whole(key)
	return err == nil
}

// sums says whether files are what a record's sum is over.
func sums(files []File, sum string) bool {
	if len(files) == 1 && files[0].Path == "" {
		return "sha256:"+files[0].SHA256 == sum
	}
	return sumOf(files) == sum
}

// listAny is list that also takes a path that is one file.
func listAny(path string) ([]File, error) {
	st, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !st.IsDir() {
		return []File{stat(st, "")}, nil
	}
	return list(path)
}
