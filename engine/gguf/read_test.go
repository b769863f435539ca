// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package gguf_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/1bit-MONSTER/engine/engine/gguf"
	"github.com/1bit-MONSTER/engine/engine/gguf/gguftest"
)

// read reads a file that exists in memory only.
func read(b []byte, opts ...gguf.Option) (*gguf.Header, error) {
	return gguf.ReadFrom(bytes.NewReader(b), int64(len(b)), opts...)
}

// everyType has one value of each type, at its edge.
var everyType = []gguftest.KV{
	{Key: "u8", Value: uint8(math.MaxUint8)},
	{Key: "i8", Value: int8(math.MinInt8)},
	{Key: "u16", Value: uint16(math.MaxUint16)},
	{Key: "i16", Value: int16(math.MinInt16)},
	{Key: "u32", Value: uint32(math.MaxUint32)},
	{Key: "i32", Value: int32(math.MinInt32)},
	{Key: "u64", Value: uint64(math.MaxInt64)},
	{Key: "u64 above", Value: uint64(math.MaxUint64)},
	{Key: "i64", Value: int64(math.MinInt64)},
	{Key: "f32", Value: float32(0.5)},
	{Key: "f64", Value: math.Pi},
	{Key: "bool", Value: true},
	{Key: "str", Value: "Grüße"},
	{Key: "strings", Value: []string{"a", "", "ccc"}},
	{Key: "ints", Value: []int16{-1, 2}},
	{Key: "floats", Value: []float32{1, -2}},
	{Key: "bools", Value: []bool{true, false}},
	{Key: "nested", Value: [][]uint8{{1}, {2, 3}}},
}

func TestReadsEveryType(t *testing.T) {
	for _, version := range []uint32{2, 3} {
		file := gguftest.File{Version: version, KV: everyType}
		h, err := read(file.Bytes(), gguf.WithArrays("strings", "ints", "floats", "nested"))
		if err != nil {
			t.Fatalf("version %d: %v", version, err)
		}
		ints := map[string]int64{}
		for _, k := range h.Keys() {
			if n, ok := h.Int(k); ok {
				ints[k] = n
			}
		}
		want := map[string]int64{
			"u8": math.MaxUint8, "i8": math.MinInt8, "u16": math.MaxUint16, "i16": math.MinInt16,
			"u32": math.MaxUint32, "i32": math.MinInt32, "u64": math.MaxInt64, "i64": math.MinInt64,
		}
		if d := cmp.Diff(want, ints); d != "" {
			t.Errorf("version %d: integers (-want +got):\n%s", version, d)
		}
		if f, ok := h.Float("f32"); !ok || f != 0.5 {
			t.Errorf("f32 = %v, %v", f, ok)
		}
		if f, ok := h.Float("f64"); !ok || f != math.Pi {
			t.Errorf("f64 = %v, %v", f, ok)
		}
		if b, ok := h.Bool("bool"); !ok || !b {
			t.Errorf("bool = %v, %v", b, ok)
		}
		if s, ok := h.String("str"); !ok || s != "Grüße" {
			t.Errorf("str = %q, %v", s, ok)
		}
		if s, ok := h.Strings("strings"); !ok || !cmp.Equal(s, []string{"a", "", "ccc"}) {
			t.Errorf("strings = %q, %v", s, ok)
		}
		if n, ok := h.Ints("ints"); !ok || !cmp.Equal(n, []int64{-1, 2}) {
			t.Errorf("ints = %v, %v", n, ok)
		}
		if f, ok := h.Floats("floats"); !ok || !cmp.Equal(f, []float64{1, -2}) {
			t.Errorf("floats = %v, %v", f, ok)
		}
		if elem, n, ok := h.ArrayLen("bools"); !ok || elem != gguf.Bool || n != 2 {
			t.Errorf("bools = %v, %d, %v", elem, n, ok)
		}
		if elem, n, ok := h.ArrayLen("nested"); !ok || elem != gguf.Array || n != 2 {
			t.Errorf("nested = %v, %d, %v", elem, n, ok)
		}
	}
}

