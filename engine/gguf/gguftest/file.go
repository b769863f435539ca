// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package gguftest writes small GGUF files for tests: any header that a test
// wants to see read or refused, and a tiny model with random weights that
// llama.cpp really loads. It is not a writer for models that people use.
package gguftest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"reflect"
	"testing"
)

// A KV is one metadata key. Value is a Go number, bool, string, a slice of
// them (nested too), or Raw.
type KV struct {
	Key   string
	Value any
}

// Raw is a value whose type number and bytes the test states itself.
type Raw struct {
	Type uint32
	Data []byte
}

// A Tensor is one tensor. Offset and Data are laid out by File.Bytes; a nil
// Data of an F32 tensor is written as zeros.
type Tensor struct {
	Name  string
	Shape []uint64
	Type  uint32
	Data  []byte
}

// A File is what Bytes writes. The zero counts are what the lists hold; a test
// that wants a lie sets them.
type File struct {
	Version     uint32 // 0 means 3
	KV          []KV
	Tensors     []Tensor
	TensorCount uint64
	KeyCount    uint64
}

const align = 32

// Bytes returns the file.
func (f File) Bytes() []byte {
	var b bytes.Buffer
	b.WriteString("GGUF")
	put(&b, or(f.Version, 3))
	put(&b, or(f.TensorCount, uint64(len(f.Tensors))))
	put(&b, or(f.KeyCount, uint64(len(f.KV))))
	for _, kv := range f.KV {
		text(&b, kv.Key)
		typ, data := encode(reflect.ValueOf(kv.Value))
		put(&b, typ)
		b.Write(data)
	}
	var data bytes.Buffer
	for _, t := range f.Tensors {
		text(&b, t.Name)
		put(&b, uint32(len(t.Shape)))
		elements := uint64(1)
		for _, d := range t.Shape {
			put(&b, d)
			elements *= d
		}
		put(&b, t.Type)
		put(&b, uint64(data.Len()))
		if t.Data == nil {
			t.Data = make([]byte, 4*elements)
		}
		data.Write(t.Data)
		pad(&data)
	}
	if len(f.Tensors) > 0 {
		pad(&b)
	}
	b.Write(data.Bytes())
	return b.Bytes()
}

// Write writes the file at path and ends the test when that is not possible.
func (f File) Write(t testing.TB, path string) string {
	t.Helper()
	if err := os.WriteFile(path, f.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

func put(b *bytes.Buffer, v any) { binary.Write(b, binary.LittleEndian, v) }

func text(b *bytes.Buffer, s string) {
	put(b, uint64(len(s)))
	b.WriteString(s)
}

func pad(b *bytes.Buffer) { b.Write(make([]byte, -b.Len()&(align-1))) }

// encode returns the type number and the bytes of a value.
func encode(v reflect.Value) (uint32, []byte) {
	if raw, ok := v.Interface().(Raw); ok {
		return raw.Type, raw.Data
	}
	var b bytes.Buffer
	switch v.Kind() {
	case reflect.Uint8, reflect.Int8, reflect.Uint16, reflect.Int16, reflect.Uint32, reflect.Int32,
		reflect.Float32, reflect.Bool, reflect.Uint64, reflect.Int64, reflect.Float64:
		put(&b, v.Interface())
	case reflect.String:
		text(&b, v.String())
	case reflect.Slice:
		elem, _ := encode(reflect.Zero(v.Type().Elem()))
		put(&b, elem)
		put(&b, uint64(v.Len()))
		for i := range v.Len() {
			_, data := encode(v.Index(i))
			b.Write(data)
		}
	default:
		panic(fmt.Sprintf("gguftest: no GGUF type for %s", v.Type()))
	}
	return typeOf[v.Kind()], b.Bytes()
}

var typeOf = map[reflect.Kind]uint32{
	reflect.Uint8: 0, reflect.Int8: 1, reflect.Uint16: 2, reflect.Int16: 3, reflect.Uint32: 4,
	reflect.Int32: 5, reflect.Float32: 6, reflect.Bool: 7, reflect.String: 8, reflect.Slice: 9,
	reflect.Uint64: 10, reflect.Int64: 11, reflect.Float64: 12,
}

// floats returns n little-endian float32 from next.
func floats(n uint64, next func() float32) []byte {
	b := make([]byte, 0, 4*n)
	for range n {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(next()))
	}
	return b
}
