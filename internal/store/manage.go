// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/1bit-MONSTER/engine/internal/filelock"
)

// List returns all entries, sorted by key. A damaged one has only its key.
func (s *Store) List() ([]*Entry, error) {
	dirs, err := os.ReadDir(filepath.Join(s.dir, "entries"))
	if err != nil {
		return nil, err
	}
	var all []*Entry
	for _, d := range dirs {
		key := Key(d.Name())
		if !keyPattern.MatchString(string(key)) {
			continue
		}
		e, err := s.read(key)
		if err != nil {
			e = &Entry{Record: Record{Key: key, Kind: "damaged"}, Path: filepath.Join(s.entry(key), "content")}
		}
		all = append(all, e)
	}
	return all, nil
}

// Used returns when the entry was last used, to the hour.
func (s *Store) Used(key Key) time.Time {
	st, err := os.Stat(filepath.Join(s.entry(key), "used"))
	if err != nil {
		return time.Time{}
	}
	return st.ModTime()
}

// A Damage is an entry whose content is not what its record says.
type Damage struct {
	Key  Key      `json:"key"`
	Name string   `json:"name"`
	Why  []string `json:"why"` // a file that changed, is missing or is new
}

// Verify reads the content of an entry again and returns what is wrong with
// it, nil when nothing is.
func (s *Store) Verify(key Key) *Damage {
	e, err := s.read(key)
	if err != nil {
		return &Damage{Key: key, Why: []string{err.Error()}}
	}
	files, sum, err := scan(e.Path)
	if err != nil {
		return &Damage{Key: key, Name: e.Name, Why: []string{err.Error()}}
	}
	if sum == e.Sum {
		return nil
	}
	d := &Damage{Key: key, Name: e.Name}
	then, err := s.Files(key)
	if err != nil {
		d.Why = []string{"content is " + sum + ", the record says " + e.Sum}
		return d
	}
	d.Why = differences(then, files)
	return d
}

// Files returns the entry's files as they were when it was made.
func (s *Store) Files(key Key) ([]File, error) {
	data, err := os.ReadFile(filepath.Join(s.entry(key), "files.json"))
	if err != nil {
		return nil, err
	}
	var files []File
	return files, json.NewDecoder(bytes.NewReader(data)).Decode(&files)
}

func differences(then, now []File) (why []string) {
	old := map[string]File{}
	for _, f := range then {
		old[f.Path] = f
	}
	for _, f := range now {
		o, known := old[f.Path]
		delete(old, f.Path)
		switch {
		case !known:
			why = append(why, f.Path+" is new")
		case o.SHA256 != f.SHA256:
			why = append(why, f.Path+" has other content")
		case o.Mode != f.Mode:
			why = append(why, f.Path+" has mode "+f.Mode+", was "+o.Mode)
		}
	}
	for path := range old {
		why = append(why, path+" is missing")
	}
	slices.Sort(why)
	return why
}

// Remove removes an entry; that it is absent is no error.
func (s *Store) Remove(ctx context.Context, key Key) error {
	lock, err := filelock.Wait(ctx, filepath.Join(s.dir, "locks", string(key)), nil)
	if err != nil {
		return s.explain(err)
	}
	defer lock.Unlock()
	return s.explain(s.discard(key))
}

// discard is Remove for one who holds the entry's lock.
func (s *Store) discard(key Key) error {
	if _, err := os.Lstat(s.entry(key)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	work, done, err := s.workspace()
	if err != nil {
		return err
	}
	defer done()
	// The rename takes it out of sight at once; what is then removed slowly
	// is nobody's entry any more.
	err = os.Rename(s.entry(key), filepath.Join(work, "removed"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// GC removes what killed processes left and the entries that keep does not
// want, and returns them.
func (s *Store) GC(ctx context.Context, keep func(*Entry, time.Time) bool, dryRun bool) ([]*Entry, error) {
	if !dryRun {
		s.sweep()
	}
	all, err := s.List()
	if err != nil {
		return nil, err
	}
	var gone []*Entry
	for _, e := range all {
		if keep(e, s.Used(e.Key)) {
			continue
		}
		if !dryRun {
			if err := s.Remove(ctx, e.Key); err != nil {
				return gone, err
			}
		}
		gone = append(gone, e)
	}
	return gone, nil
}
