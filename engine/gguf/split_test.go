// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package gguf_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/engine/gguf"
	"github.com/1bit-MONSTER/engine/engine/gguf/gguftest"
)

// part writes part no (from 0) of a model with count parts of one tensor each.
func part(t *testing.T, dir string, no, count int) string {
	f := gguftest.File{
		KV: []gguftest.KV{
			{Key: "split.no", Value: uint16(no)},
			{Key: "split.count", Value: uint16(count)},
			{Key: "split.tensors.count", Value: int32(count)},
		},
		Tensors: []gguftest.Tensor{{Name: fmt.Sprint("t", no), Shape: []uint64{8}}},
	}
	return f.Write(t, filepath.Join(dir, fmt.Sprintf("m-%05d-of-%05d.gguf", no+1, count)))
}

func TestSplitModel(t *testing.T) {
	dir := t.TempDir()
	first := part(t, dir, 0, 3)
	if _, err := gguf.ReadModel(first); err == nil || !strings.Contains(err.Error(), "m-00002-of-00003.gguf is missing") {
		t.Errorf("a missing part: %v", err)
	}
	second := part(t, dir, 1, 3)
	third := part(t, dir, 2, 3)
	headers, err := gguf.ReadModel(first)
	if err != nil {
		t.Fatal(err)
	}
	if len(headers) != 3 || headers[2].Path != third {
		t.Errorf("got %d headers", len(headers))
	}
	if _, err := gguf.ReadModel(second); err == nil || !strings.Contains(err.Error(), "give the first part, "+first) {
		t.Errorf("the second part: %v", err)
	}

	gguftest.File{KV: []gguftest.KV{{Key: "split.no", Value: uint16(2)}, {Key: "split.count", Value: uint16(3)}}}.Write(t, second)
	if _, err := gguf.ReadModel(first); err == nil || !strings.Contains(err.Error(), "says that it is part 3 of 3, not part 2 of 3") {
		t.Errorf("a part under another's name: %v", err)
	}
	gguftest.File{KV: []gguftest.KV{{Key: "split.no", Value: uint16(1)}, {Key: "split.count", Value: uint16(3)}}}.Write(t, second)
	if _, err := gguf.ReadModel(first); err == nil || !strings.Contains(err.Error(), "promises 3 tensors in its 3 files, which have 2") {
		t.Errorf("a part without its tensor: %v", err)
	}
}

func TestSplitNames(t *testing.T) {
	file := func(no, count uint16) gguftest.File {
		return gguftest.File{KV: []gguftest.KV{{Key: "split.no", Value: no}, {Key: "split.count", Value: count}}}
	}
	for _, c := range []struct {
		name string
		file gguftest.File
		want string
	}{
		{"a name without a number", file(0, 2), "its name must end in -00001-of-00002.gguf"},
		{"a part beyond the count", file(5, 2), "says that it is part 6 of 2"},
		{"too many parts", file(0, 60000), "says that it is part 1 of 60000"},
	} {
		path := c.file.Write(t, filepath.Join(t.TempDir(), "m.gguf"))
		if _, err := gguf.ReadModel(path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	whole := file(0, 1).Write(t, filepath.Join(t.TempDir(), "m.gguf"))
	if headers, err := gguf.ReadModel(whole); err != nil || len(headers) != 1 {
		t.Errorf("one part is a whole model: %v", err)
	}
}
