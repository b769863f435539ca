// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package archtest holds which folder of this repository may import which.
// The table here is the import column of the map in docs/architecture.md; a
// test compares the two, another one the table with the code, test files and
// files for other systems included.
package archtest

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Module is the path of this repository's Go module.
const Module = "github.com/1bit-MONSTER/engine"

// all stands for every folder.
const all = "all"

// rules is the map: a folder with what it may import of this module besides
// itself. The longest folder that holds a package is the one that counts.
var rules = map[string][]string{
	"pins":             {"internal"},
	"patches":          {"pins", "internal"},
	"pipelines":        {"pins", "patches", "engine/layout", "engine/devices", "internal"},
	"pipelines/dagger": {"pipelines"},
	"engine":           {"internal"},
	"ci":               {},
	"cmd":              {all},
	"internal":         {},
}

// leaves are folders that import nothing of this module; only their tests may
// use what their row allows.
var leaves = []string{"engine/devices", "engine/layout"}

// reserved are imports from outside that one folder alone may have.
var reserved = map[string][]string{
	"dagger.io/dagger": {"pipelines/build/daggerrunner", "pipelines/dagger"},
}

// A File is a Go source file and what it imports.
type File struct {
	Name    string // slash path from the root
	Imports []string
}

// Read parses the imports of every Go file below root, whatever system it is
// for, except test data and hidden folders.
func Read(root string) ([]File, error) {
	var files []File
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			base := d.Name()
			if rel != "." && (strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata" || base == "node_modules" || rel == "dist" || rel == "bin") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") || !d.Type().IsRegular() {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		f := File{Name: rel}
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return fmt.Errorf("%s: %w", rel, err)
			}
			f.Imports = append(f.Imports, imported)
		}
		files = append(files, f)
		return nil
	})
	return files, err
}

// Violations returns one sentence for each import that the table forbids.
func Violations(files []File) []string {
	var wrong []string
	for _, f := range files {
		folder := path.Dir(f.Name)
		row, known := rowOf(folder)
		if !known {
			wrong = append(wrong, fmt.Sprintf("%s: folder %s is not in the map: add it to internal/archtest and docs/architecture.md", f.Name, folder))
			continue
		}
		for _, imported := range f.Imports {
			if owners, ok := reservedBy(imported); ok && !slices.ContainsFunc(owners, func(o string) bool { return within(folder, o) }) {
				wrong = append(wrong, fmt.Sprintf("%s imports %s: only %s may", f.Name, imported, strings.Join(owners, ", ")))
			}
			target, ours := strings.CutPrefix(imported, Module+"/")
			if ours && !allowed(f.Name, row, target) {
				wrong = append(wrong, fmt.Sprintf("%s imports %s: %s/ may import %s", f.Name, target, row, sayAllowed(row)))
			}
		}
	}
	return wrong
}

func allowed(file, row, target string) bool {
	folder := path.Dir(file)
	if within(target, "cmd") {
		return target == folder // its own test package
	}
	for _, leaf := range leaves {
		if within(folder, leaf) && !strings.HasSuffix(file, "_test.go") {
			return false
		}
	}
	if targetRow, ok := rowOf(target); ok && targetRow == row {
		return true
	}
	return slices.ContainsFunc(rules[row], func(a string) bool { return a == all || within(target, a) })
}

func rowOf(folder string) (string, bool) {
	row, found := "", false
	for name := range rules {
		if within(folder, name) && len(name) > len(row) {
			row, found = name, true
		}
	}
	return row, found
}

func reservedBy(imported string) ([]string, bool) {
	for name, owners := range reserved {
		if within(imported, name) {
			return owners, true
		}
	}
	return nil, false
}

func within(name, folder string) bool { return name == folder || strings.HasPrefix(name, folder+"/") }

func sayAllowed(row string) string {
	if len(rules[row]) == 0 {
		return "nothing but itself"
	}
	return strings.Join(rules[row], ", ")
}

// Table reads the map of an architecture document: the rows of the table
// whose head is folder, what lives there, may import.
func Table(markdown string) (map[string][]string, error) {
	table := map[string][]string{}
	inside := false
	for line := range strings.Lines(markdown) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case len(cells) == 3 && cells[0] == "folder" && cells[2] == "may import":
			inside = true
		case !inside || strings.HasPrefix(cells[0], "---"):
		case len(cells) != 3:
			inside = false
		default:
			var may []string
			granted, _, _ := strings.Cut(cells[2], "never")
			for _, word := range quoted(granted) {
				may = append(may, strings.TrimSuffix(word, "/…"))
			}
			if cells[2] == all {
				may = []string{all}
			}
			for _, folder := range quoted(cells[0]) {
				table[strings.TrimSuffix(folder, "/")] = may
			}
		}
	}
	if len(table) == 0 {
		return nil, fmt.Errorf("no table with the head: folder, what lives there, may import")
	}
	return table, nil
}

// quoted returns what stands between backticks.
func quoted(s string) []string {
	var words []string
	for i, part := range strings.Split(s, "`") {
		if i%2 == 1 {
			words = append(words, part)
		}
	}
	return words
}

// Root returns the folder with go.mod above the working directory of a test.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if filepath.Dir(dir) == dir {
			return "", os.ErrNotExist
		}
	}
}
