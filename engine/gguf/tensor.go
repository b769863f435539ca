// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package gguf

import "math/bits"

// A Tensor is one entry of the list of tensors.
type Tensor struct {
	Name   string
	Shape  []uint64 // innermost dimension first, 1 to 4 of them
	Type   uint32   // ggml's number, such as 0 for F32; TypeSize knows the usual ones
	Offset uint64   // in bytes from Header.DataOffset
}

// maxDims is ggml's GGML_MAX_DIMS.
const maxDims = 4

// Elements returns the number of elements.
func (t Tensor) Elements() uint64 {
	n := uint64(1)
	for _, d := range t.Shape {
		n *= d
	}
	return n
}

// Bytes returns the size of the data, and false for a type that is not known
// here, such as one of a fork's own.
func (t Tensor) Bytes() (uint64, bool) {
	block, size, ok := TypeSize(t.Type)
	if !ok || t.Shape[0]%block != 0 {
		return 0, false
	}
	hi, n := bits.Mul64(t.Elements()/block, size)
	return n, hi == 0
}

// TypeSize returns the number of elements in a block of ggml's type, and the
// number of bytes of the block.
// From https://github.com/ggml-org/ggml/blob/master/docs/gguf.md and ggml.h.
func TypeSize(t uint32) (elements, bytes uint64, ok bool) {
	if int(t) < len(typeSizes) && typeSizes[t][0] != 0 {
		return typeSizes[t][0], typeSizes[t][1], true
	}
	return 0, 0, false
}

// typeSizes has {elements, bytes} of a block; zero for numbers that were
// withdrawn.
var typeSizes = [...][2]uint64{
	0: {1, 4}, 1: {1, 2}, // F32 F16
	2: {32, 18}, 3: {32, 20}, 6: {32, 22}, 7: {32, 24}, 8: {32, 34}, 9: {32, 36}, // Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q8_1
	10: {256, 84}, 11: {256, 110}, 12: {256, 144}, 13: {256, 176}, 14: {256, 210}, 15: {256, 292}, // Q2_K to Q8_K
	16: {256, 66}, 17: {256, 74}, 18: {256, 98}, 19: {256, 50}, // IQ2_XXS IQ2_XS IQ3_XXS IQ1_S
	20: {32, 18}, 21: {256, 110}, 22: {256, 82}, 23: {256, 136}, // IQ4_NL IQ3_S IQ2_S IQ4_XS
	24: {1, 1}, 25: {1, 2}, 26: {1, 4}, 27: {1, 8}, 28: {1, 8}, 29: {256, 56}, 30: {1, 2}, // I8 I16 I32 I64 F64 IQ1_M BF16
	34: {256, 54}, 35: {256, 66}, 39: {32, 17}, // TQ1_0 TQ2_0 MXFP4
}

// tensors reads the list of tensors, and checks that the file is long enough
// for the data that it promises.
func (r *reader) tensors(h *Header, count uint64) error {
	h.Tensors = make([]Tensor, 0, min(count, 1024))
	names := make(map[string]struct{}, min(count, 1024))
	for range count {
		t, err := r.tensor()
		if err != nil {
			return err
		}
		if _, twice := names[t.Name]; twice {
			return r.fail(Malformed, "has the tensor %s twice", quoted(t.Name))
		}
		names[t.Name] = struct{}{}
		if t.Offset%uint64(h.Alignment) != 0 {
			return r.fail(Malformed, "has the tensor %s at an offset that is not a multiple of %d", quoted(t.Name), h.Alignment)
		}
		h.Tensors = append(h.Tensors, t)
	}
	h.DataOffset = (r.offset + h.Alignment - 1) &^ (h.Alignment - 1)
	for _, t := range h.Tensors {
		n, _ := t.Bytes()
		end, carry := bits.Add64(t.Offset, n, 0)
		if left := h.Size - h.DataOffset; carry != 0 || left < 0 || end > uint64(left) {
			return &Error{Kind: Truncated, Offset: h.Size, Text: "the file ends inside the data of the tensor " + quoted(t.Name) + ": it is cut off"}
		}
	}
	return nil
}

func (r *reader) tensor() (t Tensor, err error) {
	if t.Name, err = r.text("the name of a tensor"); err != nil {
		return t, err
	}
	dims, err := r.u32("the shape of a tensor")
	if err != nil {
		return t, err
	}
	if dims < 1 || dims > maxDims {
		return t, r.fail(Malformed, "has the tensor %s with %d dimensions; 1 to %d can be", quoted(t.Name), dims, maxDims)
	}
	t.Shape = make([]uint64, dims)
	total := uint64(1)
	for i := range t.Shape {
		if t.Shape[i], err = r.u64("the shape of a tensor"); err != nil {
			return t, err
		}
		hi, n := bits.Mul64(total, t.Shape[i])
		if hi != 0 || n == 0 || n > 1<<62 {
			return t, r.fail(Malformed, "has the tensor %s with an impossible shape", quoted(t.Name))
		}
		total = n
	}
	if t.Type, err = r.u32("the type of a tensor"); err != nil {
		return t, err
	}
	if block, _, ok := TypeSize(t.Type); ok && t.Shape[0]%block != 0 {
		return t, r.fail(Malformed, "has the tensor %s with rows that are not whole blocks", quoted(t.Name))
	}
	t.Offset, err = r.u64("the offset of a tensor")
	return t, err
}
