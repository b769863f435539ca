// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package round

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"

	"github.com/1bit-MONSTER/engine/internal/atomicfile"
	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/strictjson"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// longestFile bounds a file of a hand-off that is read as a whole, in bytes.
// The lock of a toolchain has some thousand packages.
const longestFile = 64 << 20

// WriteJSON writes one of a folder's files, all of it or nothing.
func WriteJSON(path string, v any) error {
	data, err := strictjson.Encode(v)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, data, 0o644)
}

// ReadJSON reads one of a folder's files. A field that v does not have, and
// anything after the value, is an error: an older program must not take half of
// what a newer one says. A file that is not there is an error of os.Open.
func ReadJSON(path string, v any) error {
	data, err := readFile(path)
	if err != nil {
		return err
	}
	return decode(path, data, v)
}

func readFile(path string) ([]byte, error) {
	st, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() || st.Size() > longestFile {
		return nil, verdict.Failf("%s is no plain file, or larger than %d MiB: it was not handed on by us", path, longestFile>>20)
	}
	return os.ReadFile(path)
}

func decode(path string, data []byte, v any) error {
	if err := strictjson.Decode(data, v); err != nil {
		return verdict.Failf("%s cannot be read (%w): resolve the group again", path, err)
	}
	return nil
}

// Write writes a round as it is handed on.
func Write(path string, r *Round) error { return WriteJSON(path, r) }

// Read reads a round and checks that its parts fit together.
func Read(path string) (*Round, error) {
	data, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, verdict.Infraf("there is no %s: the group was not resolved, or not to the end", path)
	}
	if err != nil {
		return nil, err
	}
	var head struct {
		Schema int `json:"schema"`
	}
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(&head); err != nil {
		return nil, verdict.Failf("%s is no round (%w): resolve the group again", path, err)
	}
	if head.Schema != Schema {
		return nil, verdict.Failf("%s has the schema %d, and this program knows %d: use the program that wrote it, or resolve the group again", path, head.Schema, Schema)
	}
	r := &Round{}
	if err := decode(path, data, r); err != nil {
		return nil, err
	}
	if err := r.check(); err != nil {
		return nil, verdict.Failf("%s: %w", path, err)
	}
	return r, nil
}

var nameRE = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)

// check refuses a round that this program would not have written.
func (r *Round) check() error {
	if !nameRE.MatchString(r.Group) {
		return fmt.Errorf("its group %q is no name of one", r.Group)
	}
	if len(r.Members) == 0 {
		return errors.New("it has no members")
	}
	seen := map[string]bool{}
	for i := range r.Members {
		m := &r.Members[i]
		switch {
		case !nameRE.MatchString(m.Pin), m.Stack != "" && !nameRE.MatchString(m.Stack):
			return fmt.Errorf("its member %q, with the stack %q, has no name of ours", m.Pin, m.Stack)
		case seen[m.Pin]:
			return fmt.Errorf("its member %s is there twice", m.Pin)
		case m.Lock != nil && !m.Moves():
			return fmt.Errorf("its member %s stays, and has a new lock", m.Pin)
		case m.Lock != nil && m.Lock.ID() != m.To.ID:
			return fmt.Errorf("its member %s goes to %s, and its lock is for %s", m.Pin, m.To.ID, m.Lock.ID())
		}
		seen[m.Pin] = true
	}
	if r.Base != "" {
		if _, err := git.ParseID(string(r.Base)); err != nil {
			return fmt.Errorf("its base: %w", err)
		}
	}
	if id := r.Identify(); r.ID != id {
		return fmt.Errorf("its id is %s, and by what it holds it is %s", r.ID, id)
	}
	return nil
}

// complete refuses a round whose content was not all fetched.
func (r *Round) complete() error {
	if err := r.check(); err != nil {
		return fmt.Errorf("round %s: %w", r.Group, err)
	}
	for _, m := range r.Moves() {
		if m.Lock == nil {
			return fmt.Errorf("round %s: its member %s was not fetched", r.Group, m.Pin)
		}
	}
	return nil
}
