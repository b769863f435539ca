// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package pins

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"runtime"
	"sort"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// GroupsFile is the name of the file that is no pin but the list of groups.
const GroupsFile = "groups.yaml"

// A Set is all pins and groups of a folder.
type Set struct {
	Pins   []*Pin   `json:"pins"`   // by name
	Groups []*Group `json:"groups"` // as in groups.yaml
}

// Pin returns the pin of that name, or nil.
func (s *Set) Pin(name string) *Pin {
	i := sort.Search(len(s.Pins), func(i int) bool { return s.Pins[i].Name >= name })
	if i < len(s.Pins) && s.Pins[i].Name == name {
		return s.Pins[i]
	}
	return nil
}

// Named is Pin for a name that a user gave: a usage error says what there is.
func (s *Set) Named(name string) (*Pin, error) {
	if p := s.Pin(name); p != nil {
		return p, nil
	}
	return nil, verdict.Usagef("there is no pin %q; 'dist pins list' shows all", name)
}

// Group returns the group of that name, or nil.
func (s *Set) Group(name string) *Group {
	for _, g := range s.Groups {
		if g.Name == name {
			return g
		}
	}
	return nil
}

// GroupOf returns the group that a pin is a member of, or nil.
func (s *Set) GroupOf(pin string) *Group {
	for _, g := range s.Groups {
		for _, m := range g.Members {
			if m == pin {
				return g
			}
		}
	}
	return nil
}

// Load reads and checks all pins of a folder, usually pins/ of the repository.
// What is wrong with them is one error of type Errors that has everything.
func Load(dir string) (*Set, error) {
	if _, err := os.Stat(filepath.Join(dir, GroupsFile)); errors.Is(err, fs.ErrNotExist) {
		return nil, verdict.Usagef("%s has no %s: it is not a folder of pins", dir, GroupsFile)
	}
	return LoadFS(os.DirFS(dir), filepath.ToSlash(dir))
}

// LoadFS is Load for the root of a file system; shown stands before the file
// names in problems.
func LoadFS(fsys fs.FS, shown string) (*Set, error) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, fmt.Errorf("pins: %w", err)
	}
	s := &Set{}
	var files []*loaded
	for _, e := range entries {
		if name := e.Name(); path.Ext(name) == ".yaml" && !strings.HasPrefix(name, ".") {
			files = append(files, &loaded{name: name})
		}
	}
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0)) // the locks of toolchains are long
	for _, f := range files {
		g.Go(func() error { return f.read(fsys, shown) })
	}
	if err := g.Wait(); err != nil {
		return nil, fmt.Errorf("pins: %w", err)
	}
	var problems Errors
	for _, f := range files {
		if f.name == GroupsFile {
			s.Groups = f.groups
		} else if f.pin != nil {
			s.Pins = append(s.Pins, f.pin)
		}
		problems = append(problems, f.problems...)
	}
	sort.Slice(s.Pins, func(i, j int) bool { return s.Pins[i].Name < s.Pins[j].Name })
	problems = append(problems, s.check()...)
	if err := problems.sorted(); err != nil {
		return nil, err
	}
	return s, nil
}

// loaded is what one file of the folder holds.
type loaded struct {
	name     string
	pin      *Pin
	groups   []*Group
	problems Errors
}

func (f *loaded) read(fsys fs.FS, shown string) error {
	data, err := readFile(fsys, f.name)
	if err != nil {
		return err
	}
	d := &decoder{file: path.Join(shown, f.name), lines: map[string]int{}}
	if f.name == GroupsFile {
		f.groups = d.groups(data)
	} else {
		f.pin = d.pin(data, strings.TrimSuffix(f.name, ".yaml"))
	}
	f.problems = d.problems
	return nil
}

// Parse reads and checks one pin file by itself; shown is its name in problems
// and, without folder and extension, the name that the pin must have.
func Parse(data []byte, shown string) (*Pin, error) {
	d := &decoder{file: shown, lines: map[string]int{}}
	p := d.pin(data, strings.TrimSuffix(path.Base(filepath.ToSlash(shown)), ".yaml"))
	if err := d.problems.sorted(); err != nil {
		return nil, err
	}
	return p, nil
}

// readFile reads at most one byte more than a pin file may have. What is no
// file is not opened: a pipe would be waited for.
func readFile(fsys fs.FS, name string) ([]byte, error) {
	st, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, verdict.Failf("%s is no regular file: remove it, or give it another ending than .yaml", name)
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}

func (d *decoder) pin(data []byte, want string) *Pin {
	root := d.parse(data)
	if root == nil {
		return nil
	}
	p := &Pin{file: d.file, lines: d.lines}
	d.decode(root, reflect.ValueOf(p).Elem(), "")
	if p.Name != want {
		d.problem(p.Line("name"), "name: the file is called %s.yaml, so the name must be %s, not %q", want, want, clip(p.Name))
	}
	d.problems = append(d.problems, p.check()...)
	return p
}

func (d *decoder) groups(data []byte) []*Group {
	root := d.parse(data)
	if root == nil {
		return nil
	}
	var groups []*Group
	d.decode(root, reflect.ValueOf(&groups).Elem(), "groups")
	for i, g := range groups {
		g.file, g.lines, g.path = d.file, d.lines, fmt.Sprintf("groups[%d]", i)
		d.problems = append(d.problems, g.check()...)
	}
	return groups
}
