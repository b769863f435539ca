// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/filelock"
	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// A Repository is our own repository as files: its stacks and the pins that
// they are on.
type Repository struct {
	Root string // absolute
	Pins *pins.Set

	lock *filelock.Lock
	// crash is for tests: called between the steps of a save, an error stops
	// it there as a killed process would.
	crash func(step string) error
}

// A Source finds the repository with the commits of a pin's upstream.
type Source func(ctx context.Context, pin *pins.Pin, stack string) (*git.Repo, error)

// Open reads the pins of the repository at root. When a save was killed half
// way, it is taken back, or finished, first.
func Open(ctx context.Context, root string) (*Repository, error) { return open(ctx, root, false) }

// OpenToWrite is Open by the only process that may change stacks until Close.
func OpenToWrite(ctx context.Context, root string) (*Repository, error) {
	return open(ctx, root, true)
}

func open(ctx context.Context, root string, write bool) (*Repository, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	r := &Repository{Root: root}
	if _, err := os.Stat(r.dir("")); errors.Is(err, fs.ErrNotExist) && write {
		if err := os.Mkdir(r.dir(""), 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, explainDisk(err, root)
		}
	}
	journals, err := filepath.Glob(r.dir(".*" + journalSuffix))
	if err != nil {
		return nil, err
	}
	if write || len(journals) > 0 {
		if r.lock, err = filelock.Wait(ctx, r.dir(".lock"), nil); err != nil {
			return nil, explainDisk(err, r.dir(""))
		}
		if err := r.recover(); err != nil {
			r.Close()
			return nil, err
		}
		if !write {
			r.Close()
		}
	}
	if r.Pins, err = pins.Load(filepath.Join(root, "pins")); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// Close lets others write.
func (r *Repository) Close() error {
	if r.lock == nil {
		return nil
	}
	l := r.lock
	r.lock = nil
	return l.Unlock()
}

// dir is a path below the folder of the stacks.
func (r *Repository) dir(name string) string { return filepath.Join(r.Root, Folder, name) }

var stackName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)

// CheckName accepts the names that stacks have: those of pins.
func CheckName(name string) error {
	if !stackName.MatchString(name) {
		return verdict.Usagef("%q is no name of a stack: lower-case letters, digits and '-'", show(name))
	}
	return nil
}

// Names returns the names of all stacks, sorted.
func (r *Repository) Names() ([]string, error) {
	entries, err := os.ReadDir(r.dir(""))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && stackName.MatchString(e.Name()) {
			names = append(names, e.Name())
		}
	}
	sort.Strings(names)
	return names, nil
}

// PinOf returns the pin that a stack is on, or nil.
func (r *Repository) PinOf(stack string) *pins.Pin {
	for _, p := range r.Pins.Pins {
		if p.Stack == stack {
			return p
		}
	}
	return nil
}

// Load reads a stack. Everything that is wrong with its files is one error of
// type Problems.
func (r *Repository) Load(name string) (*Stack, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	if st, err := os.Lstat(r.dir(name)); err != nil || !st.IsDir() {
		return nil, verdict.Usagef("there is no stack %q; 'dist patches list' shows all", name)
	}
	s, problems, err := ReadFolder(r.dir(name), name)
	if err != nil {
		return nil, fmt.Errorf("stack %s: %w", name, err)
	}
	if err := problems.err(); err != nil {
		return nil, err
	}
	s.Base = s.Series.Base
	if pin := r.PinOf(name); pin != nil {
		s.Pin = pin.Name
		if s.Base == "" && pin.Lock != nil {
			s.Base = git.ID(pin.Lock.Commit)
		}
	}
	return s, nil
}

// NeedBase returns the base of a stack, or says how it gets one.
func (s *Stack) NeedBase() (git.ID, error) {
	switch {
	case s.Base != "":
		return s.Base, nil
	case s.Pin != "":
		return "", verdict.Failf("stack %s has no base: pin %s is not locked; run 'dist pins update %s'", s.Name, s.Pin, s.Pin)
	}
	return "", verdict.Failf("stack %s has no base: no pin names it with 'stack:', and its series has no line %q", s.Name, strings.TrimSpace(basePrefix)+" <commit>")
}

// beside are the files and folders that a stack has besides patches; other
// parts of this package read them.
var beside = map[string]bool{SeriesFile: true, "resolutions": true, "policy.yaml": true, "README.md": true}

// ReadFolder reads series and patches of a folder, whatever it is called. Base
// and pin are not looked up.
func ReadFolder(dir, name string) (*Stack, Problems, error) {
	// A root, so that no link leads out of the folder.
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	s := &Stack{Name: name, Dir: dir}
	data, why, err := readRegular(root, SeriesFile)
	if err != nil {
		return nil, nil, err
	}
	if why != "" {
		return s, Problems{{s.Shown(SeriesFile), 1, why}}, nil
	}
	var problems Problems
	s.Series, problems = ParseSeries(s.Shown(SeriesFile), data)
	listed := map[string]bool{}
	for _, file := range s.Series.Files() {
		listed[file] = true
		data, why, err := readRegular(root, file)
		if err != nil {
			return nil, nil, err
		}
		if why != "" {
			problems = append(problems, Problem{s.Shown(SeriesFile), s.Series.Line(file), file + ": " + why})
			continue
		}
		p, err := Parse(s.Shown(file), data)
		var wrong Problems
		if errors.As(err, &wrong) {
			problems = append(problems, wrong...)
			continue
		}
		s.Patches = append(s.Patches, p)
	}
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		n := e.Name()
		switch {
		case listed[n] || beside[n]:
		case strings.HasSuffix(n, Extension):
			problems = append(problems, Problem{s.Shown(n), 1, "the patch is not in the series"})
		default:
			problems = append(problems, Problem{s.Shown(show(n)), 1, "this does not belong into the folder of a stack"})
		}
	}
	return s, problems, nil
}

// readRegular reads a file that must be one; why says what it is instead.
func readRegular(root *os.Root, name string) (data []byte, why string, err error) {
	st, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, "the file is missing", nil
	case err != nil:
		return nil, "", err
	case !st.Mode().IsRegular():
		return nil, "this is no regular file", nil
	case st.Size() > MaxFile:
		return nil, fmt.Sprintf("the file has more than %d MiB", MaxFile>>20), nil
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	data, err = io.ReadAll(io.LimitReader(f, MaxFile+1))
	return data, "", err
}
