// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package unpack

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// Zip unpacks a zip of size bytes into the folder target, in one step. The
// central directory counts; what the local headers say is not looked at.
func Zip(ctx context.Context, r io.ReaderAt, size int64, target string, opts ...Option) error {
	return into(target, opts, func(t *Tree) error { return t.Zip(ctx, r, size) })
}

// Zip adds a zip of size bytes to the tree.
func (t *Tree) Zip(ctx context.Context, r io.ReaderAt, size int64) error {
	z, err := zip.NewReader(r, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return broken(err)
	}
	if len(z.File) > t.o.entries {
		return &Refused{"", fmt.Sprintf("it has more than %d entries", t.o.entries)}
	}
	packed := &counter{n: size}
	lim := &limiter{t: t, packed: packed, ctx: ctx}
	for _, f := range z.File {
		if err := cancelled(ctx); err != nil {
			return err
		}
		if err := t.zipEntry(f, lim); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tree) zipEntry(f *zip.File, lim *limiter) error {
	if strings.Contains(f.Name, `\`) {
		return &Refused{f.Name, "has a backslash in its name"}
	}
	if f.Flags&1 != 0 {
		return &Refused{f.Name, "is encrypted"}
	}
	mode := f.Mode()
	if strings.HasSuffix(f.Name, "/") || mode.IsDir() {
		return t.folder(f.Name, mode, f.Modified)
	}
	if mode.Type() != 0 && mode.Type() != fs.ModeSymlink {
		return &Refused{f.Name, "is a device, a fifo or a socket"}
	}
	if f.UncompressedSize64 > uint64(t.o.bytes) {
		return &Refused{f.Name, fmt.Sprintf("exceeds the %d bytes that all files may have", t.o.bytes)}
	}
	r, err := f.Open()
	if err != nil {
		return broken(err)
	}
	defer r.Close()
	lim.r = r
	if mode.Type() == fs.ModeSymlink {
		target, err := io.ReadAll(io.LimitReader(lim, int64(t.o.pathLength)+1))
		if err != nil {
			return broken(err)
		}
		return t.symlink(f.Name, string(target), f.Modified)
	}
	if err := t.file(f.Name, mode, f.Modified, int64(f.UncompressedSize64), lim); err != nil {
		return err
	}
	// One more read sees the end, where the checksum is looked at.
	if n, err := lim.Read(make([]byte, 1)); n != 0 {
		return &Broken{fmt.Errorf("an entry is longer than it says")}
	} else if err != nil && err != io.EOF {
		return broken(err)
	}
	return nil
}

// ModuleZip unpacks a Go module zip, all of whose names begin with prefix
// ("golang.org/toolchain@v0.0.1-go1.27.4.linux-amd64/"), into the folder target.
// Module zips record no modes: give ExecBits([GoToolchain]) for a toolchain.
func ModuleZip(ctx context.Context, r io.ReaderAt, size int64, target, prefix string, opts ...Option) error {
	return Zip(ctx, r, size, target, append([]Option{StripPrefix(prefix)}, opts...)...)
}
