// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// A repository of the cache that lost or broke any of its files is made again;
// offline nothing is touched.
func TestDamagedRepository(t *testing.T) {
	t.Parallel()
	up := gittest.New(t)
	up.Commit("main", "one", gittest.Files{"a": "one", "big": noise(60000)})
	pack := func(dir, suffix string) string {
		names, _ := filepath.Glob(dir + "/objects/pack/*" + suffix)
		if len(names) != 1 {
			t.Fatalf("packs %v", names)
		}
		os.Chmod(names[0], 0o600)
		return names[0]
	}
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, damage := range map[string]func(dir string){
		"no pack":      func(dir string) { os.Remove(pack(dir, ".pack")) },
		"no index":     func(dir string) { os.Remove(pack(dir, ".idx")) },
		"cut pack":     func(dir string) { os.Truncate(pack(dir, ".pack"), 9000) },
		"changed pack": func(dir string) { flip(t, pack(dir, ".pack")) },
		"empty HEAD":   func(dir string) { write(dir+"/HEAD", "") },
		"no HEAD":      func(dir string) { os.Remove(dir + "/HEAD") },
		"broken config": func(dir string) {
			write(dir+"/config", "[core")
		},
		"no objects":     func(dir string) { os.RemoveAll(dir + "/objects") },
		"no refs":        func(dir string) { os.RemoveAll(dir + "/refs") },
		"broken shallow": func(dir string) { write(dir+"/shallow", "junk\n") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.local("x", up)
			w.pin("x", followMain)
			w.must("x")
			p := w.get("x")
			dir := w.e.CacheDir + "/git/x.git"
			damage(dir)
			entries, err := w.e.Store.List()
			if err != nil || len(entries) != 1 {
				t.Fatal(entries, err)
			}
			if err := w.e.Store.Remove(t.Context(), entries[0].Key); err != nil {
				t.Fatal(err)
			}
			w.e.Offline = true
			_, err = w.e.Content(t.Context(), p)
			w.wants(verdict.Of(err), err.Error(), verdict.Infra, "pin x", "offline")
			if _, err := os.Stat(dir + damagedSuffix); err == nil {
				t.Error("offline it was moved aside")
			}
			w.e.Offline = false
			if got := w.read(p, "a"); got != "one" {
				t.Errorf("content %q", got)
			}
			w.snapshot()
		})
	}
}

// Only what is in the cache is ever moved.
func TestMendingOnlyOwn(t *testing.T) {
	e := &Engine{CacheDir: "/cache"}
	for dir, want := range map[string]bool{
		"/cache/git/x.git": true, "/cache/git/by-url/x.git": true,
		"/cache/git": false, "/cache/x.git": false, "/other/x.git": false, "/cache/git/../x.git": false,
	} {
		if got := e.ours(filepath.FromSlash(dir)); got != want {
			t.Errorf("%s: %t", dir, got)
		}
	}
}

// flip changes bytes in the middle of a file.
func flip(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		data[len(data)/2+i] ^= 0xff
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// noise is a text of n bytes that does not compress, always the same.
func noise(n int) string {
	b := make([]byte, n)
	x := uint32(1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return string(b)
}