func TestAccessorsKeepTypesApart(t *testing.T) {
	h, err := read(gguftest.File{KV: everyType}.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := h.Int("f32"); ok {
		t.Error("a float counts as an Int")
	}
	if _, ok := h.Int("bool"); ok {
		t.Error("a bool counts as an Int")
	}
	if _, ok := h.Int("absent"); ok {
		t.Error("an absent key counts as an Int")
	}
	if _, ok := h.Float("u8"); ok {
		t.Error("an integer counts as a Float")
	}
	if _, ok := h.String("strings"); ok {
		t.Error("an array counts as a String")
	}
	if _, ok := h.Strings("strings"); ok {
		t.Error("an array that nobody asked for was kept")
	}
}

func TestTinyModel(t *testing.T) {
	path := gguftest.Llama(1).Write(t, filepath.Join(t.TempDir(), "tiny.gguf"))
	h, err := gguf.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if h.Architecture() != "llama" || len(h.Tensors) != 21 {
		t.Errorf("architecture %q, %d tensors", h.Architecture(), len(h.Tensors))
	}
	var sum uint64
	for _, tensor := range h.Tensors {
		n, ok := tensor.Bytes()
		if !ok {
			t.Errorf("%s: size unknown", tensor.Name)
		}
		sum += n
	}
	if got := uint64(h.Size - h.DataOffset); got != sum {
		t.Errorf("tensor data is %d bytes, tensors say %d", got, sum)
	}
}

// badFiles are all ways of being wrong, with the kind and a piece of the
// sentence that they must give. FuzzRead begins with them.
func badFiles() []badFile {
	kv := func(key string, v any) gguftest.File {
		return gguftest.File{KV: []gguftest.KV{{Key: key, Value: v}}}
	}
	le := binary.LittleEndian
	text := func(s string) []byte { return append(le.AppendUint64(nil, uint64(len(s))), s...) }
	f32 := gguftest.Tensor{Name: "t", Shape: []uint64{8}}
	swapped := []byte("GGUF\x00\x00\x00\x03")
	return []badFile{
		{"empty", nil, gguf.NotGGUF, "is empty"},
		{"three bytes", []byte("GGU"), gguf.NotGGUF, "does not begin with GGUF"},
		{"safetensors", []byte("\x10\x00\x00\x00\x00\x00\x00\x00{\"a\":1}"), gguf.NotGGUF, "does not begin with GGUF"},
		{"magic only", []byte("GGUF"), gguf.Truncated, "ends inside the version"},
		{"big endian", append(swapped, make([]byte, 16)...), gguf.BigEndian, "big-endian"},
		{"version 1", gguftest.File{Version: 1}.Bytes(), gguf.Unsupported, "version 1"},
		{"version 4", gguftest.File{Version: 4}.Bytes(), gguf.Unsupported, "version 4"},
		{"a huge number of keys", gguftest.File{KeyCount: 1 << 60}.Bytes(), gguf.TooLarge, "metadata keys"},
		{"more keys than bytes", gguftest.File{KeyCount: 4000}.Bytes(), gguf.Truncated, "4000 metadata keys, more than the file can hold"},
		{"a huge number of tensors", gguftest.File{TensorCount: math.MaxUint64}.Bytes(), gguf.TooLarge, "tensors"},
		{"more tensors than bytes", gguftest.File{TensorCount: 1000}.Bytes(), gguf.Truncated, "1000 tensors"},
		{"a huge string", kv("k", gguftest.Raw{Type: 8, Data: le.AppendUint64(nil, 1<<40)}).Bytes(), gguf.TooLarge, "a string value of"},
		{"a string past the end", kv("k", gguftest.Raw{Type: 8, Data: le.AppendUint64(nil, 1000)}).Bytes(), gguf.Truncated, "ends inside a string value"},
		{"a huge array", kv("k", gguftest.Raw{Type: 9, Data: le.AppendUint64(le.AppendUint32(nil, 8), 1<<40)}).Bytes(), gguf.TooLarge, `array "k"`},
		{"an array past the end", kv("k", gguftest.Raw{Type: 9, Data: le.AppendUint64(le.AppendUint32(nil, 0), 1000)}).Bytes(), gguf.Truncated, `array "k"`},
		{"strings of an array past the end", kv("k", gguftest.Raw{Type: 9, Data: append(le.AppendUint64(le.AppendUint32(nil, 8), 1), 9, 0, 0, 0, 0, 0, 0, 0)}).Bytes(), gguf.Truncated, "array of strings"},
		{"arrays too deep", kv("k", [][][]uint8{{{1}}}).Bytes(), gguf.TooLarge, "more than 2 deep"},
		{"an unknown type", kv("k", gguftest.Raw{Type: 13}).Bytes(), gguf.Malformed, "unknown value type 13"},
		{"an unknown element type", kv("k", gguftest.Raw{Type: 9, Data: le.AppendUint64(le.AppendUint32(nil, 99), 0)}).Bytes(), gguf.Malformed, "unknown value type 99"},
		{"a key twice", gguftest.File{KV: []gguftest.KV{{Key: "k", Value: true}, {Key: "k", Value: true}}}.Bytes(), gguf.Malformed, "twice"},
		{"a key without a name", kv("", true).Bytes(), gguf.Malformed, "without a name"},
		{"an alignment of 3", kv("general.alignment", uint32(3)).Bytes(), gguf.Malformed, "general.alignment"},
		{"a tensor twice", gguftest.File{Tensors: []gguftest.Tensor{f32, f32}}.Bytes(), gguf.Malformed, "twice"},
		{"no dimensions", gguftest.File{Tensors: []gguftest.Tensor{{Name: "t"}}}.Bytes(), gguf.Malformed, "0 dimensions"},
		{"a shape that overflows", gguftest.File{Tensors: []gguftest.Tensor{{Name: "t", Shape: []uint64{1 << 40, 1 << 40}, Data: []byte{}}}}.Bytes(), gguf.Malformed, "impossible shape"},
		{"half a block", gguftest.File{Tensors: []gguftest.Tensor{{Name: "t", Shape: []uint64{16}, Type: 2}}}.Bytes(), gguf.Malformed, "whole blocks"},
		{"data cut off", cut(gguftest.File{Tensors: []gguftest.Tensor{f32}}.Bytes(), 1), gguf.Truncated, `data of the tensor "t"`},
		{"a tensor that is too large", gguftest.File{Tensors: []gguftest.Tensor{{Name: "t", Shape: []uint64{1 << 60}, Data: []byte{}}}}.Bytes(), gguf.Truncated, `data of the tensor "t"`},
		{"an offset beyond the end", append([]byte("GGUF\x03\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"), append(text("t"), 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0xff, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0)...), gguf.Truncated, `data of the tensor "t"`},
	}
}

type badFile struct {
	name  string
	data  []byte
	kind  gguf.Kind
	piece string
}

func cut(b []byte, n int) []byte { return b[:len(b)-n] }

func TestRefuses(t *testing.T) {
	for _, c := range badFiles() {
		t.Run(c.name, func(t *testing.T) {
			_, err := read(c.data)
			var e *gguf.Error
			if !errors.As(err, &e) {
				t.Fatalf("error %v is no *gguf.Error", err)
			}
			if e.Kind != c.kind || !strings.Contains(err.Error(), c.piece) {
				t.Errorf("kind %d, %q; want kind %d and %q", e.Kind, err, c.kind, c.piece)
			}
			checkPrintable(t, err)
			if e.Offset < 0 || e.Offset > int64(len(c.data)) {
				t.Errorf("offset %d is outside of the file of %d bytes", e.Offset, len(c.data))
			}
		})
	}
}

// checkPrintable: an error is shown on terminals, and names come from the file.
func checkPrintable(t testing.TB, err error) {
	t.Helper()
	if strings.ContainsFunc(err.Error(), func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }) || len(err.Error()) > 1000 {
		t.Errorf("the error holds what can not be shown, or %d bytes: %.300q", len(err.Error()), err)
	}
}

