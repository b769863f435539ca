// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"

	"github.com/1bit-MONSTER/engine/internal/atomicfile"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// An Update is what Save writes: a stack's files and, together with them, the
// lock of its pin.
type Update struct {
	Stack *Stack
	Lock  *pins.Lock        // nil leaves the pin file as it is
	Extra map[string][]byte // further files below the folder, such as resolutions/x.yaml; nil content removes one
}

// Save writes a stack and its pin's lock together, or neither.
//
// The new folder is made complete beside the old one, and a journal says what
// is about to happen. Then the two folders change places, in one step where
// the system can, and after that the pin file is replaced. A run that is killed
// before the pin file is replaced is taken back by the next command, one that
// is killed later is finished; a stack without a new lock is decided by the
// change of places alone.
func (r *Repository) Save(u Update) error {
	name := u.Stack.Name
	if err := CheckName(name); err != nil {
		return err
	}
	if r.lock == nil {
		return errors.New("the repository was not opened to be written")
	}
	j := &journal{Stack: name}
	var pinFile string
	var pinData []byte
	var pinMode fs.FileMode
	if u.Lock != nil {
		pin := r.PinOf(name)
		if pin == nil {
			return fmt.Errorf("stack %s: no pin names it with 'stack:'", name)
		}
		j.Pin = pin.Name
		pinFile = r.pinFile(pin.Name)
		st, err := os.Stat(pinFile)
		if err != nil {
			return err
		}
		pinMode = st.Mode().Perm()
		old, err := os.ReadFile(pinFile)
		if err != nil {
			return err
		}
		if now, err := pins.Parse(old, pinFile); err != nil || !reflect.DeepEqual(now.Lock, pin.Lock) {
			return verdict.Failf("pin %s: %s was changed by somebody else meanwhile; do it again", pin.Name, pinFile)
		}
		if pinData, err = pins.WriteLock(old, *u.Lock); err != nil {
			return fmt.Errorf("pin %s: %w", pin.Name, err)
		}
		j.OldPin, j.NewPin = hash(old), hash(pinData)
		if j.OldPin == j.NewPin {
			j.Pin = "" // the folder alone changes
		}
	}
	fresh := r.dir("." + name + newSuffix)
	err := r.writeFolder(fresh, u)
	if err == nil {
		err = r.at("written")
	}
	if err == nil {
		if j.Folder, err = digestFolder(fresh); err == nil {
			err = r.writeJournal(j)
		}
	}
	if err != nil {
		if !errors.Is(err, errCrash) {
			os.RemoveAll(fresh)
		}
		return fmt.Errorf("stack %s: %w", name, explainDisk(err, r.Root))
	}
	steps := []struct {
		name string
		do   func() error
	}{
		{"journal", func() error { return swap(fresh, r.dir(name), r.dir("."+name+oldSuffix)) }},
		{"swapped", func() error {
			if j.Pin == "" {
				return nil
			}
			return atomicfile.Write(pinFile, pinData, pinMode)
		}},
		{"locked", func() error { return r.cleanUp(name) }},
	}
	for _, s := range steps {
		err := r.at(s.name)
		if err == nil {
			err = s.do()
		}
		if errors.Is(err, errCrash) {
			return err
		}
		if err != nil {
			return errors.Join(fmt.Errorf("stack %s: %w", name, explainDisk(err, r.Root)), r.recover())
		}
	}
	return nil
}

// writeFolder makes the complete new folder of a stack.
func (r *Repository) writeFolder(dir string, u Update) error {
	if err := os.RemoveAll(dir); err != nil { // of a killed run
		return err
	}
	if err := os.Mkdir(dir, 0o777); err != nil {
		return err
	}
	files := map[string][]byte{SeriesFile: u.Stack.Series.Format()}
	for _, p := range u.Stack.Patches {
		files[p.File] = Render(p)
	}
	// What else was in the old folder stays.
	for n := range beside {
		if n == SeriesFile {
			continue
		}
		if err := copyTree(filepath.Join(r.dir(u.Stack.Name), n), filepath.Join(dir, n)); err != nil {
			return err
		}
	}
	for n, data := range u.Extra {
		if !filepath.IsLocal(n) {
			return fmt.Errorf("%q is not below the folder", n)
		}
		if data != nil {
			files[n] = data
			continue
		}
		if err := os.Remove(filepath.Join(dir, n)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for n, data := range files {
		path := filepath.Join(dir, n)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := writeSynced(path, data); err != nil {
			return err
		}
	}
	return nil
}

func writeSynced(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// copyTree copies a file or folder; what is not there is nothing to do.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if path == from && errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(target, 0o777)
		case !d.Type().IsRegular():
			return fmt.Errorf("%s is no regular file", path)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return writeSynced(target, data)
	})
}

// pinFile is the file of a pin.
func (r *Repository) pinFile(pin string) string { return filepath.Join(r.Root, "pins", pin+".yaml") }

// errCrash is how tests stop a save.
var errCrash = errors.New("killed")

func (r *Repository) at(step string) error {
	if r.crash == nil {
		return nil
	}
	return r.crash(step)
}
