// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/rmtree"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// Put never hands out an entry that somebody changed, cut or half removed: it
// makes it again. One that was only copied stays.
func TestPutMakesDamagedEntriesAgain(t *testing.T) {
	rewrite := func(t *testing.T, path, text string) {
		t.Helper()
		if err := os.Chmod(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o444); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name   string
		damage func(t *testing.T, dir string)
		again  bool
	}{
		{"nothing", func(*testing.T, string) {}, false},
		{"other content of the same size", func(t *testing.T, dir string) { rewrite(t, filepath.Join(dir, "content/a b"), "TEXT") }, true},
		{"the same content written anew", func(t *testing.T, dir string) { rewrite(t, filepath.Join(dir, "content/a b"), "text") }, false},
		{"a file cut off", func(t *testing.T, dir string) { rewrite(t, filepath.Join(dir, "content/a b"), "te") }, true},
		{"one file more", func(t *testing.T, dir string) { rewrite(t, filepath.Join(dir, "content/bin/other"), "x") }, true},
		{"one file less", func(t *testing.T, dir string) {
			rewrite(t, filepath.Join(dir, "content/a b"), "")
			os.Remove(filepath.Join(dir, "content/a b"))
		}, true},
		{"an exec bit lost", func(t *testing.T, dir string) { os.Chmod(filepath.Join(dir, "content/bin/run"), 0o444) }, true},
		{"no content", func(t *testing.T, dir string) { rmtree.All(filepath.Join(dir, "content")) }, true},
		{"no list of files", func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, "files.json")) }, true},
		{"an empty list of files", func(t *testing.T, dir string) { rewrite(t, filepath.Join(dir, "files.json"), "") }, true},
		{"another list of files", func(t *testing.T, dir string) { rewrite(t, filepath.Join(dir, "files.json"), "[]") }, true},
		{"no record", func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, "record.json")) }, true},
		{"an empty record", func(t *testing.T, dir string) { rewrite(t, filepath.Join(dir, "record.json"), "") }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t)
			key, err := KeyOf(treeSum(t))
			if err != nil {
				t.Fatal(err)
			}
			made := 0
			m := Maker{Kind: "source", Name: "demo", Fill: func(ctx context.Context, path string) error {
				made++
				return tree(ctx, path)
			}}
			if _, err := s.Put(t.Context(), key, m); err != nil {
				t.Fatal(err)
			}
			c.damage(t, s.entry(key))
			e, err := s.Put(t.Context(), key, m)
			if err != nil {
				t.Fatal(err)
			}
			if again := made == 2; again != c.again {
				t.Errorf("made again: %v, want %v", again, c.again)
			}
			if d := s.Verify(key); d != nil || e.Sum != treeSum(t) {
				t.Errorf("afterwards: %+v, sum %s", d, e.Sum)
			}
			if left, _ := os.ReadDir(filepath.Join(s.dir, "tmp")); len(left) > 0 {
				t.Errorf("tmp holds %v", left)
			}
		})
	}
}

// A store that is removed under a work that uses it is not the code's fault.
func TestRemovedStoreIsInfra(t *testing.T) {
	s := open(t)
	m := file("wanted")
	m.Fill = func(ctx context.Context, path string) error {
		if err := rmtree.All(s.dir); err != nil {
			return err
		}
		return file("wanted").Fill(ctx, path)
	}
	_, err := s.Put(t.Context(), keyFor(t, "wanted"), m)
	if verdict.Of(err) != verdict.Infra || !strings.Contains(err.Error(), "run the same again") {
		t.Errorf("verdict %s: %v", verdict.Of(err), err)
	}
	_, err = s.Put(t.Context(), keyFor(t, "wanted"), file("wanted"))
	if verdict.Of(err) != verdict.Infra || !strings.Contains(err.Error(), "run the same again") {
		t.Errorf("verdict %s: %v", verdict.Of(err), err)
	}
}

func TestOpenSaysWhatToDo(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("nowhere", filepath.Join(dir, "dangling")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"dangling", "dangling/sub", "file", "file/sub", strings.Repeat("n", 300), "nul\x00"} {
		_, err := Open(filepath.Join(dir, name))
		if verdict.Of(err) != verdict.Infra || !strings.Contains(err.Error(), "DIST_CACHE") {
			t.Errorf("%.20q: verdict %s: %v", name, verdict.Of(err), err)
		}
	}
}
