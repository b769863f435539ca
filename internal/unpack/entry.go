// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package unpack

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// place checks that something may be put at name and makes its parents. It
// returns the path to use, which differs from clean's where the tree's own
// links were followed; "" means that the entry is to be skipped.
func (t *Tree) place(name string, kind fs.FileMode) (string, error) {
	if t.count++; t.count > t.o.entries {
		return "", &Refused{name, fmt.Sprintf("is one more than the %d entries allowed", t.o.entries)}
	}
	p, err := t.clean(name, kind == fs.ModeDir)
	if err != nil || p == "" {
		return "", err
	}
	if p == "." {
		if kind != fs.ModeDir {
			return "", &Refused{name, "would replace the folder itself"}
		}
		return p, nil
	}
	dir, err := t.parents(name, path.Dir(p))
	if err != nil {
		return "", err
	}
	p = path.Join(dir, path.Base(p))
	old, there := t.entries[p]
	switch {
	case !there:
	case kind == fs.ModeDir && old.kind == fs.ModeDir:
		return p, nil
	case kind == fs.ModeDir && old.kind == fs.ModeSymlink && t.o.throughLinks:
		return "", t.leads(name, p)
	case !t.o.replace || kind == fs.ModeDir || old.kind == fs.ModeDir:
		return "", &Refused{name, "is there already"}
	default:
		if err := t.root.Remove(p); err != nil {
			return "", local(err)
		}
		delete(t.entries, p)
		t.replaced = append(t.replaced, p)
	}
	return p, t.twin(name, p)
}

// twin notes or refuses a name that differs from another only in case.
func (t *Tree) twin(name, p string) error {
	low := strings.ToLower(p)
	first, ok := t.folded[low]
	if !ok {
		t.folded[low] = p
		return nil
	}
	if first == p {
		return nil
	}
	if t.o.foldCase {
		return &Refused{name, "differs from another only in upper and lower case"}
	}
	t.twins = append(t.twins, Twin{first, p})
	return nil
}

// leads checks that a link which stands where an entry wants a folder leads to
// one.
func (t *Tree) leads(name, p string) error {
	_, err := t.parents(name, p)
	return err
}

// parents returns dir with the tree's links followed, and makes what is
// missing. Links are followed only where the options allow it.
func (t *Tree) parents(name, dir string) (string, error) { return t.follow(name, dir, true) }

// follow is parents; without create a folder that is missing is an error.
func (t *Tree) follow(name, dir string, create bool) (string, error) {
	todo, at := strings.Split(dir, "/"), "."
	for hops := 0; len(todo) > 0; {
		part := todo[0]
		todo = todo[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			at = path.Dir(at)
			continue
		}
		next := path.Join(at, part)
		e, there := t.entries[next]
		switch {
		case !there && !create:
			return "", fs.ErrNotExist
		case !there:
			if t.count++; t.count > t.o.entries {
				return "", &Refused{name, fmt.Sprintf("needs more than the %d entries allowed", t.o.entries)}
			}
			if err := t.root.Mkdir(next, 0o755); err != nil {
				return "", local(err)
			}
			t.entries[next] = entry{kind: fs.ModeDir, mode: 0o755}
			if err := t.twin(name, next); err != nil {
				return "", err
			}
			at = next
		case e.kind == fs.ModeDir:
			at = next
		case e.kind == fs.ModeSymlink && t.o.throughLinks:
			if hops++; hops > 40 {
				return "", &Refused{name, "passes through links that go in circles"}
			}
			if strings.HasPrefix(e.target, "/") {
				at = "."
			}
			todo = append(strings.Split(e.target, "/"), todo...)
		case e.kind == fs.ModeSymlink:
			return "", &Refused{name, "passes through a link"}
		default:
			return "", &Refused{name, "lies below something that is no folder"}
		}
	}
	return at, nil
}

// local marks an error of this machine's file system.
func local(err error) error { return verdict.Infraf("unpack: %w", err) }

// folder takes a folder.
func (t *Tree) folder(name string, mode fs.FileMode, mtime time.Time) error {
	p, err := t.place(name, fs.ModeDir)
	if err != nil || p == "" {
		return err
	}
	m, rule := t.o.modeOf(p, mode|fs.ModeDir)
	if rule != "" {
		return &Refused{name, rule}
	}
	if _, there := t.entries[p]; !there {
		if err := t.root.Mkdir(p, 0o755); err != nil {
			return local(err)
		}
	}
	t.entries[p] = entry{kind: fs.ModeDir, mode: m, time: mtime}
	return nil
}

