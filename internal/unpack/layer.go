// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package unpack

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
)

// What a layer of an OCI image says with names: that a file of the layers below
// is gone, and that all that they have in a folder is.
const (
	whiteout = ".wh."
	opaque   = ".wh..wh..opq"
)

// Layer lays one layer of an OCI image over the tree: what it marks as removed
// goes, then its entries take the place of others, whatever those were. The
// layer is read twice, as its marks count for the layers below it alone,
// wherever in it they stand. A tree for layers needs RootFS.
func (t *Tree) Layer(ctx context.Context, open func() (io.ReadCloser, error)) error {
	err := t.eachEntry(ctx, open, func(h *tar.Header, _ io.Reader, _ *counter) error {
		if _, mark := strings.CutPrefix(path.Base(path.Clean(h.Name)), whiteout); mark {
			return t.whiteOut(h.Name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return t.eachEntry(ctx, open, func(h *tar.Header, r io.Reader, packed *counter) error {
		if strings.HasPrefix(path.Base(path.Clean(h.Name)), whiteout) {
			return nil
		}
		if err := t.makeRoom(h); err != nil {
			return err
		}
		return t.tarEntry(h, r, packed)
	})
}

// eachEntry reads a tar stream.
func (t *Tree) eachEntry(ctx context.Context, open func() (io.ReadCloser, error), f func(*tar.Header, io.Reader, *counter) error) error {
	r, err := open()
	if err != nil {
		return err
	}
	err = t.entriesOf(ctx, r, f)
	return errors.Join(err, r.Close())
}

// whiteOut does what a mark says.
func (t *Tree) whiteOut(name string) error {
	p, err := t.clean(name, false)
	if err != nil {
		return err
	}
	dir, err := t.follow(name, path.Dir(p), false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nothing below has it
	}
	if err != nil {
		return err
	}
	base := path.Base(p)
	if base == opaque {
		for child := range t.entries {
			if child != "." && path.Dir(child) == dir {
				if err := t.remove(child); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if gone := strings.TrimPrefix(base, whiteout); gone != "" && gone != "." && gone != ".." {
		return t.remove(path.Join(dir, gone))
	}
	return &Refused{name, "marks nothing as removed"}
}

// makeRoom removes what an entry takes the place of, unless both are folders,
// or a folder comes where a link leads to one.
func (t *Tree) makeRoom(h *tar.Header) error {
	p, err := t.clean(h.Name, h.Typeflag == tar.TypeDir)
	if err != nil || p == "" || p == "." {
		return err
	}
	dir, err := t.follow(h.Name, path.Dir(p), false)
	if err != nil {
		return nil // its folder is made with it, or refused then
	}
	p = path.Join(dir, path.Base(p))
	old, there := t.entries[p]
	if !there || h.Typeflag == tar.TypeDir && old.kind == fs.ModeDir {
		return nil
	}
	if h.Typeflag == tar.TypeDir && old.kind == fs.ModeSymlink {
		if to, err := t.follow(h.Name, p, false); err == nil && t.entries[to].kind == fs.ModeDir {
			return nil
		}
	}
	if h.Typeflag == tar.TypeLink && old.kind == 0 {
		if target, err := t.clean(h.Linkname, false); err == nil && target == p {
			return nil // refused as a link to itself
		}
	}
	return t.remove(p)
}

// remove takes a path and all below it out of the tree.
func (t *Tree) remove(p string) error {
	old, there := t.entries[p]
	if !there {
		return nil
	}
	if err := t.root.RemoveAll(p); err != nil {
		return local(err)
	}
	if old.kind != fs.ModeDir {
		delete(t.entries, p) // folded may keep it: the next of that name takes it over
		return nil
	}
	for name := range t.entries {
		if name == p || strings.HasPrefix(name, p+"/") {
			delete(t.entries, name)
			if low := strings.ToLower(name); t.folded[low] == name {
				delete(t.folded, low)
			}
		}
	}
	return nil
}
