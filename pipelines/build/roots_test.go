// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/toolchain"
)

func TestRootsAreAllThatLocksName(t *testing.T) {
	tree := func(n byte) string {
		sum := sha256.Sum256([]byte{n})
		return "t1:" + base64.StdEncoding.EncodeToString(sum[:])
	}
	hex := func(n byte) string { return fmt.Sprintf("%x", sha256.Sum256([]byte{n})) }
	source := &pins.Pin{Name: "source", Lock: &pins.Lock{
		Commit: "c", Sum: tree(1), Patched: &pins.Patched{Sum: tree(2)},
		Submodules: []pins.Submodule{{Sum: tree(3)}, {}},
		Inputs: []pins.Input{
			{Kind: pins.InputGit, Sum: tree(4)},
			{Kind: pins.InputFile, SHA256: hex(5)},
			{Kind: pins.InputUnused, SHA256: hex(6)}, // of the file that declares it: no entry
		},
	}}
	image := &pins.Pin{Name: "image", Lock: &pins.Lock{Digest: "sha256:" + hex(7)}}
	packages := &pins.Pin{
		Name: "packages", Use: pins.BuildTool, Track: pins.Track{Kind: pins.Deb},
		Lock: &pins.Lock{Version: "1", Files: []pins.File{{Name: "a", SHA256: hex(8)}}},
	}
	root, err := toolchain.Sum(packages)
	if err != nil {
		t.Fatal(err)
	}
	want := map[store.Key]string{}
	for sum, pin := range map[string]string{
		tree(1): "source", tree(2): "source", tree(3): "source", tree(4): "source", "sha256:" + hex(5): "source",
		"sha256:" + hex(7): "image", "sha256:" + hex(8): "packages", root: "packages",
	} {
		key, err := store.KeyOf(sum)
		if err != nil {
			t.Fatal(err)
		}
		want[key] = pin
	}
	got := Roots(&pins.Set{Pins: []*pins.Pin{source, image, packages, {Name: "unlocked"}}})
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
