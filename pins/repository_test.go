// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package pins

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The pins of this repository are part of what is tested.
func TestRepositoryPins(t *testing.T) {
	s, err := Load(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields(`llama-vulkan llama-hrx hrx-system therock rocmfpx xdna-driver xrt zinc zig
		linux tokenizers rust laya laya-checkpoints laya-gguf lemonade lemon-mlx-engine mlir-aie llvm-aie go`) {
		if s.Pin(name) == nil {
			t.Errorf("there is no pin %s", name)
		}
	}
	if p := s.Pin("go"); p == nil || p.State() != Verified {
		t.Error("the Go toolchain must be verified: the build uses it")
	}
	for _, p := range s.Pins {
		if _, err := NewSchemes(&p.Track); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
	hrx := s.Group("hrx")
	if hrx == nil || len(hrx.Contracts) != 1 {
		t.Fatal("the group hrx has its contract")
	}
	for _, file := range []string{"ggml/src/ggml-hrx/loom-jit.cpp", "ggml/src/ggml-hrx/a/b.h"} {
		ok := false
		for _, glob := range hrx.Contracts[0].User.Files {
			ok = ok || MatchGlob(glob, file)
		}
		if !ok {
			t.Errorf("the contract of hrx does not read %s", file)
		}
	}
}

// The tags that real upstreams have are all understood.
func TestRepositorySchemes(t *testing.T) {
	s, err := Load(".")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		best string
		tags string
	}{
		"llama-vulkan": {"v0.5.0", "b9998 b9999 b10000 b10825 gguf-v0.19.0 v0.5.0"},
		"linux":        {"v7.3-rc4", "v2.6.11 v2.6.11-tree v6.14 v7.2 v7.2-rc7 v7.3-rc3 v7.3-rc4"},
		"tokenizers":   {"v0.23.2", "v0.13.4.rc1 v0.20.0rc1 v0.23.1 v0.23.2 python-v0.9.4 node-v0.13.2"},
		"go":           {"v0.0.1-go1.27.4.linux-amd64", "v0.0.1-go1.26.8.linux-amd64 v0.0.1-go1.27.4.linux-amd64 v0.0.1-go1.28rc1.linux-amd64"},
	} {
		schemes := mustSchemes(t, &s.Pin(name).Track)
		best, outside, err := schemes.Newest(strings.Fields(test.tags))
		if best != test.best || len(outside) > 0 || err != nil {
			t.Errorf("%s: newest %q, outside %q, %v; want %q", name, best, outside, err, test.best)
		}
	}
}

// Every pin file says whose it is, as every other file does.
func TestRepositoryHeaders(t *testing.T) {
	files, _ := filepath.Glob("*.yaml")
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(data), "# Copyright 2026 The 1bit engine authors\n# SPDX-License-Identifier: Apache-2.0\n") {
			t.Errorf("%s lacks its two first lines", name)
		}
	}
}
