// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package gguf_test

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/1bit-MONSTER/engine/engine/gguf"
	"github.com/1bit-MONSTER/engine/engine/gguf/gguftest"
)

// FuzzRead: whatever the file, an answer or an *Error, an offset inside the
// file, and tensors that lie in it.
func FuzzRead(f *testing.F) {
	for _, bad := range badFiles() {
		f.Add(bad.data)
	}
	f.Add(gguftest.File{KV: everyType}.Bytes())
	f.Add(gguftest.File{Version: 2, KV: everyType, Tensors: []gguftest.Tensor{{Name: "t", Shape: []uint64{4, 2}}}}.Bytes())
	f.Add(gguftest.Vocabulary(50).Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := read(b, gguf.WithArrays("strings", "nested", "k"))
		skipped, errSkipped := read(b)
		if (err == nil) != (errSkipped == nil) {
			t.Fatalf("kept arrays: %v; skipped: %v", err, errSkipped)
		}
		if err != nil {
			var e *gguf.Error
			if !errors.As(err, &e) {
				t.Fatalf("%T: %v", err, err)
			}
			checkPrintable(t, err)
			if e.Offset < 0 || e.Offset > int64(len(b)) {
				t.Fatalf("offset %d of %d: %v", e.Offset, len(b), err)
			}
			return
		}
		if h.DataOffset != skipped.DataOffset {
			t.Fatalf("data at %d and at %d", h.DataOffset, skipped.DataOffset)
		}
		for _, tensor := range h.Tensors {
			if n, ok := tensor.Bytes(); ok && tensor.Offset+n > uint64(h.Size-h.DataOffset) {
				t.Fatalf("tensor %q ends outside", tensor.Name)
			}
		}
	})
}

// BenchmarkRead150kTokens: the header of a model with 150,000 tokens and as
// many merges, from the file system.
func BenchmarkRead150kTokens(b *testing.B) {
	path := gguftest.Vocabulary(150_000).Write(b, filepath.Join(b.TempDir(), "v.gguf"))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := gguf.Read(path); err != nil {
			b.Fatal(err)
		}
	}
}

// counting is a file that says how much of it was read.
type counting struct {
	io.Reader
	n int64
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

// endless gives zeros for the data of a model that is larger than any disk.
type endless struct{}

func (endless) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestOnlyTheHeaderIsRead(t *testing.T) {
	const tib = 1 << 40
	head := gguftest.File{
		KV:      []gguftest.KV{{Key: "general.architecture", Value: "llama"}},
		Tensors: []gguftest.Tensor{{Name: "t", Shape: []uint64{tib / 4}, Data: []byte{}}},
	}.Bytes()
	c := &counting{Reader: io.MultiReader(bytes.NewReader(head), endless{})}
	h, err := gguf.ReadFrom(c, int64(len(head))+tib)
	if err != nil {
		t.Fatal(err)
	}
	if h.Architecture() != "llama" || c.n > 64<<10 {
		t.Errorf("read %d bytes for a header of %d", c.n, len(head))
	}
}
