// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package toolchain

import (
	"slices"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/pins"
)

// The locks of Debian packages that are committed have no address, only files
// that stay in the pool, and everything that their pins name.
func TestCommittedLocks(t *testing.T) {
	set, err := pins.Load("../../pins")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, p := range set.Pins {
		if p.Track.Kind != pins.Deb {
			continue
		}
		seen++
		if err := Lockable(p); err != nil {
			t.Error(err)
		}
		if p.State() != pins.Verified || p.Lock.Date.IsZero() {
			t.Errorf("%s is %s, or has no date", p.Name, p.State())
			continue
		}
		for _, name := range append([]string{"libc6", "dash", "base-files"}, p.Track.Packages...) {
			if !slices.ContainsFunc(p.Lock.Files, func(f pins.File) bool { return f.Name == name }) {
				t.Errorf("%s: the lock lacks %s", p.Name, name)
			}
		}
		for _, f := range p.Lock.Files {
			if f.URL != "" || !strings.HasPrefix(f.Path, "pool/main/") || f.Size <= 0 || f.Platform != "amd64" && f.Platform != "all" {
				t.Errorf("%s: %+v", p.Name, f)
			}
		}
	}
	if seen < 2 {
		t.Errorf("%d pins of Debian packages, want the one for C and C++ and the one for kernels", seen)
	}
}
