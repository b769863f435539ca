// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package gguf

import "math"

// String returns the value of key where it is a string.
func (h *Header) String(key string) (string, bool) {
	v, ok := h.values[key]
	if !ok || v.typ != String {
		return "", false
	}
	return v.text, true
}

// Int returns the value of key where it is of any integer type. An unsigned
// value above the largest int64 is not an Int.
func (h *Header) Int(key string) (int64, bool) {
	v, ok := h.values[key]
	if !ok {
		return 0, false
	}
	return v.int()
}

// Float returns the value of key where it is a 32 or 64 bit float.
func (h *Header) Float(key string) (float64, bool) {
	v, ok := h.values[key]
	if !ok || (v.typ != Float32 && v.typ != Float64) {
		return 0, false
	}
	return math.Float64frombits(v.bits), true
}

// Bool returns the value of key where it is a bool.
func (h *Header) Bool(key string) (value, ok bool) {
	v, found := h.values[key]
	if !found || v.typ != Bool {
		return false, false
	}
	return v.bits != 0, true
}

// ArrayLen returns the element type and the number of elements of the array at
// key, whether or not its elements were kept.
func (h *Header) ArrayLen(key string) (elem Type, count uint64, ok bool) {
	v, found := h.values[key]
	if !found || v.array == nil {
		return 0, 0, false
	}
	return v.array.elem, v.array.count, true
}

// Strings returns the elements of an array of strings that WithArrays kept.
func (h *Header) Strings(key string) ([]string, bool) {
	a := h.kept(key)
	if a == nil || a.elem != String {
		return nil, false
	}
	out := make([]string, len(a.items))
	for i, v := range a.items {
		out[i] = v.text
	}
	return out, true
}

// Ints returns the elements of an array of any integer type that WithArrays
// kept.
func (h *Header) Ints(key string) ([]int64, bool) {
	a := h.kept(key)
	if a == nil {
		return nil, false
	}
	out := make([]int64, len(a.items))
	for i, v := range a.items {
		n, ok := v.int()
		if !ok {
			return nil, false
		}
		out[i] = n
	}
	return out, true
}

// Floats returns the elements of an array of floats that WithArrays kept.
func (h *Header) Floats(key string) ([]float64, bool) {
	a := h.kept(key)
	if a == nil || (a.elem != Float32 && a.elem != Float64) {
		return nil, false
	}
	out := make([]float64, len(a.items))
	for i, v := range a.items {
		out[i] = math.Float64frombits(v.bits)
	}
	return out, true
}

func (h *Header) kept(key string) *arrayValue {
	if a := h.values[key].array; a != nil && a.kept {
		return a
	}
	return nil
}

// int returns v where it is of any integer type and fits.
func (v value) int() (int64, bool) {
	switch v.typ {
	case Uint8, Int8, Uint16, Int16, Uint32, Int32, Int64:
		return int64(v.bits), true
	case Uint64:
		return int64(v.bits), v.bits <= math.MaxInt64
	}
	return 0, false
}
