// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package gguf

// Limits bound what one header may cost. A zero field means the default.
type Limits struct {
	Header  int64  // bytes before the tensor data
	String  uint64 // bytes of one key, name or string value
	Keys    uint64 // metadata keys
	Array   uint64 // elements of one array
	Tensors uint64 // tensors
	Depth   int    // arrays inside arrays; 1 is a plain array
}

// DefaultLimits are several times above the largest published models: a
// header is about 10 MB for a vocabulary of 250,000 tokens, and a mixture of
// experts that is not stacked has about 30,000 tensors.
func DefaultLimits() Limits {
	return Limits{
		Header:  256 << 20,
		String:  1 << 20,
		Keys:    4096,
		Array:   8 << 20,
		Tensors: 1 << 17,
		Depth:   2,
	}
}

func (l Limits) orDefault() Limits {
	d := DefaultLimits()
	if l.Header == 0 {
		l.Header = d.Header
	}
	if l.String == 0 {
		l.String = d.String
	}
	if l.Keys == 0 {
		l.Keys = d.Keys
	}
	if l.Array == 0 {
		l.Array = d.Array
	}
	if l.Tensors == 0 {
		l.Tensors = d.Tensors
	}
	if l.Depth == 0 {
		l.Depth = d.Depth
	}
	return l
}

// An Option changes how a header is read.
type Option func(*reader)

// WithLimits sets the limits.
func WithLimits(l Limits) Option { return func(r *reader) { r.limits = l.orDefault() } }

// WithArrays keeps the elements of the arrays at these keys, for Strings, Ints
// and Floats. All other arrays are only counted.
func WithArrays(keys ...string) Option {
	return func(r *reader) {
		for _, k := range keys {
			r.keep[k] = true
		}
	}
}
