// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package gguf

import (
	"encoding/binary"
	"math"
)

// metadata reads the keys and their values.
func (r *reader) metadata(h *Header, count uint64) error {
	for range count {
		key, err := r.text("a metadata key")
		if err != nil {
			return err
		}
		if key == "" {
			return r.fail(Malformed, "has a metadata key without a name")
		}
		if _, twice := h.values[key]; twice {
			return r.fail(Malformed, "has the metadata key %s twice", quoted(key))
		}
		t, err := r.valueType(key)
		if err != nil {
			return err
		}
		v, err := r.value(t, key, r.keep[key], 0)
		if err != nil {
			return err
		}
		h.values[key] = v
	}
	return nil
}

func (r *reader) valueType(key string) (Type, error) {
	n, err := r.u32("the type of a value")
	if err != nil {
		return 0, err
	}
	t := Type(n)
	if t.size() < 0 {
		return 0, r.fail(Malformed, "has the unknown value type %d at the key %s", n, quoted(key))
	}
	return t, nil
}

// value reads one value of type t; keep says whether the elements of an array
// are wanted, depth how many arrays it is inside of.
func (r *reader) value(t Type, key string, keep bool, depth int) (value, error) {
	switch t {
	case String:
		s, err := r.text("a string value")
		return value{typ: t, text: s}, err
	case Array:
		a, err := r.array(key, keep, depth+1)
		return value{typ: t, array: a}, err
	}
	b, err := r.fixed(t.size(), "a value")
	if err != nil {
		return value{}, err
	}
	return value{typ: t, bits: decode(t, b)}, nil
}

// decode returns the 64 bits of a number, as value keeps them.
func decode(t Type, b []byte) uint64 {
	switch t {
	case Uint8, Bool:
		return uint64(b[0])
	case Int8:
		return uint64(int64(int8(b[0])))
	case Uint16:
		return uint64(binary.LittleEndian.Uint16(b))
	case Int16:
		return uint64(int64(int16(binary.LittleEndian.Uint16(b))))
	case Uint32:
		return uint64(binary.LittleEndian.Uint32(b))
	case Int32:
		return uint64(int64(int32(binary.LittleEndian.Uint32(b))))
	case Float32:
		return math.Float64bits(float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
	}
	return binary.LittleEndian.Uint64(b)
}

func (r *reader) array(key string, keep bool, depth int) (*arrayValue, error) {
	if depth > r.limits.Depth {
		return nil, r.fail(TooLarge, "has arrays more than %d deep at the key %s", r.limits.Depth, quoted(key))
	}
	elem, err := r.valueType(key)
	if err != nil {
		return nil, err
	}
	count, err := r.u64("the length of an array")
	if err != nil {
		return nil, err
	}
	each := elem.size()
	switch elem {
	case String:
		each = minString
	case Array:
		each = 12
	}
	if err := r.within("elements of the array "+quoted(key), count, r.limits.Array, each); err != nil {
		return nil, err
	}
	a := &arrayValue{elem: elem, count: count, kept: keep}
	switch {
	case keep:
		return a, r.elements(a, key, depth)
	case elem == String:
		return a, r.skipStrings(count)
	case elem == Array:
		for range count {
			if _, err := r.array(key, false, depth+1); err != nil {
				return nil, err
			}
		}
		return a, nil
	}
	return a, r.skip(int64(count)*int64(each), "the array "+quoted(key))
}

// elements reads what was asked for. The slice grows with what was really
// read, not with what the file states.
func (r *reader) elements(a *arrayValue, key string, depth int) error {
	a.items = make([]value, 0, min(a.count, 4096))
	for range a.count {
		v, err := r.value(a.elem, key, true, depth)
		if err != nil {
			return err
		}
		a.items = append(a.items, v)
	}
	return nil
}

// skipStrings steps over strings without keeping them: the case of the
// vocabulary. Strings that lie in the buffer are stepped over in place.
func (r *reader) skipStrings(count uint64) error {
	const what = "an array of strings"
	for count > 0 {
		b, _ := r.in.Peek(max(r.in.Buffered(), 8))
		at := 0
		for count > 0 && len(b)-at >= 8 {
			n := binary.LittleEndian.Uint64(b[at:])
			if n > uint64(len(b)-at-8) {
				break
			}
			if n > r.limits.String {
				break // the slow way words the error
			}
			at += 8 + int(n)
			count--
		}
		if at > 0 {
			if err := r.skip(int64(at), what); err != nil {
				return err
			}
			continue
		}
		n, err := r.length(what)
		if err != nil {
			return err
		}
		if err := r.skip(n, what); err != nil {
			return err
		}
		count--
	}
	return nil
}
