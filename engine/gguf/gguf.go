// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package gguf reads the headers of GGUF model files, versions 2 and 3: the
// metadata keys and the list of tensors. It is for code that must decide what
// to do with a model before anything loads it.
//
// Limits: little-endian files only, tensor data is never read or mapped, and
// every count and length that a file states is bounded (Limits), so a file
// from a stranger costs a known amount of memory and time. Arrays, such as a
// vocabulary of 150,000 tokens, are stepped over without being kept unless
// WithArrays asks for them.
//
// The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
package gguf

import "sort"

// A Type is the type of a metadata value, as numbered in the file.
type Type uint32

// The types of metadata values.
const (
	Uint8 Type = iota
	Int8
	Uint16
	Int16
	Uint32
	Int32
	Float32
	Bool
	String
	Array
	Uint64
	Int64
	Float64
)

var typeNames = [...]string{"u8", "i8", "u16", "i16", "u32", "i32", "f32", "bool", "str", "arr", "u64", "i64", "f64"}

// String returns the short name of t, as in "u32".
func (t Type) String() string {
	if int(t) < len(typeNames) {
		return typeNames[t]
	}
	return "unknown"
}

// size is the number of bytes of a value of a fixed-size type, 0 for strings
// and arrays, -1 for a type that does not exist.
func (t Type) size() int {
	switch t {
	case Uint8, Int8, Bool:
		return 1
	case Uint16, Int16:
		return 2
	case Uint32, Int32, Float32:
		return 4
	case Uint64, Int64, Float64:
		return 8
	case String, Array:
		return 0
	}
	return -1
}

// A Header is what stands before the tensor data of one file.
type Header struct {
	Path       string // as given to Read; empty for ReadFrom
	Size       int64  // of the whole file, in bytes
	Version    uint32 // 2 or 3
	Tensors    []Tensor
	Alignment  int64 // of the tensor data, in bytes
	DataOffset int64 // where the tensor data begins, in bytes from the start

	values map[string]value
}

// A value is one metadata value. Numbers are kept as their 64 bits: integers
// sign-extended, floats as float64.
type value struct {
	typ   Type
	bits  uint64
	text  string
	array *arrayValue
}

// An arrayValue says what an array is made of; the elements are there only
// when they were asked for.
type arrayValue struct {
	elem  Type
	count uint64
	items []value
	kept  bool
}

// Keys returns the names of all metadata keys, sorted.
func (h *Header) Keys() []string {
	keys := make([]string, 0, len(h.values))
	for k := range h.values {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// Type returns the type of the value of key, and whether there is one.
func (h *Header) Type(key string) (Type, bool) {
	v, ok := h.values[key]
	return v.typ, ok
}

// Architecture returns general.architecture, such as "llama", or "".
func (h *Header) Architecture() string {
	s, _ := h.String("general.architecture")
	return s
}
