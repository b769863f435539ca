// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/atomicfile"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// What a save leaves beside the stacks while it runs. All begin with a dot.
const (
	newSuffix     = ".new"  // the folder that comes; after the swap the one that goes
	oldSuffix     = ".old"  // the folder that goes, where a swap needs two steps
	journalSuffix = ".swap" // the journal
)

// A journal says what a save is about to do.
type journal struct {
	Stack          string `json:"stack"`
	Folder         string `json:"folder"` // digest of the new folder
	Pin            string `json:"pin,omitempty"`
	OldPin, NewPin string `json:",omitempty"` // sha256 of the pin file
}

func (r *Repository) writeJournal(j *journal) error {
	data, err := json.Marshal(j)
	if err != nil {
		return err
	}
	return atomicfile.Write(r.dir("."+j.Stack+journalSuffix), data, 0o666)
}

// cleanUp removes what a finished save leaves; the journal goes last.
func (r *Repository) cleanUp(name string) error {
	return errors.Join(os.RemoveAll(r.dir("."+name+newSuffix)), os.RemoveAll(r.dir("."+name+oldSuffix)), os.RemoveAll(r.dir("."+name+journalSuffix)))
}

// recover settles every save that was killed. The lock must be held.
func (r *Repository) recover() error {
	entries, err := os.ReadDir(r.dir(""))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if name, ok := strings.CutSuffix(strings.TrimPrefix(e.Name(), "."), journalSuffix); ok && strings.HasPrefix(e.Name(), ".") {
			if err := r.recoverOne(name); err != nil {
				return err
			}
		}
	}
	// A folder without a journal was never complete.
	for _, e := range entries {
		if name, ok := strings.CutSuffix(strings.TrimPrefix(e.Name(), "."), newSuffix); ok && strings.HasPrefix(e.Name(), ".") {
			if err := r.cleanUp(name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Repository) recoverOne(name string) error {
	data, err := os.ReadFile(r.dir("." + name + journalSuffix))
	if err != nil {
		return err
	}
	var j journal
	if err := json.Unmarshal(data, &j); err != nil || j.Stack != name || CheckName(name) != nil {
		return verdict.Failf("%s cannot be read: remove it and take the stack back from the history", r.dir("."+name+journalSuffix))
	}
	here, fresh, old := r.dir(name), r.dir("."+name+newSuffix), r.dir("."+name+oldSuffix)
	isNew := func(dir string) bool {
		d, err := digestFolder(dir)
		return err == nil && d == j.Folder
	}
	exists := func(dir string) bool {
		_, err := os.Lstat(dir)
		return err == nil
	}
	forward := j.Pin == "" && isNew(here)
	if j.Pin != "" {
		pin, err := os.ReadFile(r.pinFile(j.Pin))
		if err != nil {
			return err
		}
		switch hash(pin) {
		case j.NewPin:
			forward = true
		case j.OldPin:
		default:
			return verdict.Failf("an update of stack %s was interrupted, and pins/%s.yaml was changed since: take both back from the history and remove %s", name, j.Pin, r.dir("."+name+journalSuffix))
		}
	}
	switch {
	case forward:
	case exists(old): // between the two steps of a swap, or after them
		if exists(here) {
			if err := os.RemoveAll(here); err != nil {
				return err
			}
		}
		if err := os.Rename(old, here); err != nil {
			return err
		}
	case isNew(here) && exists(fresh): // swapped in one step
		if err := swap(fresh, here, old); err != nil {
			return err
		}
	case isNew(here) && !exists(fresh): // there was no folder before
		if err := os.RemoveAll(here); err != nil {
			return err
		}
	}
	return r.cleanUp(name)
}

// swap puts a folder in the place of another one, which ends up at fresh or at
// old, or in an empty place.
func swap(fresh, here, old string) error {
	if _, err := os.Lstat(here); errors.Is(err, fs.ErrNotExist) {
		return os.Rename(fresh, here)
	}
	if err := exchange(fresh, here); err == nil {
		return nil
	}
	if err := os.RemoveAll(old); err != nil {
		return err
	}
	if err := os.Rename(here, old); err != nil {
		return err
	}
	return os.Rename(fresh, here)
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// digestFolder sums the names and contents of all files below a folder.
func digestFolder(dir string) (string, error) {
	h := sha256.New()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		fmt.Fprintf(h, "%s  %q\n", hash(data), filepath.ToSlash(rel))
		return err
	})
	return hex.EncodeToString(h.Sum(nil)), err
}
