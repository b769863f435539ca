// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package gguf

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/bits"
	"os"
)

// Read reads the header of the file at path. Only the header is read. The
// error is an *Error when the file is not a GGUF file that can be used, and
// the system's error when it can not be opened.
func Read(path string, opts ...Option) (*Header, error) {
	info, err := os.Stat(path) // before opening: a named pipe would block there
	if err != nil {
		return nil, plain(path, err)
	}
	if info.IsDir() {
		return nil, &Error{Kind: NotGGUF, Path: path, Text: "is a directory, not a GGUF file"}
	}
	if !info.Mode().IsRegular() {
		return nil, &Error{Kind: NotGGUF, Path: path, Text: "is not a regular file"}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, plain(path, err)
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, plain(path, err)
	}
	h, err := ReadFrom(f, info.Size(), opts...)
	if err != nil {
		var e *Error
		if errors.As(err, &e) {
			e.Path = path
			return nil, e
		}
		return nil, plain(path, err)
	}
	h.Path = path
	return h, nil
}

// plain is err without the name of the system call.
func plain(path string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("%s: %w", path, err)
}

// ReadFrom reads a header from r, the beginning of a file of size bytes.
func ReadFrom(r io.Reader, size int64, opts ...Option) (*Header, error) {
	rd := newReader(r, size)
	for _, o := range opts {
		o(rd)
	}
	h := &Header{Size: size, Alignment: 32, values: map[string]value{}}
	keys, tensors, err := rd.preamble(h)
	if err != nil {
		return nil, err
	}
	if err := rd.metadata(h, keys); err != nil {
		return nil, err
	}
	if _, ok := h.values["general.alignment"]; ok {
		a, isInt := h.Int("general.alignment")
		if !isInt || a < 8 || a > 1<<20 || bits.OnesCount64(uint64(a)) != 1 {
			return nil, rd.fail(Malformed, "general.alignment is not a power of two between 8 and %d", 1<<20)
		}
		h.Alignment = a
	}
	if err := rd.tensors(h, tensors); err != nil {
		return nil, err
	}
	return h, nil
}

// preamble reads magic, version and the two counts.
func (r *reader) preamble(h *Header) (keys, tensors uint64, err error) {
	var magic [4]byte
	n, err := io.ReadFull(r.in, magic[:])
	r.offset += int64(n)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, 0, err
	}
	if string(magic[:n]) != "GGUF" {
		if n == 0 {
			return 0, 0, &Error{Kind: NotGGUF, Text: "is empty, not a GGUF file"}
		}
		return 0, 0, &Error{Kind: NotGGUF, Text: "is not a GGUF file: it does not begin with GGUF"}
	}
	v, err := r.u32("the version")
	if err != nil {
		return 0, 0, err
	}
	switch swapped := bits.ReverseBytes32(v); {
	case v == 2 || v == 3:
		h.Version = v
	case swapped >= 1 && swapped <= 0xffff:
		return 0, 0, r.fail(BigEndian, "is a big-endian GGUF file; only little-endian ones can be used here")
	default:
		return 0, 0, r.fail(Unsupported, "has GGUF version %d; versions 2 and 3 can be read", v)
	}
	if tensors, err = r.u64("the number of tensors"); err != nil {
		return 0, 0, err
	}
	if err = r.within("tensors", tensors, r.limits.Tensors, minTensor); err != nil {
		return 0, 0, err
	}
	if keys, err = r.u64("the number of keys"); err != nil {
		return 0, 0, err
	}
	return keys, tensors, r.within("metadata keys", keys, r.limits.Keys, minKey)
}
