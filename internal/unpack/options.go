// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package unpack

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Setid says what happens to setuid, setgid and sticky bits.
type Setid int

// What to do with setuid and setgid bits.
const (
	RefuseSetid Setid = iota // an entry that has one is refused
	ClearSetid               // it is unpacked without
	KeepSetid                // it is kept, where modes are kept
)

type options struct {
	bytes, ratioFrom int64
	entries          int
	pathLength       int
	depth            int
	ratio            int64
	strip            int
	prefix           string
	modTime          time.Time
	keepModes        bool
	exec             func(string) bool
	setid            Setid
	git              bool
	replace          bool
	throughLinks     bool
	rootLinks        bool
	foldCase         bool
	windows          bool
}

// An Option changes how a Tree is made; it fails when its value makes no sense.
type Option func(*options) error

func build(opts []Option) (options, error) {
	o := options{bytes: 16 << 30, entries: 1 << 20, pathLength: 4096, depth: 64, ratio: 250, ratioFrom: 32 << 20}
	for _, f := range opts {
		if err := f(&o); err != nil {
			return o, err
		}
	}
	return o, nil
}

func positive[T int | int64](what string, field func(*options) *T, v T) Option {
	return func(o *options) error {
		if v <= 0 {
			return fmt.Errorf("unpack: the limit of %s is more than zero", what)
		}
		*field(o) = v
		return nil
	}
}

// MaxBytes limits the unpacked bytes of all archives of a tree, headers
// included; 16 GiB by default.
func MaxBytes(n int64) Option {
	return positive("bytes", func(o *options) *int64 { return &o.bytes }, n)
}

// MaxEntries limits the number of entries; 1,048,576 by default.
func MaxEntries(n int) Option {
	return positive("entries", func(o *options) *int { return &o.entries }, n)
}

// MaxPath limits a name, in bytes; 4096 by default.
func MaxPath(n int) Option {
	return positive("names", func(o *options) *int { return &o.pathLength }, n)
}

// MaxDepth limits how deep folders nest; 64 by default.
func MaxDepth(n int) Option {
	return positive("depth", func(o *options) *int { return &o.depth }, n)
}

// MaxRatio limits unpacked to packed bytes, looked at once more than from bytes
// were unpacked; 250 from 32 MiB on by default.
func MaxRatio(ratio, from int64) Option {
	return func(o *options) error {
		if ratio <= 0 || from < 0 {
			return errors.New("unpack: a ratio is more than zero, where it starts not negative")
		}
		o.ratio, o.ratioFrom = ratio, from
		return nil
	}
}

// Strip removes the first n components of every name. A folder with no more is
// skipped, anything else with no more refused.
func Strip(n int) Option {
	return func(o *options) error {
		if n < 0 {
			return errors.New("unpack: stripped components are not negative")
		}
		o.strip = n
		return nil
	}
}

// StripPrefix removes prefix, which ends with a slash, from every name; a name
// without it is refused. Go module zips have "module@version/".
func StripPrefix(prefix string) Option {
	return func(o *options) error {
		if !strings.HasSuffix(prefix, "/") {
			return errors.New("unpack: a prefix ends with a slash")
		}
		o.prefix = prefix
		return nil
	}
}

// ModTime gives everything one modification time, instead of the archive's.
func ModTime(t time.Time) Option {
	return func(o *options) error {
		if t.IsZero() {
			return errors.New("unpack: the modification time is not set")
		}
		o.modTime = t
		return nil
	}
}

// KeepModes keeps permission bits. Otherwise folders and executables are 0755
// and files 0644.
func KeepModes() Option { return func(o *options) error { o.keepModes = true; return nil } }

// ExecBits says by its path in the tree which file is executable, for archives
// that do not record it. It replaces what the archive says.
func ExecBits(f func(name string) bool) Option {
	return func(o *options) error {
		if f == nil {
			return errors.New("unpack: no function for executable bits")
		}
		o.exec = f
		return nil
	}
}

