// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package vendored

import (
	"path/filepath"
	"testing"
)

// What a lock file names never leaves its folder.
func FuzzLocks(f *testing.F) {
	for _, s := range []string{
		"version = 4\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nsource = \"registry+https://x\"\nchecksum = \"" + sumA + "\"\n",
		`{"lockfileVersion": 1, "dependencies": {"a": {"version": "npm:@b/c@1.0.0", "integrity": "sha1-qqqqqqqqqqqqqqqqqqqqqqqqqqo="}}}`,
		`{"lockfileVersion": 3, "packages": {"node_modules/@a/b": {"version": "1", "integrity": "sha1-qqqqqqqqqqqqqqqqqqqqqqqqqqo="}}}`,
		"x.example/a v1.0.0 h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		local := func(p string) {
			if !filepath.IsLocal(filepath.FromSlash(p)) || filepath.Clean(p) != filepath.FromSlash(p) {
				t.Fatalf("%q leaves", p)
			}
		}
		if l, err := ParseCargoLock("f", b); err == nil {
			for _, c := range l.Crates {
				local(c.Folder())
			}
			l.CargoConfig("/x")
		}
		if l, err := ParsePackageLock("f", b); err == nil {
			for _, p := range l {
				local(p.Path())
			}
		}
		if l, err := ParseGoSum("f", b); err == nil {
			for _, m := range l {
				if p, err := m.ZipPath(); err == nil {
					local(p)
				}
			}
		}
	})
}
