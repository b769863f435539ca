// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/archtest"
	"github.com/1bit-MONSTER/engine/internal/parts"
)

// with is the header in a style, as the cases below expect it.
func with(s style) string {
	return s.before + header[0] + s.after + "\n" + s.before + header[1] + s.after + "\n"
}

func TestFixHeader(t *testing.T) {
	crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	for _, c := range []struct{ what, name, in, out string }{
		{"go", "a.go", "package a\n", with(slashes) + "\npackage a\n"},
		{"go, build line above", "a.go", "//go:build unix\n\n" + with(slashes) + "\npackage a\n", with(slashes) + "\n//go:build unix\n\npackage a\n"},
		{"go, header as package comment", "a.go", with(slashes) + "package a\n", with(slashes) + "\npackage a\n"},
		{"script", "run", "#!/bin/sh\necho\n", "#!/bin/sh\n" + with(hash) + "\necho\n"},
		{"script without line end", "x.sh", "#!/bin/sh", "#!/bin/sh\n" + with(hash)},
		{"carriage returns", "a.bat", "@echo off\r\necho\r\n", crlf("@echo off\n" + with(rem) + "\necho\n")},
		{"xml", "a.svg", "<?xml version=\"1.0\"?>\n<svg/>\n", "<?xml version=\"1.0\"?>\n" + with(xml) + "\n<svg/>\n"},
		{"html", "a.html", "<!DOCTYPE html>\n<p>\n", "<!DOCTYPE html>\n" + with(xml) + "\n<p>\n"},
		{"front matter", "a.md", "---\nname: x\n---\n", "---\n" + with(hash) + "\nname: x\n---\n"},
		{"byte order mark", "a.md", "\ufeff# T\n", "\ufeff" + with(xml) + "\n# T\n"},
		{"stack", "patches/x/series", "a.patch\n", with(hash) + "\na.patch\n"},
		{"empty", "a.yaml", "", with(hash)},
		{"css", "a.css", "a {}\n", with(cBlock) + "\na {}\n"},
	} {
		t.Run(c.what, func(t *testing.T) {
			s, carries, known := styleOf(c.name, firstLine([]byte(c.in)))
			if !carries || !known {
				t.Fatalf("styleOf(%q): carries %v, known %v", c.name, carries, known)
			}
			why, fixed := judge(c.name, []byte(c.in), s)
			if why == "" || string(fixed) != c.out {
				t.Fatalf("judge says %q and makes\n%q, want\n%q", why, fixed, c.out)
			}
			if why, _ := judge(c.name, fixed, s); why != "" {
				t.Errorf("after the fix: %s", why)
			}
		})
	}
}

func TestForeignHeaderIsLeftAlone(t *testing.T) {
	in := "// Copyright (c) 2024 Somebody\n\npackage a\n"
	if why, fixed := judge("a.go", []byte(in), slashes); why == "" || fixed != nil {
		t.Errorf("judge says %q and makes %q, want a refusal", why, fixed)
	}
}

func TestStyles(t *testing.T) {
	for _, c := range []struct {
		name           string
		carries, known bool
	}{
		{"LICENSE", false, true}, {"x/go.sum", false, true}, {"a.json", false, true},
		{"patches/x/0001-a.patch", false, true}, {"x/testdata/a.golden", false, true},
		{"x/testdata/a.gguf", false, true}, {"x/testdata/a.txtar", true, true},
		{"testdata/a.go", true, true}, {".gitignore", true, true},
		{"a.gguf", false, false}, {"notes.txt", false, false}, {"testdata", false, false},
	} {
		if _, carries, known := styleOf(c.name, ""); carries != c.carries || known != c.known {
			t.Errorf("styleOf(%q) = %v, %v; want %v, %v", c.name, carries, known, c.carries, c.known)
		}
	}
}

func TestHeadersOfWorkTree(t *testing.T) {
	parts.Need(t, "git")
	root := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) {
		cmd := exec.Command("git", args...)
		cmd.Dir = root
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_GLOBAL=" + os.DevNull}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	write("tracked.go", "package a\n", 0o666)
	write("gone.go", "package a\n", 0o666)
	write(".gitignore", with(hash)+"ignored.go\n", 0o666)
	git("add", ".")
	os.Remove(filepath.Join(root, "gone.go"))
	write("ignored.go", "package a\n", 0o666)
	write("new file.sh", "#!/bin/sh\n", 0o755)
	write("what.bin", "\x00", 0o666)
	write("other.xyz", "\x00", 0o666)
	if err := os.Symlink("/etc/passwd", filepath.Join(root, "link.go")); err != nil {
		t.Fatal(err)
	}

	h, err := CheckHeaders(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range h.Problems {
		got = append(got, p.File)
	}
	if want := []string{"new file.sh", "other.xyz", "tracked.go", "what.bin"}; !slices.Equal(got, want) {
		t.Fatalf("problems with %q, want %q", got, want)
	}
	if h, err = FixHeaders(t.Context(), root); err != nil {
		t.Fatal(err)
	}
	if want := []string{"new file.sh", "tracked.go"}; !slices.Equal(h.Fixed, want) || len(h.Problems) != 2 {
		t.Fatalf("fixed %q with %v left, want %q with 2 left", h.Fixed, h.Problems, want)
	}
	if info, err := os.Stat(filepath.Join(root, "new file.sh")); err != nil || info.Mode().Perm()&0o100 == 0 {
		t.Errorf("the script lost its mode: %v, %v", info.Mode(), err)
	}
	if h, err = FixHeaders(t.Context(), root); err != nil || len(h.Fixed) != 0 {
		t.Errorf("a second fix changed %q, %v", h.Fixed, err)
	}
	if left, _ := filepath.Glob(filepath.Join(root, ".license-*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// TestThisRepository is what keeps every commit honest, without .ci/run.
func TestThisRepository(t *testing.T) {
	parts.Need(t, "git")
	root, err := archtest.Root()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, ".git")); err != nil {
		t.Skip("not a git clone")
	}
	h, err := CheckHeaders(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range h.Problems {
		t.Errorf("%s: %s (go run ./cmd/dist license fix)", p.File, p.Why)
	}
	if h.Files == 0 {
		t.Error("no file carries a header")
	}
}
