// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package archive writes .tar.zst files that are a function of their content
// alone: entries sorted by name, one time for all, root as owner, modes 0644 or
// 0755, symbolic links as they are, no extended headers but for long names, one
// compressor thread.
package archive

import (
	"archive/tar"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

// A File is one file of an archive.
type File struct {
	Name string // with slashes, relative, clean
	Exec bool   // mode 0755, otherwise 0644
	Link string // the target, where it is a symbolic link; it has no content then
	Size int64
	Open func() (io.ReadCloser, error)
}

// Bytes returns a File with the given content.
func Bytes(name string, content []byte) File {
	return File{Name: name, Size: int64(len(content)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(string(content))), nil
	}}
}

// Write writes files, in the order of their names and below the folder top, as
// a zstd-compressed tar to w. Every entry has the time mtime, to the second.
// Names that are absolute, not clean, leave the folder or occur twice are
// errors.
func Write(w io.Writer, top string, mtime time.Time, files []File) error {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	dirs := map[string]bool{}
	for i, f := range files {
		if !fs.ValidPath(f.Name) || f.Name == "." {
			return fmt.Errorf("archive: bad name %q", f.Name)
		}
		if i > 0 && files[i-1].Name == f.Name {
			return fmt.Errorf("archive: %s occurs twice", f.Name)
		}
		name := path.Join(top, f.Name)
		if err := writeDirs(t, path.Dir(name), mtime, dirs); err != nil {
			return err
		}
		if err := writeFile(t, name, mtime, f); err != nil {
			return fmt.Errorf("archive: %s: %w", f.Name, err)
		}
	}
	if err := t.Close(); err != nil {
		return err
	}
	return z.Close()
}

// writeDirs writes the folders on the way to dir that were not written yet.
func writeDirs(t *tar.Writer, dir string, mtime time.Time, written map[string]bool) error {
	if dir == "." || written[dir] {
		return nil
	}
	if err := writeDirs(t, path.Dir(dir), mtime, written); err != nil {
		return err
	}
	written[dir] = true
	return t.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o755, ModTime: mtime.Truncate(time.Second)})
}

func writeFile(t *tar.Writer, name string, mtime time.Time, f File) error {
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: f.Size, ModTime: mtime.Truncate(time.Second)}
	if f.Link != "" {
		h.Typeflag, h.Linkname, h.Mode, h.Size = tar.TypeSymlink, f.Link, 0o777, 0
		return t.WriteHeader(h)
	}
	if f.Exec {
		h.Mode = 0o755
	}
	if err := t.WriteHeader(h); err != nil {
		return err
	}
	r, err := f.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	n, err := io.Copy(t, r)
	if err == nil && n != f.Size {
		err = fmt.Errorf("%d bytes, %d were announced", n, f.Size)
	}
	return err
}
