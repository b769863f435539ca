// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func write(t *testing.T, root string, s *Statement, c byte, runner string) string {
	t.Helper()
	file, err := Write(root, s, seeded(c), runner)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestWriteAndFind(t *testing.T) {
	base, next := t.TempDir(), t.TempDir()
	find := func(roots ...string) (counts, refused []string) {
		t.Helper()
		s := statement()
		f, err := Find(roots, s.Component, s.Output, s.Definition, trusted(), now)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range f.Counts {
			counts = append(counts, fmt.Sprintf("%s %s %s", v.Runner, v.Result, v.At.Format("15:04")))
		}
		for _, r := range f.Refused {
			refused = append(refused, fmt.Sprintf("%s %T", filepath.Base(r.File), r.Err))
		}
		return counts, refused
	}
	same := func(what string, got []string, want ...string) {
		t.Helper()
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", what, d)
		}
	}
	counts, refused := find(base, next)
	same("no folder", counts)
	same("no folder", refused)

	file := write(t, base, statement(), 1, "halo-1")
	if want := "ci/evidence/llama-vulkan/070707070707.prefill.halo-1.json"; file != want {
		t.Errorf("written to %s, want %s", file, want)
	}
	counts, _ = find(base, next)
	same("one", counts, "halo-1 PASSED 11:00")

	// What is about something else does not count, wherever it lies.
	for _, change := range []func(*Statement){
		func(s *Statement) { s.Output = output(8) },
		func(s *Statement) { s.Definition = "sha256:" + digits("e") },
		func(s *Statement) { s.Component = "zinc" },
	} {
		s := statement()
		change(s)
		s.Result, s.PassedOnes = Failed, nil
		envelope := sign(t, s, 2, "halo-2")
		if err := os.WriteFile(filepath.Join(base, filepath.Dir(file), "070707070707.x.halo-2.json"), envelope, 0o644); err != nil {
			t.Fatal(err)
		}
		counts, refused = find(base, next)
		same("another", counts, "halo-1 PASSED 11:00")
		same("another", refused)
	}

	// The newest of each runner counts, in whichever tree it lies.
	s := statement()
	s.Result, s.PassedOnes, s.At = Failed, nil, s.At.Add(time.Minute)
	write(t, next, s, 1, "halo-1")
	write(t, next, statement(), 2, "halo-2")
	for _, roots := range [][]string{{base, next}, {next, base}} {
		counts, _ = find(roots...)
		same("both trees", counts, "halo-1 FAILED 11:01", "halo-2 PASSED 11:00")
	}
	s.At = statement().At
	write(t, next, s, 1, "halo-1")
	for _, roots := range [][]string{{base, next}, {next, base}} {
		counts, _ = find(roots...)
		same("of one moment", counts, "halo-1 FAILED 11:00", "halo-2 PASSED 11:00")
	}

	// What does not verify is told and does not count.
	dir := filepath.Join(base, filepath.Dir(file))
	for name, data := range map[string][]byte{
		"070707070707.a.json": []byte("{}"), "070707070707.b.json": sign(t, statement(), 2, "halo-1"), "070707070707.c.json": sign(t, statement(), 9, "mallory"),
		"070707070707.d.json": sign(t, statement(), 3, "sold"), "070707070707.e.json": make([]byte, MaxSize+1), "070707070707.txt": nil, "080808080808.a.json": nil,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("070707070707.a.json", filepath.Join(dir, "070707070707.f.json")); err != nil {
		t.Fatal(err)
	}
	counts, refused = find(base, next)
	same("with others", counts, "halo-1 FAILED 11:00", "halo-2 PASSED 11:00")
	same("refused", refused, "070707070707.a.json *evidence.WrongType", "070707070707.b.json *evidence.BadSignature", "070707070707.c.json *evidence.UnknownKey",
		"070707070707.d.json *evidence.Revoked", "070707070707.e.json *evidence.TooLarge", "070707070707.f.json *evidence.Malformed")
}

func TestFindStaysInside(t *testing.T) {
	outside, root := t.TempDir(), t.TempDir()
	file := write(t, outside, statement(), 1, "halo-1")
	s := statement()
	if err := os.MkdirAll(filepath.Join(root, Folder), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(outside, filepath.Dir(file)), filepath.Join(root, Folder, s.Component)); err != nil {
		t.Fatal(err)
	}
	if f, err := Find([]string{root}, s.Component, s.Output, s.Definition, trusted(), now); err == nil {
		t.Errorf("a link out of the tree was followed: %+v", f)
	}
	if _, err := Find([]string{root}, "../..", s.Output, s.Definition, trusted(), now); err == nil {
		t.Error("a component's name leads out of the folder")
	}
	if _, err := Find([]string{root}, s.Component, "t1:", s.Definition, trusted(), now); err == nil {
		t.Error("an output without a sum is looked for")
	}
}

func TestFindIsBounded(t *testing.T) {
	root, s := t.TempDir(), statement()
	dir := filepath.Join(root, Folder, s.Component)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range maxFiles + 10 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("070707070707.%04d.json", i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f, err := Find([]string{root}, s.Component, s.Output, s.Definition, trusted(), now)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Refused) != maxFiles+1 {
		t.Errorf("%d files were looked at", len(f.Refused))
	}
}
