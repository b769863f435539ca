// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package store is the content-addressed folder of sources, toolchains and
// build outputs. Many processes may use one store at once, it may be deleted
// at any time, and nothing half-made ever shows in it.
//
// On disk, with <key> such as t1-<64 hex digits>:
//
//	entries/<key>/content      the file or folder, read-only
//	entries/<key>/record.json  what it is (Record)
//	entries/<key>/files.json   each file with mode, size, sha256 and its stat
//	entries/<key>/used         its time is when the entry was last used
//	locks/<key>                held while the entry is made or removed
//	tmp/<random>/              work in progress, its lock beside it
//
// An entry appears by one rename, after its content was summed. Records and
// locks are not worth a sync to disk: a store that a power cut damaged is
// found, by Put for what stat shows and by Verify for all, and made again.
package store

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/filelock"
	"github.com/1bit-MONSTER/engine/internal/rmtree"
)

// A Key names an entry: the kind of sum, a dash, and 64 hex digits.
//
//	t1-      a tree, by the sum of its content
//	h1-      a Go module's files, by the sum that go.sum uses
//	sha256-  one file, by its content
//	in-      a build output, by everything that went into it
type Key string

var keyPattern = regexp.MustCompile(`^(t1|h1|sha256|in)-[0-9a-f]{64}$`)

// KeyOf returns the key for a sum as locks spell it: "t1:" or "h1:" with
// base64, "sha256:" or "in:" with hex digits.
func KeyOf(sum string) (Key, error) {
	kind, value, _ := strings.Cut(sum, ":")
	if kind == "t1" || kind == "h1" {
		raw, err := base64.StdEncoding.DecodeString(value)
		if err != nil {
			return "", fmt.Errorf("sum %q is not base64", sum)
		}
		value = hex.EncodeToString(raw)
	}
	key := Key(kind + "-" + value)
	if !keyPattern.MatchString(string(key)) {
		return "", fmt.Errorf("sum %q is not t1:, h1: (base64), sha256: or in: (hex) of 32 bytes", sum)
	}
	return key, nil
}

// A Record says what an entry is.
type Record struct {
	Key     Key               `json:"key"`
	Kind    string            `json:"kind"` // source, file, toolchain, output
	Name    string            `json:"name"` // for people: llama-vulkan b9999
	Sum     string            `json:"sum"`  // t1: of a folder, sha256: of a file
	Size    int64             `json:"size"` // bytes of all files
	Files   int               `json:"files"`
	Created time.Time         `json:"created"`
	Meta    map[string]string `json:"meta,omitempty"`
}

// An Entry is a record and where its content lies. The content is read-only
// and belongs to everybody.
type Entry struct {
	Record
	Path string
}

// Absent says that the store has no such entry.
type Absent struct{ Key Key }

func (e *Absent) Error() string { return fmt.Sprintf("store: no entry %s", e.Key) }

// A Store is one folder. It is safe for use by several goroutines and
// processes.
type Store struct{ dir string }

// subs are the folders of a store.
var subs = [...]string{"entries", "locks", "tmp"}

// Open returns the store at dir, creating it when absent.
func Open(dir string) (*Store, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	for _, sub := range subs {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o777); err != nil {
			return nil, explainMkdir(err, dir)
		}
	}
	return &Store{dir}, nil
}

// Dir returns the store's folder.
func (s *Store) Dir() string { return s.dir }

func (s *Store) entry(key Key) string { return filepath.Join(s.dir, "entries", string(key)) }

// Get returns the entry, *Absent, or *Damaged. It notes that the entry was used.
func (s *Store) Get(key Key) (*Entry, error) {
	e, err := s.read(key)
	if err == nil {
		s.touch(key)
	}
	return e, err
}

