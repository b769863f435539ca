// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package gguf

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// A Split says which part of a split model a file is.
type Split struct {
	No      int64 // from 0
	Count   int64
	Tensors int64 // in all parts together
}

// maxSplits bounds the number of files of one model; the name has five digits.
const maxSplits = 9999

// Split returns which part this file is; the second result is false for a
// file that is whole.
func (h *Header) Split() (Split, bool) {
	count, ok := h.Int("split.count")
	if !ok || count <= 1 {
		return Split{}, false
	}
	no, _ := h.Int("split.no")
	tensors, _ := h.Int("split.tensors.count")
	return Split{No: no, Count: count, Tensors: tensors}, true
}

// ReadModel reads the header of the model at path, and when it is the first
// file of a split model those of all others beside it, which it holds against
// each other. It returns the headers in order.
func ReadModel(path string, opts ...Option) ([]*Header, error) {
	first, err := Read(path, opts...)
	if err != nil {
		return nil, err
	}
	split, ok := first.Split()
	if !ok {
		return []*Header{first}, nil
	}
	paths, err := Siblings(first)
	if err != nil {
		return nil, err
	}
	if split.No != 0 {
		return nil, broken(path, "is part %d of %d of a split model; give the first part, %s", split.No+1, split.Count, paths[0])
	}
	headers := []*Header{first}
	tensors := int64(len(first.Tensors))
	for i, p := range paths[1:] {
		h, err := Read(p, opts...)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, broken(path, "is split into %d files and %s is missing", split.Count, p)
		}
		if err != nil {
			return nil, err
		}
		if s, _ := h.Split(); s.No != int64(i+1) || s.Count != split.Count {
			return nil, broken(p, "says that it is part %d of %d, not part %d of %d as its name does", s.No+1, s.Count, i+2, split.Count)
		}
		headers = append(headers, h)
		tensors += int64(len(h.Tensors))
	}
	if split.Tensors != 0 && tensors != split.Tensors {
		return nil, broken(path, "promises %d tensors in its %d files, which have %d", split.Tensors, split.Count, tensors)
	}
	return headers, nil
}

// Siblings returns the paths of all files of the split model that h is one of,
// in order, by their names: NAME-00001-of-00003.gguf.
func Siblings(h *Header) ([]string, error) {
	split, ok := h.Split()
	if !ok {
		return []string{h.Path}, nil
	}
	if split.Count > maxSplits || split.No < 0 || split.No >= split.Count {
		return nil, broken(h.Path, "says that it is part %d of %d", split.No+1, split.Count)
	}
	suffix := fmt.Sprintf("-%05d-of-%05d.gguf", split.No+1, split.Count)
	stem, found := strings.CutSuffix(h.Path, suffix)
	if !found {
		return nil, broken(h.Path, "is part %d of %d of a split model, so its name must end in %s", split.No+1, split.Count, suffix)
	}
	paths := make([]string, split.Count)
	for i := range paths {
		paths[i] = fmt.Sprintf("%s-%05d-of-%05d.gguf", stem, i+1, split.Count)
	}
	return paths, nil
}

func broken(path, format string, args ...any) error {
	return &Error{Kind: BrokenSplit, Path: path, Text: fmt.Sprintf(format, args...)}
}