// file takes a file of exactly size bytes.
func (t *Tree) file(name string, mode fs.FileMode, mtime time.Time, size int64, r io.Reader) error {
	if size < 0 || size > t.o.bytes-t.written {
		return &Refused{name, fmt.Sprintf("exceeds the %d bytes that all files may have", t.o.bytes)}
	}
	p, err := t.place(name, 0)
	if err != nil || p == "" {
		return err
	}
	m, rule := t.o.modeOf(p, mode)
	if rule != "" {
		return &Refused{name, rule}
	}
	f, err := t.root.OpenFile(p, createFlags, 0o600)
	if err != nil {
		return local(err)
	}
	t.entries[p] = entry{mode: m, time: mtime}
	n, err := io.Copy(onlyWriter{f}, io.LimitReader(r, size))
	t.written += n
	if cerr := f.Close(); err == nil && cerr != nil {
		err = cerr
	}
	var pe *fs.PathError
	switch {
	case errors.As(err, &pe):
		return local(err)
	case err != nil:
		return broken(err)
	case n != size:
		return &Broken{fmt.Errorf("an entry ends after %d of %d bytes", n, size)}
	}
	return nil
}

// onlyWriter hides ReadFrom, which would bypass the limits of the reader.
type onlyWriter struct{ io.Writer }

// symlink takes a symbolic link.
func (t *Tree) symlink(name, target string, mtime time.Time) error {
	if rule := badName(target); rule != "" || len(target) > t.o.pathLength {
		return &Refused{name, "is a link whose target is no name"}
	}
	p, err := t.place(name, fs.ModeSymlink)
	if err != nil || p == "" {
		return err
	}
	if t.o.windows && badOnWindows(strings.ReplaceAll(target, "/", "")) {
		return &Refused{name, "is a link whose target Windows reads otherwise"}
	}
	if !t.o.rootLinks {
		end := path.Join(path.Dir(p), target)
		if path.IsAbs(target) || end == ".." || strings.HasPrefix(end, "../") {
			return &Refused{name, "is a link that leaves the folder"}
		}
	}
	if err := t.root.Symlink(target, p); err != nil {
		return local(err)
	}
	t.entries[p] = entry{kind: fs.ModeSymlink, target: target, time: mtime}
	t.links = append(t.links, p)
	return nil
}

// hardlink takes another name of a file that the archive brought earlier.
func (t *Tree) hardlink(name, target string) error {
	old, err := t.clean(target, false)
	if err == nil && old != "." {
		var dir string
		if dir, err = t.follow(target, path.Dir(old), false); err == nil {
			old = path.Join(dir, path.Base(old))
		}
	}
	e, there := t.entries[old]
	if err != nil || !there || e.kind != 0 {
		return &Refused{name, "is a link to something that is no file of this archive"}
	}
	p, err := t.place(name, 0)
	if err != nil || p == "" {
		return err
	}
	if _, there := t.entries[old]; !there {
		return &Refused{name, "is a link to itself"}
	}
	if err := t.root.Link(old, p); err != nil {
		return local(err)
	}
	t.entries[p] = e
	return nil
}

// finish sets modes and times, the deepest first.
func (t *Tree) finish() error {
	names := make([]string, 0, len(t.entries))
	for n := range t.entries {
		names = append(names, n)
	}
	slices.Sort(names)
	slices.Reverse(names) // a folder after all that is in it; "." is set last
	i := slices.Index(names, ".")
	names = append(slices.Delete(names, i, i+1), ".")
	for _, n := range names {
		e := t.entries[n]
		mtime := e.time
		if !t.o.modTime.IsZero() {
			mtime = t.o.modTime
		}
		if e.kind == fs.ModeSymlink {
			if !mtime.IsZero() {
				if err := linkTime(t.temp, n, mtime); err != nil {
					return err
				}
			}
			continue
		}
		if err := t.root.Chmod(n, e.mode); err != nil {
			return err
		}
		if !mtime.IsZero() {
			if err := t.root.Chtimes(n, mtime, mtime); err != nil {
				return err
			}
		}
	}
	return nil
}