func (s *Store) read(key Key) (*Entry, error) {
	dir := s.entry(key)
	data, err := os.ReadFile(filepath.Join(dir, "record.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &Absent{key}
	}
	if err != nil {
		return nil, s.explain(err)
	}
	e := &Entry{Path: filepath.Join(dir, "content")}
	if err := json.Unmarshal(data, &e.Record); err != nil || e.Key != key {
		return nil, &Damaged{key}
	}
	return e, nil
}

// touch notes the use for GC, at most once an hour; a store that may only be
// read is used all the same.
func (s *Store) touch(key Key) {
	used := filepath.Join(s.entry(key), "used")
	now := time.Now()
	if st, err := os.Stat(used); err == nil && now.Sub(st.ModTime()) > time.Hour {
		os.Chtimes(used, now, now)
	}
}

// A Maker says how an entry is made.
type Maker struct {
	Kind string
	Name string
	Meta map[string]string
	// Fill creates path, a file or a folder, whose parent exists and is on
	// the store's disk.
	Fill func(ctx context.Context, path string) error
	// Check is asked after Fill whether the content is what the key stands
	// for; sum is its t1: or sha256:. Nil: the key must be that sum itself.
	Check func(path, sum string) error
}

// Put returns the entry under key, making it when it is absent or damaged. Of
// several callers at once, one makes it and the others wait for it.
func (s *Store) Put(ctx context.Context, key Key, m Maker) (*Entry, error) {
	if !keyPattern.MatchString(string(key)) {
		return nil, fmt.Errorf("store: bad key %q", key)
	}
	var absent *Absent
	var damaged *Damaged
	if e, err := s.whole(key); err == nil || !errors.As(err, &absent) && !errors.As(err, &damaged) {
		return e, err
	}
	lock, err := filelock.Wait(ctx, filepath.Join(s.dir, "locks", string(key)), nil)
	if err != nil {
		return nil, s.explain(err)
	}
	defer lock.Unlock()
	if e, err := s.whole(key); err == nil {
		return e, nil // made while we waited
	}
	work, done, err := s.Workspace()
	if err != nil {
		return nil, err
	}
	defer done()
	path := filepath.Join(work, "content")
	if err := m.Fill(ctx, path); err != nil {
		return nil, s.explain(err)
	}
	if err := s.admit(key, m, work, path); err != nil {
		return nil, s.explain(err)
	}
	return s.Get(key)
}

// admit sums and seals the content in work and moves it to its place.
func (s *Store) admit(key Key, m Maker, work, path string) error {
	if err := seal(path); err != nil {
		return err
	}
	files, sum, err := scan(path)
	if err != nil {
		return err
	}
	if m.Check != nil {
		err = m.Check(path, sum)
	} else if own, _ := KeyOf(sum); own != key {
		err = fmt.Errorf("store: %s should be %s, but its content is %s", m.Name, key, own)
	}
	if err != nil {
		return err
	}
	r := Record{Key: key, Kind: m.Kind, Name: m.Name, Sum: sum, Files: len(files), Created: time.Now().UTC(), Meta: m.Meta}
	for _, f := range files {
		r.Size += f.Size
	}
	for name, v := range map[string]any{"record.json": r, "files.json": files, "used": nil} {
		data, err := json.Marshal(v)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(work, name), append(data, '\n'), 0o644); err != nil {
			return err
		}
	}
	// What is there is damaged, or was half removed: a folder without a record.
	if err := s.discard(key); err != nil {
		return err
	}
	return os.Rename(work, s.entry(key))
}

// Workspace returns a new folder on the store's disk and what removes it. When
// the process is killed, the next that asks for one removes it.
func (s *Store) Workspace() (string, func(), error) {
	s.sweep()
	work, done, err := s.workspace()
	return work, done, s.explain(err)
}

// workspace makes a folder in tmp. Its lock, held as long as we live, keeps
// sweep from taking it for a dead process's.
func (s *Store) workspace() (string, func(), error) {
	for try := 0; ; try++ {
		work := filepath.Join(s.dir, "tmp", fmt.Sprintf("w%016x", rand.Uint64()))
		lock, err := filelock.Try(work + ".lock")
		if err != nil {
			return "", nil, err
		}
		if lock != nil && !lock.At(work+".lock") {
			lock.Unlock() // a sweep removed it: the next would make, and take, another one of that name
			lock = nil
		}
		if lock == nil && try < 10 {
			continue // a sweep was faster than our lock
		}
		if lock == nil {
			return "", nil, errors.New("no lock to be had for a new folder")
		}
		done := func() {
			rmtree.All(work)
			os.Remove(work + ".lock")
			lock.Unlock()
		}
		if err := os.Mkdir(work, 0o777); err != nil {
			done()
			return "", nil, err
		}
		return work, done, nil
	}
}

// sweep removes what killed processes left in tmp.
func (s *Store) sweep() {
	locks, _ := filepath.Glob(filepath.Join(s.dir, "tmp", "w*.lock"))
	for _, name := range locks {
		lock, err := filelock.Try(name)
		if lock == nil || err != nil {
			continue
		}
		rmtree.All(strings.TrimSuffix(name, ".lock"))
		os.Remove(name)
		lock.Unlock()
	}
}