func TestHostileNamesInErrors(t *testing.T) {
	name := "\x1b]0;owned\x07\n\u202e\xff" + strings.Repeat("n", 1000)
	past := gguftest.File{Tensors: []gguftest.Tensor{{Name: name, Shape: []uint64{4}}}}.Bytes()
	list := gguftest.File{KV: []gguftest.KV{{Key: name, Value: []int32{1, 2, 3, 4}}}}.Bytes()
	for what, data := range map[string][]byte{
		"a tensor without data":  cut(past, 32),
		"an array cut off":       cut(list, 16),
		"a key twice":            gguftest.File{KV: []gguftest.KV{{Key: name, Value: uint8(1)}, {Key: name, Value: uint8(1)}}}.Bytes(),
		"a tensor's name twice":  gguftest.File{Tensors: []gguftest.Tensor{{Name: name, Shape: []uint64{4}}, {Name: name, Shape: []uint64{4}}}}.Bytes(),
		"an array that is large": gguftest.File{KV: []gguftest.KV{{Key: name, Value: make([]uint8, 100)}}}.Bytes(),
	} {
		t.Run(what, func(t *testing.T) {
			_, err := read(data, gguf.WithLimits(gguf.Limits{Array: 50}))
			if err == nil {
				t.Fatal("no error")
			}
			checkPrintable(t, err)
		})
	}
}

func TestEveryTruncationIsSeen(t *testing.T) {
	whole := gguftest.File{KV: everyType, Tensors: []gguftest.Tensor{{Name: "t", Shape: []uint64{4}}}}.Bytes()
	whole = cut(whole, 16) // the padding after the last tensor
	if _, err := read(whole); err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		var e *gguf.Error
		if _, err := read(whole[:n]); !errors.As(err, &e) || (e.Kind != gguf.Truncated && e.Kind != gguf.NotGGUF) {
			t.Fatalf("%d of %d bytes: %v", n, len(whole), err)
		}
		// The file system may know a size that the content does not reach.
		_, err := gguf.ReadFrom(bytes.NewReader(whole[:n]), int64(len(whole)))
		if n < 200 && !errors.As(err, &e) {
			t.Fatalf("%d bytes that claim to be %d: %v", n, len(whole), err)
		}
	}
}

func TestLimits(t *testing.T) {
	b := gguftest.File{KV: everyType}.Bytes()
	for name, l := range map[string]gguf.Limits{
		"header": {Header: 100}, "string": {String: 4}, "keys": {Keys: 3}, "array": {Array: 1}, "depth": {Depth: 1},
	} {
		var e *gguf.Error
		if _, err := read(b, gguf.WithLimits(l)); !errors.As(err, &e) || e.Kind != gguf.TooLarge {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReadNamesThePath(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.gguf")
	if err := os.WriteFile(bad, []byte("not a model"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, want string }{
		{bad, bad + ": is not a GGUF file: it does not begin with GGUF"},
		{dir, dir + ": is a directory, not a GGUF file"},
		{os.DevNull, os.DevNull + ": is not a regular file"},
	} {
		if _, err := gguf.Read(c.path); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	if _, err := gguf.Read(filepath.Join(dir, "absent.gguf")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
}
