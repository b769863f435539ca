// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/toolchain"
)

// Roots returns the keys of all that the locks of a set name, each with the pin
// that does: sources with and without our patches, submodules, files, images,
// inputs, and unpacked toolchains. What is built from them is none: it can be
// built again.
func Roots(set *pins.Set) map[store.Key]string {
	roots := map[store.Key]string{}
	for _, p := range set.Pins {
		if p.Lock == nil {
			continue
		}
		for _, sum := range lockedSums(p) {
			// What has no sum yet, or one of another kind, is in no store.
			if key, err := store.KeyOf(sum); err == nil {
				roots[key] = p.Name
			}
		}
	}
	return roots
}

// lockedSums returns every sum of a lock, some of them empty.
func lockedSums(p *pins.Pin) []string {
	l := p.Lock
	sums := []string{l.Sum, l.Digest}
	if l.Patched != nil {
		sums = append(sums, l.Patched.Sum)
	}
	for _, s := range l.Submodules {
		sums = append(sums, s.Sum)
	}
	for _, f := range l.Files {
		sums = append(sums, "sha256:"+f.SHA256)
	}
	for _, i := range l.Inputs {
		sums = append(sums, i.Sum)
		if i.Kind == pins.InputFile {
			sums = append(sums, "sha256:"+i.SHA256)
		}
	}
	if sum, err := toolchain.Sum(p); err == nil { // else it is none
		sums = append(sums, sum)
	}
	return sums
}
