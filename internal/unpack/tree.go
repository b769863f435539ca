// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package unpack turns archives that nobody here made into folders: tar (plain,
// gzip, bzip2, zstd, xz), zip, and the data of Debian packages.
//
// It is for fetch, toolchain and the store. Work goes into a folder beside the
// target that becomes the target in one rename ([Tree.Commit]), so a refused or
// interrupted archive leaves nothing that looks finished. All access is through
// os.Root; on top of that an entry is refused, by a [Refused] error that names
// it and the rule, when it could leave the folder, is no file, folder or link,
// or passes a limit.
//
// Limits: owners, groups, extended attributes and access lists are not kept.
// The xz decoder may use as much memory as a stream's dictionary asks for; a
// first block that asks for more than 256 MiB is refused.
package unpack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/rmtree"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// Refused is an entry, or an archive, that breaks a rule.
type Refused struct {
	Name string // of the entry, as the archive has it; "" for the whole archive
	Rule string
}

func (e *Refused) Error() string {
	if e.Name == "" {
		return "archive refused: " + e.Rule
	}
	return fmt.Sprintf("archive refused: entry %s %s", inert.Quote(e.Name, 120), e.Rule)
}

// Broken is an archive that cannot be read to its end.
type Broken struct{ Err error }

func (e *Broken) Error() string { return fmt.Sprintf("archive is damaged or cut short: %v", e.Err) }
func (e *Broken) Unwrap() error { return e.Err }

// A Twin is a pair of names that are one on a case-folding file system.
type Twin struct{ First, Second string }

// A Tree is a folder in the making. Any number of archives go into it, then
// Commit makes it the target or Discard forgets it.
type Tree struct {
	target, temp string
	root         *os.Root
	o            options
	entries      map[string]entry  // by clean path
	folded       map[string]string // lower-case path to path
	links        []string          // symlinks, in order
	twins        []Twin
	replaced     []string
	written      int64 // bytes, of all archives
	count        int
}

// entry is what the tree holds at a path.
type entry struct {
	kind   fs.FileMode // the type bits
	mode   fs.FileMode // as it will be
	time   time.Time
	target string // of a symlink
}

// Begin makes a Tree that will become the folder target. The target must not be
// there, or be an empty folder; its parent must be there.
func Begin(target string, opts ...Option) (*Tree, error) {
	o, err := build(opts)
	if err != nil {
		return nil, err
	}
	target = filepath.Clean(target)
	if list, err := os.ReadDir(target); err == nil && len(list) > 0 {
		return nil, fmt.Errorf("unpack into %s: the folder is not empty", target)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	temp, err := os.MkdirTemp(filepath.Dir(target), "."+filepath.Base(target)+".unpack-*")
	if err != nil {
		return nil, verdict.Infraf("unpack: %w", err)
	}
	root, err := os.OpenRoot(temp)
	if err != nil {
		os.RemoveAll(temp)
		return nil, verdict.Infraf("unpack: %w", err)
	}
	return &Tree{target: target, temp: temp, root: root, o: o,
		entries: map[string]entry{".": {kind: fs.ModeDir, mode: 0o755}}, folded: map[string]string{}}, nil
}

// Discard removes what was unpacked; after Commit it does nothing.
func (t *Tree) Discard() {
	if t.root == nil {
		return
	}
	t.root.Close()
	t.root = nil
	rmtree.All(t.temp)
}

// Twins returns the names that a case-folding file system cannot tell apart.
func (t *Tree) Twins() []Twin { return t.twins }

// Has reports whether the tree has something at a clean path that names no
// link on its way.
func (t *Tree) Has(name string) bool { _, there := t.entries[name]; return there }

// Replaced returns the paths at which a file or link took the place of another,
// in order, as often as it happened.
func (t *Tree) Replaced() []string { return t.replaced }

// Bytes returns how many bytes of files were written.
func (t *Tree) Bytes() int64 { return t.written }

// Entries returns how many entries were taken.
func (t *Tree) Entries() int { return t.count }

// into runs f on a new Tree and commits it.
func into(target string, opts []Option, f func(*Tree) error) error {
	t, err := Begin(target, opts...)
	if err != nil {
		return err
	}
	defer t.Discard()
	if err := f(t); err != nil {
		return err
	}
	return t.Commit()
}

// clean checks the name of an entry and returns its path in the tree: "." for
// the top, "" for an entry that the stripped components swallowed.
func (t *Tree) clean(name string, dir bool) (string, error) {
	refuse := func(rule string) (string, error) { return "", &Refused{name, rule} }
	if rule := badName(name); rule != "" {
		return refuse(rule)
	}
	if len(name) > t.o.pathLength {
		return refuse(fmt.Sprintf("has a name of more than %d bytes", t.o.pathLength))
	}
	if strings.HasPrefix(name, "/") {
		return refuse("has an absolute name")
	}
	rest := name
	if t.o.prefix != "" {
		var ok bool
		if rest, ok = strings.CutPrefix(name, t.o.prefix); !ok {
			return refuse("is outside the prefix " + inert.Quote(t.o.prefix, 120))
		}
	}
	var parts []string
	for p := range strings.SplitSeq(rest, "/") {
		switch {
		case p == "" || p == ".":
			continue
		case p == "..":
			return refuse(`has ".." in its name`)
		case len(p) > 255:
			return refuse("has a component of more than 255 bytes")
		case !t.o.git && gitSpelling(p):
			return refuse("is a .git folder or file")
		case (t.o.windows || runtime.GOOS == "windows") && badOnWindows(p):
			return refuse("has a name that Windows reads otherwise")
		}
		parts = append(parts, p)
	}
	if len(parts) < t.o.strip || len(parts) == t.o.strip && t.o.strip > 0 {
		if dir {
			return "", nil
		}
		return refuse(fmt.Sprintf("lies above the %d components to be stripped", t.o.strip))
	}
	if parts = parts[t.o.strip:]; len(parts) > t.o.depth {
		return refuse(fmt.Sprintf("is more than %d folders deep", t.o.depth))
	}
	if len(parts) == 0 {
		return ".", nil
	}
	return path.Join(parts...), nil
}

// Commit sets modes and times and makes the folder the target.
func (t *Tree) Commit() error {
	if t.root == nil {
		return errors.New("unpack: the tree is gone")
	}
	for _, l := range t.links {
		e := t.entries[l]
		if t.o.rootLinks || e.kind != fs.ModeSymlink {
			continue
		}
		// A chain of links can leave where none of them does alone.
		if _, err := t.root.Stat(l); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return &Refused{l, "is a link that leaves the folder, or goes in circles, by way of others"}
		}
	}
	if err := t.finish(); err != nil {
		return verdict.Infraf("unpack: %w", err)
	}
	t.root.Close()
	t.root = nil
	os.Remove(t.target) // an empty folder, where one was there
	if err := os.Rename(t.temp, t.target); err != nil {
		rmtree.All(t.temp)
		return verdict.Infraf("unpack into %s: %w", t.target, err)
	}
	return nil
}

// cancelled returns the cause of a context that ended.
func cancelled(ctx context.Context) error {
	if ctx.Err() != nil {
		return fmt.Errorf("unpack: %w", context.Cause(ctx))
	}
	return nil
}
