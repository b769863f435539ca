// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits bound a tree. A field that is zero has its default.
type Limits struct {
	Depth   int // folders in folders; default 100
	Entries int // files and folders; default 1,000,000
	Path    int // bytes of a path; default 4,000
}

// An UnsafeTree says why a tree must not be written to a disk.
type UnsafeTree struct{ Path, Why string }

func (e *UnsafeTree) Error() string {
	return fmt.Sprintf("the tree is refused: %s: %s", inertQuote(e.Path), e.Why)
}

// A TreeReport is what CheckTree found in a tree that is safe.
type TreeReport struct {
	Entries []Entry // all but folders, sorted by the bytes of their paths; mode 100664 is given as 100644
	// Twins are groups of paths that are one file where upper and lower case
	// are not told apart. They are fine on Linux.
	Twins [][]string
}

// CheckTree walks a tree and refuses what could leave its folder, become git's
// own files or confuse what reads it: names that any system takes for .git,
// "..", ".", empty names, slashes, control characters, two entries of one name
// (which is how a symbolic link gets something inside), entries out of order,
// unknown modes, a symbolic link as .gitmodules, and trees above the limits.
// The error is an *UnsafeTree then.
func (r *Repo) CheckTree(ctx context.Context, tree ID, limits Limits) (*TreeReport, error) {
	c, err := r.CatFile(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.CheckTree(tree, limits)
}

// CheckTree is Repo.CheckTree in this process.
func (c *CatFile) CheckTree(tree ID, limits Limits) (*TreeReport, error) {
	if limits.Depth == 0 {
		limits.Depth = 100
	}
	if limits.Entries == 0 {
		limits.Entries = 1_000_000
	}
	if limits.Path == 0 {
		limits.Path = 4000
	}
	report := &TreeReport{}
	count := 0
	err := c.walk(tree, func(folder string, depth int, entries []TreeEntry) error {
		if depth > limits.Depth {
			return &UnsafeTree{folder, fmt.Sprintf("more than %d folders deep", limits.Depth)}
		}
		if count += len(entries); count > limits.Entries {
			return &UnsafeTree{folder, fmt.Sprintf("more than %d entries in all", limits.Entries)}
		}
		if err := checkEntries(folder, entries, limits); err != nil {
			return err
		}
		for _, e := range entries {
			if e.Mode == modeGroupWritable {
				e.Mode = ModeFile
			}
			if e.Mode != ModeTree {
				report.Entries = append(report.Entries, Entry{e.Mode, join(folder, e.Name), e.ID})
			}
		}
		report.Twins = append(report.Twins, twins(folder, entries)...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(report.Entries, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(report.Twins, slices.Compare)
	return report, nil
}

func checkEntries(folder string, entries []TreeEntry, limits Limits) error {
	seen := make(map[string]bool, len(entries))
	previous := ""
	for i, e := range entries {
		path := join(folder, e.Name)
		if why := unsafeName(e.Name); why != "" {
			return &UnsafeTree{path, why}
		}
		if len(path) > limits.Path {
			return &UnsafeTree{path, fmt.Sprintf("its path has more than %d bytes", limits.Path)}
		}
		switch e.Mode {
		case ModeTree, ModeFile, ModeExecutable, ModeSymlink, ModeSubmodule, modeGroupWritable:
		default:
			return &UnsafeTree{path, "its mode is " + e.Mode.String() + ", which git does not make"}
		}
		if e.Mode == ModeSymlink && sameAsDotGit(e.Name, "gitmodules", "gi7eba") {
			return &UnsafeTree{path, "it is a symbolic link in the place of .gitmodules"}
		}
		if seen[e.Name] {
			return &UnsafeTree{path, "the name is there twice"}
		}
		seen[e.Name] = true
		key := e.Name
		if e.Mode == ModeTree {
			key += "/"
		}
		if i > 0 && key <= previous {
			return &UnsafeTree{path, "the entries are not in git's order"}
		}
		previous = key
		if _, err := ParseID(string(e.ID)); err != nil {
			return &UnsafeTree{path, "its id is all zeros"}
		}
	}
	return nil
}

// unsafeName returns what is wrong with one name, or nothing.
func unsafeName(name string) string {
	switch {
	case name == "":
		return "a name is empty"
	case name == "." || name == "..":
		return "the name is a step to another folder"
	case strings.Contains(name, "/"):
		return "a name has a slash inside"
	case strings.ContainsFunc(name, func(r rune) bool { return r < 0x20 || r == 0x7f }):
		return "a name has control characters"
	}
	// Windows also takes a backslash for a slash, so that each part counts.
	for part := range strings.SplitSeq(name, `\`) {
		if sameAsDotGit(part, "git", "git") {
			return "some systems take the name for .git"
		}
		if part == ".." {
			return "some systems take the name for a step to another folder"
		}
	}
	return ""
}

// sameAsDotGit tells whether some file system takes name for "."+base: HFS+
// ignores case and some code points, NTFS ignores case, dots and blanks at the
// end and a stream's name, and has short names such as GIT~1; short is what
// NTFS makes of base when that is taken.
func sameAsDotGit(name, base, short string) bool {
	plain := strings.Map(func(r rune) rune {
		if ignoredByHFS(r) {
			return -1
		}
		return r
	}, name)
	plain, _, _ = strings.Cut(plain, ":")
	plain = strings.ToLower(strings.TrimRight(plain, ". "))
	if plain == "."+base {
		return true
	}
	// The first six letters, or four of a hash, then a number.
	stem, number, ok := strings.Cut(plain, "~")
	if !ok || len(number) == 0 || strings.Trim(number, "0123456789") != "" {
		return false
	}
	if base == "git" {
		return stem == "git"
	}
	return stem == base[:6] || strings.HasPrefix(short, stem) && len(stem) >= 2
}

// ignoredByHFS lists the code points that HFS+ leaves out of comparisons:
// https://github.com/git/git/commit/6162a1d323d24fd8cbbb1a6145a91fb849b2568f
func ignoredByHFS(r rune) bool {
	return r >= 0x200c && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x206a && r <= 0x206f || r == 0xfeff
}

func twins(folder string, entries []TreeEntry) [][]string {
	byFold := make(map[string][]string, len(entries))
	var out [][]string
	for _, e := range entries {
		key := e.Name
		if utf8.ValidString(key) {
			key = strings.ToLower(key)
		}
		byFold[key] = append(byFold[key], join(folder, e.Name))
	}
	for _, paths := range byFold {
		if len(paths) > 1 {
			slices.Sort(paths)
			out = append(out, paths)
		}
	}
	return out
}

// UnsafePath returns what is wrong with a path that a tree must not hold, for
// the same reasons as CheckTree's, or nothing.
func UnsafePath(path string) string {
	if len(path) > 4000 {
		return "it has more than 4000 bytes"
	}
	for name := range strings.SplitSeq(path, "/") {
		if why := unsafeName(name); why != "" {
			return why
		}
	}
	return ""
}
