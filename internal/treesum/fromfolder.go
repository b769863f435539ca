// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package treesum

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/git"
)

// A ModeOf tells which mode git would have for a regular file.
type ModeOf func(path string, info fs.FileInfo) git.Mode

// ExecutableBit is the ModeOf for file systems that keep permissions: the
// owner's executable bit decides.
func ExecutableBit(_ string, info fs.FileInfo) git.Mode {
	if info.Mode()&0o100 != 0 {
		return git.ModeExecutable
	}
	return git.ModeFile
}

// FolderOptions say what FromFolder cannot see on the disk. All paths are
// relative to the top folder, those inside of submodules too.
type FolderOptions struct {
	ModeOf     ModeOf     // nil: ExecutableBit
	Submodules []string   // folders that are submodules, nested ones as well
	Excluded   []Excluded // what was left out; it must not be there
}

// FromFolder sums the files below a folder. Symbolic links are not followed.
// Devices, pipes and sockets are errors.
func FromFolder(dir string, o FolderOptions) (*Result, error) {
	if o.ModeOf == nil {
		o.ModeOf = ExecutableBit
	}
	// A root keeps a link that somebody swaps in meanwhile from leading out.
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f := &folder{root: root, o: o}
	res, err := f.sum("")
	if err != nil {
		return nil, err
	}
	slices.SortFunc(res.Excluded, func(a, b Excluded) int { return strings.Compare(a.Path, b.Path) })
	return res, nil
}

type folder struct {
	root *os.Root
	o    FolderOptions
	d    digester
}

// walk is fs.WalkDir below dir, except that names need not be UTF-8, which
// fs.FS demands and git does not.
func (f *folder) walk(dir string, visit func(path string, d fs.DirEntry) error) error {
	open := dir
	if dir == "" {
		open = "."
	}
	d, err := f.root.Open(filepath.FromSlash(open))
	if err != nil {
		return err
	}
	entries, err := d.ReadDir(-1)
	d.Close()
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := e.Name()
		if dir != "" {
			path = dir + "/" + path
		}
		err := visit(path, e)
		if err == nil && e.IsDir() {
			err = f.walk(path, visit)
		}
		if err != nil && !errors.Is(err, fs.SkipDir) {
			return err
		}
	}
	return nil
}

// sum sums one module, whose folder is base.
func (f *folder) sum(base string) (*Result, error) {
	res := &Result{}
	var lines []line
	relative := func(path string) string { return strings.TrimPrefix(strings.TrimPrefix(path, base), "/") }
	err := f.walk(base, func(path string, d fs.DirEntry) error {
		if slices.Contains(f.o.Submodules, path) {
			if !d.IsDir() {
				return fmt.Errorf("%+q is no folder, but a submodule should be there", path)
			}
			sub, err := f.sum(path)
			if err != nil {
				return err
			}
			l, err := submoduleLine(relative(path), sub.Sum)
			if err != nil {
				return err
			}
			lines = append(lines, l)
			res.Files += sub.Files
			res.Bytes += sub.Bytes
			res.Excluded = append(res.Excluded, sub.Excluded...)
			return fs.SkipDir
		}
		if d.IsDir() {
			return nil
		}
		if slices.ContainsFunc(f.o.Excluded, func(x Excluded) bool { return x.Path == path }) {
			return fmt.Errorf("%+q is there, but it should be left out", path)
		}
		l, n, err := f.file(path, relative(path), d)
		if err != nil {
			return err
		}
		lines = append(lines, l)
		res.Files++
		res.Bytes += n
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, x := range f.o.Excluded {
		if f.module(x.Path) != base {
			continue
		}
		res.Excluded = append(res.Excluded, x)
		x.Path = relative(x.Path)
		lines = append(lines, excludedLine(x))
	}
	for _, p := range f.o.Submodules {
		if f.module(p) == base && !slices.ContainsFunc(lines, func(l line) bool { return l.name == entryName(git.ModeSubmodule, relative(p)) }) {
			return nil, &Unused{[]string{p}}
		}
	}
	if res.Sum, err = sum(lines); err != nil {
		return nil, err
	}
	return res, nil
}

// module is the innermost submodule that a path lies in.
func (f *folder) module(path string) string {
	best := ""
	for _, s := range f.o.Submodules {
		if strings.HasPrefix(path, s+"/") && len(s) > len(best) {
			best = s
		}
	}
	return best
}

func (f *folder) file(path, name string, d fs.DirEntry) (line, int64, error) {
	switch d.Type() {
	case fs.ModeSymlink:
		target, err := f.root.Readlink(filepath.FromSlash(path))
		return line{entryName(git.ModeSymlink, name), sha256.Sum256([]byte(target))}, int64(len(target)), err
	case 0:
		file, err := f.root.Open(filepath.FromSlash(path))
		if err != nil {
			return line{}, 0, err
		}
		defer file.Close()
		info, err := file.Stat()
		if err != nil {
			return line{}, 0, err
		}
		if !info.Mode().IsRegular() {
			return line{}, 0, fmt.Errorf("%+q is no regular file any more", path)
		}
		digest, err := f.d.of(file)
		return line{entryName(f.o.ModeOf(path, info), name), digest}, info.Size(), err
	}
	return line{}, 0, fmt.Errorf("%+q is neither a file nor a symbolic link", path)
}
