// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package unpack

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// Tar unpacks a tar stream, whose compression is told by its first bytes, into
// the folder target, in one step.
func Tar(ctx context.Context, r io.Reader, target string, opts ...Option) error {
	return into(target, opts, func(t *Tree) error { return t.Tar(ctx, r) })
}

// Tar adds a tar stream to the tree.
func (t *Tree) Tar(ctx context.Context, r io.Reader) error { return t.entriesOf(ctx, r, t.tarEntry) }

// entriesOf calls f for each entry of a tar stream.
func (t *Tree) entriesOf(ctx context.Context, r io.Reader, f func(*tar.Header, io.Reader, *counter) error) error {
	packed := &counter{r: r}
	plain, done, err := decompress(packed)
	if err != nil {
		return err
	}
	defer done()
	lim := &limiter{r: plain, t: t, packed: packed, ctx: ctx}
	tr := tar.NewReader(lim)
	for {
		h, err := tr.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return broken(err)
		}
		if err := cancelled(ctx); err != nil {
			return err
		}
		if err := f(h, tr, packed); err != nil {
			return err
		}
	}
	// To the end, so that the checksum of the compression is looked at.
	if _, err := io.Copy(io.Discard, lim); err != nil {
		return broken(err)
	}
	return nil
}

func (t *Tree) tarEntry(h *tar.Header, r io.Reader, packed *counter) error {
	mode := h.FileInfo().Mode()
	switch h.Typeflag {
	case tar.TypeXGlobalHeader:
		return nil
	case tar.TypeDir:
		return t.folder(h.Name, mode, h.ModTime)
	case tar.TypeReg, tar.TypeGNUSparse:
		// A sparse file is larger than what the stream holds.
		if h.Size > t.o.ratioFrom && h.Size/t.o.ratio > packed.n {
			if h.Typeflag == tar.TypeGNUSparse || h.PAXRecords["GNU.sparse.major"] != "" || h.PAXRecords["GNU.sparse.map"] != "" {
				return &Refused{h.Name, fmt.Sprintf("is a sparse file that unpacks to more than %d times its size", t.o.ratio)}
			}
		}
		return t.file(h.Name, mode&^fs.ModeType, h.ModTime, h.Size, r)
	case tar.TypeSymlink:
		return t.symlink(h.Name, h.Linkname, h.ModTime)
	case tar.TypeLink:
		return t.hardlink(h.Name, h.Linkname)
	case tar.TypeChar, tar.TypeBlock:
		return &Refused{h.Name, "is a device"}
	case tar.TypeFifo:
		return &Refused{h.Name, "is a fifo"}
	}
	return &Refused{h.Name, fmt.Sprintf("is of the unknown kind %q", h.Typeflag)}
}

// broken keeps errors of this package and marks the rest as a damaged archive.
func broken(err error) error {
	var refused *Refused
	var ended *ended
	switch {
	case errors.As(err, &refused):
		return refused
	case errors.As(err, &ended):
		return ended.err
	case errors.Is(err, io.EOF):
		err = io.ErrUnexpectedEOF
	}
	return &Broken{err}
}

// ended carries the end of a context through a decoder.
type ended struct{ err error }

func (e *ended) Error() string { return e.err.Error() }

// counter counts packed bytes.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// limiter holds an unpacked stream against the limits of bytes and ratio, and
// ends it with its context.
type limiter struct {
	r      io.Reader
	t      *Tree
	packed *counter
	ctx    context.Context
	n      int64
}

func (l *limiter) Read(p []byte) (int, error) {
	if err := cancelled(l.ctx); err != nil {
		return 0, &ended{err}
	}
	n, err := l.r.Read(p)
	l.n += int64(n)
	o := &l.t.o
	if l.n > o.bytes {
		return 0, &Refused{"", fmt.Sprintf("it unpacks to more than %d bytes", o.bytes)}
	}
	if l.n > o.ratioFrom && l.n/o.ratio > l.packed.n {
		return 0, &Refused{"", fmt.Sprintf("it unpacks to more than %d times its size", o.ratio)}
	}
	return n, err
}

// maxWindow is the most memory that a stream may ask its decoder for, in bytes.
const maxWindow = 256 << 20

// decompress tells the compression of r by its first bytes and undoes it.
func decompress(r io.Reader) (io.Reader, func(), error) {
	b := bufio.NewReaderSize(r, 64<<10)
	head, _ := b.Peek(32)
	none := func() {}
	switch {
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, none, broken(err)
		}
		return z, none, nil
	case bytes.HasPrefix(head, []byte("BZh")):
		return bzip2.NewReader(b), none, nil
	case bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")):
		z, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, none, broken(err)
		}
		return z, z.Close, nil
	case bytes.HasPrefix(head, []byte("\xfd7zXZ\x00")):
		if dictionary(head) > maxWindow {
			return nil, none, &Refused{"", "its xz stream asks for more than 256 MiB of memory"}
		}
		z, err := xz.ReaderConfig{DictCap: 1 << 16}.NewReader(b)
		if err != nil {
			return nil, none, broken(err)
		}
		return z, none, nil
	}
	return b, none, nil
}

// dictionary returns the size of the dictionary that the first block of an xz
// stream names, in bytes; 0 when it cannot be told.
func dictionary(head []byte) int64 {
	if len(head) < 18 || head[12] == 0 {
		return 0
	}
	i := 14
	for _, bit := range []byte{0x40, 0x80} { // sizes that may be stated
		if head[13]&bit == 0 {
			continue
		}
		for i < len(head) && head[i]&0x80 != 0 {
			i++
		}
		i++
	}
	if i+2 >= len(head) || head[i] != 0x21 || head[i+1] != 1 {
		return 0
	}
	bits := head[i+2] & 0x3f
	return (2 | int64(bits&1)) << (bits/2 + 11)
}

// Decompress writes what r holds to w, decompressed; the compression is told by
// its first bytes. More than most bytes, or more than 250 times of what was read
// once it is 32 MiB, is refused.
func Decompress(ctx context.Context, w io.Writer, r io.Reader, most int64) error {
	o, err := build([]Option{MaxBytes(most)})
	if err != nil {
		return err
	}
	packed := &counter{r: r}
	plain, done, err := decompress(packed)
	if err != nil {
		return err
	}
	defer done()
	_, err = io.Copy(w, &limiter{r: plain, t: &Tree{o: o}, packed: packed, ctx: ctx})
	var pe *fs.PathError
	switch {
	case errors.As(err, &pe):
		return local(err)
	case err != nil:
		return broken(err)
	}
	return nil
}
