// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/module"
)

// modules returns a module cache with the modules that the program is built
// from and nothing else: what the user's cache holds besides is no input. Its
// files are links to those of the cache, whose sums were checked.
func (w *workTree) modules() (string, error) {
	dir := filepath.Join(w.tmp, "mod")
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	aside := dir + ".part"
	if err := w.linkModules(aside); err != nil {
		return "", err
	}
	return dir, os.Rename(aside, dir)
}

func (w *workTree) linkModules(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, m := range w.list.modules {
		name, err := module.EscapePath(m.Path)
		if err != nil {
			return err
		}
		version, err := module.EscapeVersion(m.Version)
		if err != nil {
			return err
		}
		if err := linkTree(filepath.Join(w.modCache, name+"@"+version), filepath.Join(dir, name+"@"+version)); err != nil {
			return err
		}
		if err := w.linkDownload(dir, name, version, ".ziphash"); err != nil {
			return err
		}
	}
	// The go command may read the go.mod of any module that go.sum names.
	sums, err := os.ReadFile(filepath.Join(w.src, "go.sum"))
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(sums)) {
		words := strings.Fields(line)
		if len(words) != 3 {
			continue
		}
		version, isMod := strings.CutSuffix(words[1], "/go.mod")
		name, err := module.EscapePath(words[0])
		if !isMod || err != nil {
			continue
		}
		if version, err = module.EscapeVersion(version); err != nil {
			continue
		}
		for _, ext := range []string{".mod", ".info"} {
			if err := w.linkDownload(dir, name, version, ext); err != nil {
				return err
			}
		}
	}
	return nil
}

// linkDownload links a file about a module, if the cache has it.
func (w *workTree) linkDownload(dir, name, version, ext string) error {
	file := filepath.Join("cache", "download", name, "@v", version+ext)
	err := linkFile(filepath.Join(w.modCache, file), filepath.Join(dir, file))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func linkTree(from, to string) error {
	return filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, p)
		if err != nil || d.IsDir() {
			return err
		}
		return linkFile(p, filepath.Join(to, rel))
	})
}

// linkFile links a file, or copies it where the disk is another.
func linkFile(from, to string) error {
	if _, err := os.Lstat(from); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if err := os.Link(from, to); err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	return duplicate(from, to)
}
