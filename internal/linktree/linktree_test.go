// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package linktree

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var old = time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)

// tree makes a folder with what a store's entry may have, read-only.
func tree(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "from")
	for name, text := range map[string]string{"a": "a\n", "d/run": "run\n", "d/deep/skip": "no\n"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o444); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../a", dir+"/d/link"); err != nil {
		t.Fatal(err)
	}
	if err := DateLink(dir+"/d/link", old); err != nil {
		t.Fatal(err)
	}
	os.Chmod(dir+"/d/run", 0o555)
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if d.Type()&fs.ModeSymlink == 0 {
			os.Chtimes(path, old, old)
		}
		return err
	})
	for _, d := range []string{"d/deep", "d", ""} {
		os.Chtimes(filepath.Join(dir, d), old, old)
		os.Chmod(filepath.Join(dir, d), 0o555)
	}
	t.Cleanup(func() { writable(dir) })
	return dir
}

func writable(dir string) {
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			os.Chmod(path, 0o755)
		}
		return nil
	})
}

func list(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		st, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		text := ""
		if st.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = string(data)
		}
		fmt.Fprintf(&b, "%s %s %s %q\n", rel, st.Mode(), st.ModTime().UTC().Format(time.RFC3339), text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestCopy(t *testing.T) {
	t.Parallel()
	from := tree(t)
	want := list(t, from)
	for name, o := range map[string]Options{
		"links":  {},
		"copies": {NoLink: func(string) bool { return true }},
	} {
		t.Run(name, func(t *testing.T) {
			to := filepath.Join(t.TempDir(), "to")
			t.Cleanup(func() { writable(to) })
			if err := Copy(from, to, o); err != nil {
				t.Fatal(err)
			}
			if got := list(t, to); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			a, err1 := os.Stat(from + "/a")
			b, err2 := os.Stat(to + "/a")
			if err1 != nil || err2 != nil || os.SameFile(a, b) != (name == "links") {
				t.Errorf("one file: %v, %v %v", os.SameFile(a, b), err1, err2)
			}
			if err := Copy(from, to, o); err == nil {
				t.Error("what is there was written over")
			}
		})
	}
	t.Run("skip", func(t *testing.T) {
		to := filepath.Join(t.TempDir(), "to")
		t.Cleanup(func() { writable(to) })
		if err := Copy(from, to, Options{Skip: func(path string) bool { return path == filepath.Join("d", "deep") || path == "a" }}); err != nil {
			t.Fatal(err)
		}
		if got := list(t, to); strings.Contains(got, "skip") || strings.Contains(got, "\na ") || !strings.Contains(got, "d/run") {
			t.Errorf("got\n%s", got)
		}
	})
	t.Run("a file", func(t *testing.T) {
		to := filepath.Join(t.TempDir(), "to")
		if err := Copy(from+"/d/run", to, Options{}); err != nil || list(t, to) != list(t, from+"/d/run") {
			t.Errorf("%v: %s", err, list(t, to))
		}
	})
}
