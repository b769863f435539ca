// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package gguf

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// The fewest bytes that one of a thing takes in a file: what a stated count
// is held against before anything is allocated for it.
const (
	minKey    = 8 + 4 + 1         // length of the name, type, value of one byte
	minTensor = 8 + 4 + 8 + 4 + 8 // length of the name, dimensions, one of them, type, offset
	minString = 8
)

// A reader reads a header in order and knows where it is.
type reader struct {
	in     *bufio.Reader
	size   int64 // of the file
	offset int64
	limits Limits
	keep   map[string]bool
}

func newReader(in io.Reader, size int64) *reader {
	return &reader{
		in:     bufio.NewReaderSize(in, 64<<10),
		size:   size,
		limits: DefaultLimits(),
		keep:   map[string]bool{},
	}
}

// fail returns an Error at the present place.
func (r *reader) fail(kind Kind, format string, args ...any) error {
	return &Error{Kind: kind, Offset: r.offset, Text: fmt.Sprintf(format, args...)}
}

// within refuses a count above its limit, and one that the rest of the file
// can not hold at the given number of bytes each.
func (r *reader) within(what string, count, limit uint64, each int) error {
	if count > limit {
		return r.fail(TooLarge, "states %d %s; the limit is %d", count, what, limit)
	}
	if left := r.size - r.offset; left < 0 || count > uint64(left)/uint64(each) {
		return r.fail(Truncated, "states %d %s, more than the file can hold", count, what)
	}
	return nil
}

// next checks that n more bytes belong to the header and are in the file.
func (r *reader) next(n int64, what string) error {
	if r.offset+n > r.limits.Header {
		return r.fail(TooLarge, "has a header of more than %d bytes", r.limits.Header)
	}
	if r.offset+n > r.size {
		return r.fail(Truncated, "the file ends inside %s: it is cut off", what)
	}
	return nil
}

// ended turns an end of the stream before the stated size into Truncated.
func (r *reader) ended(err error, what string) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return r.fail(Truncated, "the file ends inside %s: it is cut off", what)
	}
	return err
}

// fixed returns the next n <= 8 bytes; they are valid until the next read.
func (r *reader) fixed(n int, what string) ([]byte, error) {
	if err := r.next(int64(n), what); err != nil {
		return nil, err
	}
	b, err := r.in.Peek(n)
	if err != nil {
		return nil, r.ended(err, what)
	}
	r.in.Discard(n)
	r.offset += int64(n)
	return b, nil
}

func (r *reader) u32(what string) (uint32, error) {
	b, err := r.fixed(4, what)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}

func (r *reader) u64(what string) (uint64, error) {
	b, err := r.fixed(8, what)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(b), nil
}

// length reads the length of a string and checks it.
func (r *reader) length(what string) (int64, error) {
	n, err := r.u64(what)
	if err != nil {
		return 0, err
	}
	if n > r.limits.String {
		return 0, r.fail(TooLarge, "has %s of %d bytes; the limit is %d", what, n, r.limits.String)
	}
	return int64(n), r.next(int64(n), what)
}

// text reads a string.
func (r *reader) text(what string) (string, error) {
	n, err := r.length(what)
	if err != nil {
		return "", err
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r.in, b); err != nil {
		return "", r.ended(err, what)
	}
	r.offset += n
	return string(b), nil
}

// skip steps over n bytes.
func (r *reader) skip(n int64, what string) error {
	if err := r.next(n, what); err != nil {
		return err
	}
	for n > 0 {
		step := min(n, 1<<30)
		done, err := r.in.Discard(int(step))
		r.offset += int64(done)
		if err != nil {
			return r.ended(err, what)
		}
		n -= step
	}
	return nil
}