// GoToolchain reports whether a file of a Go toolchain's module zip, by its
// path below the prefix, is to be executable.
func GoToolchain(name string) bool {
	return strings.HasPrefix(name, "bin/") || strings.HasPrefix(name, "pkg/tool/") ||
		strings.HasPrefix(name, "lib/wasm/go_") && strings.HasSuffix(name, "_exec") ||
		strings.HasPrefix(name, "misc/") && strings.HasSuffix(name, "_exec") ||
		strings.HasSuffix(name, ".bash") || strings.HasSuffix(name, ".pl") || strings.HasSuffix(name, ".rc")
}

// SetidBits says what to do with setuid, setgid and sticky bits of files and
// setuid and setgid bits of folders; they are refused by default.
func SetidBits(s Setid) Option {
	return func(o *options) error {
		if s < RefuseSetid || s > KeepSetid {
			return errors.New("unpack: no such way with setuid bits")
		}
		o.setid = s
		return nil
	}
}

// AllowGit permits entries that are a .git folder or file.
func AllowGit() Option { return func(o *options) error { o.git = true; return nil } }

// Replace lets a later file or link take the place of an earlier one, as
// packages that are unpacked over each other do.
func Replace() Option { return func(o *options) error { o.replace = true; return nil } }

// RootFS is for the root file system of a container: absolute link targets are
// kept (they count from the new root), and entries may pass through links to
// folders of the tree (/lib to usr/lib).
func RootFS() Option {
	return func(o *options) error { o.rootLinks, o.throughLinks = true, true; return nil }
}

// FoldCase refuses names that differ only in case, for targets on a
// case-folding file system. Otherwise Tree.Twins reports them.
func FoldCase() Option { return func(o *options) error { o.foldCase = true; return nil } }

// WindowsNames refuses names that Windows would read otherwise, on any system.
func WindowsNames() Option { return func(o *options) error { o.windows = true; return nil } }

// badName returns why no file may have a name, or "".
func badName(name string) string {
	if name == "" {
		return "has no name"
	}
	if !utf8.ValidString(name) {
		return "has a name that is no UTF-8"
	}
	for _, r := range name {
		if unicode.IsControl(r) {
			return "has a control character in its name"
		}
	}
	return ""
}

// gitSpelling reports whether some file system takes a component for ".git":
// another case, trailing dots and spaces, streams and short names of NTFS,
// characters that HFS+ ignores.
func gitSpelling(p string) bool {
	p = strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point) {
			return -1
		}
		return unicode.ToLower(r)
	}, p)
	p, _, _ = strings.Cut(p, ":")
	p, _, _ = strings.Cut(p, `\`)
	p = strings.TrimRight(p, ". ")
	return p == ".git" || p == "git~1"
}

// badOnWindows reports whether Windows reads a component otherwise.
func badOnWindows(p string) bool {
	if strings.ContainsAny(p, `\:*?"<>|`) || strings.TrimRight(p, ". ") != p {
		return true
	}
	base, _, _ := strings.Cut(strings.ToLower(p), ".")
	switch base {
	case "con", "prn", "aux", "nul", "conin$", "conout$":
		return true
	}
	return len(base) == 4 && (strings.HasPrefix(base, "com") || strings.HasPrefix(base, "lpt")) && base[3] >= '0' && base[3] <= '9'
}

// modeOf returns the mode of an entry, and a rule that it breaks.
func (o *options) modeOf(path string, mode fs.FileMode) (fs.FileMode, string) {
	set := mode & (fs.ModeSetuid | fs.ModeSetgid)
	if mode.IsRegular() {
		set = mode & (fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)
	}
	if set != 0 && o.setid == RefuseSetid {
		return 0, "has a setuid, setgid or sticky bit"
	}
	if o.exec != nil && mode.IsRegular() {
		if mode &^= 0o111; o.exec(path) {
			mode |= 0o111
		}
	}
	switch {
	case o.keepModes && o.setid == KeepSetid:
		return mode & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky), ""
	case o.keepModes:
		return mode & (fs.ModePerm | sticky(mode)), ""
	case mode.IsDir() || mode&0o100 != 0:
		return 0o755, ""
	}
	return 0o644, ""
}

// sticky returns the sticky bit of a folder (/tmp), which gives nobody rights.
func sticky(mode fs.FileMode) fs.FileMode {
	if mode.IsDir() {
		return fs.ModeSticky
	}
	return 0
}
