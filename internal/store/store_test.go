// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/dirhash"

	"github.com/1bit-MONSTER/engine/internal/rmtree"
)

func open(t *testing.T) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "store"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rmtree.All(s.dir) })
	return s
}

func keyFor(t *testing.T, content string) Key {
	t.Helper()
	key, err := KeyOf(fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(content))))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// file is a Maker of one file.
func file(content string) Maker {
	return Maker{Kind: "file", Name: "a file", Fill: func(_ context.Context, path string) error {
		return os.WriteFile(path, []byte(content), 0o666)
	}}
}

// tree is a Maker of a folder with an executable and a link.
func tree(_ context.Context, path string) error {
	if err := os.MkdirAll(filepath.Join(path, "bin"), 0o700); err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(path, "bin", "run"), []byte("#!/bin/sh\n"), 0o700),
		os.WriteFile(filepath.Join(path, "a b"), []byte("text"), 0o600),
		os.Symlink("bin/run", filepath.Join(path, "link")),
	)
}

func treeSum(t *testing.T) string {
	t.Helper()
	content := map[string]string{"100755 bin/run": "#!/bin/sh\n", "100644 a b": "text", "120000 link": "bin/run"}
	var names []string
	for name := range content {
		names = append(names, name)
	}
	sum, err := dirhash.Hash1(names, func(name string) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(content[name])), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return "t1:" + strings.TrimPrefix(sum, "h1:")
}

func TestPutAndGet(t *testing.T) {
	s := open(t)
	key, err := KeyOf(treeSum(t))
	if err != nil {
		t.Fatal(err)
	}
	var absent *Absent
	if _, err := s.Get(key); !errors.As(err, &absent) || absent.Key != key {
		t.Fatalf("an empty store says %v", err)
	}
	e, err := s.Put(t.Context(), key, Maker{Kind: "source", Name: "demo 1", Fill: tree})
	if err != nil {
		t.Fatal(err)
	}
	if e.Sum != treeSum(t) || e.Files != 3 || e.Size != 10+4+7 || e.Name != "demo 1" {
		t.Errorf("record is %+v", e.Record)
	}
	for name, want := range map[string]string{"bin/run": "-r-xr-xr-x", "a b": "-r--r--r--", "bin": "dr-xr-xr-x"} {
		st, err := os.Stat(filepath.Join(e.Path, name))
		if err != nil || st.Mode().String() != want {
			t.Errorf("%s is %v, %v, want %s", name, st.Mode(), err, want)
		}
	}
	again, err := s.Put(t.Context(), key, Maker{Fill: func(context.Context, string) error { return errors.New("made twice") }})
	if err != nil || again.Path != e.Path {
		t.Errorf("putting it again: %+v, %v", again, err)
	}
	if d := s.Verify(key); d != nil {
		t.Errorf("Verify says %+v", d)
	}
}

func TestPutRefusesOtherContentAndLeavesNothing(t *testing.T) {
	s := open(t)
	full := errors.New("half-way")
	for name, m := range map[string]Maker{
		"other content":   file("other"),
		"a failing fill":  {Fill: func(_ context.Context, path string) error { os.WriteFile(path, []byte("wan"), 0o666); return full }},
		"a failing check": {Fill: file("wanted").Fill, Check: func(string, string) error { return full }},
		"no content":      {Fill: func(context.Context, string) error { return nil }},
		"a fifo in it": {Fill: func(_ context.Context, path string) error {
			if err := os.Mkdir(path, 0o777); err != nil {
				return err
			}
			return fifo(filepath.Join(path, "fifo"))
		}, Check: func(string, string) error { return nil }},
	} {
		t.Run(name, func(t *testing.T) {
			key := keyFor(t, "wanted")
			if _, err := s.Put(t.Context(), key, m); err == nil {
				t.Fatal("it was taken")
			}
			if _, err := s.Get(key); err == nil {
				t.Error("it is in the store")
			}
			if left, _ := os.ReadDir(filepath.Join(s.dir, "tmp")); len(left) > 0 {
				t.Errorf("tmp holds %v", left)
			}
		})
	}
}

func TestPutByManyMakesOnce(t *testing.T) {
	s := open(t)
	var made atomic.Int32
	m := file("once")
	fill := m.Fill
	m.Fill = func(ctx context.Context, path string) error { made.Add(1); return fill(ctx, path) }
	var g sync.WaitGroup
	for range 8 {
		g.Go(func() {
			if _, err := s.Put(t.Context(), keyFor(t, "once"), m); err != nil {
				t.Error(err)
			}
		})
	}
	g.Wait()
	if n := made.Load(); n != 1 {
		t.Errorf("made %d times", n)
	}
}

func TestVerifyNamesWhatChanged(t *testing.T) {
	s := open(t)
	key, _ := KeyOf(treeSum(t))
	e, err := s.Put(t.Context(), key, Maker{Fill: tree})
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{e.Path, filepath.Join(e.Path, "bin")} {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	os.Remove(filepath.Join(e.Path, "link"))
	os.Chmod(filepath.Join(e.Path, "bin", "run"), 0o644)
	os.Chmod(filepath.Join(e.Path, "a b"), 0o644)
	os.WriteFile(filepath.Join(e.Path, "a b"), []byte("texT"), 0o644)
	os.WriteFile(filepath.Join(e.Path, "new"), nil, 0o644)
	d := s.Verify(key)
	want := "a b has other content|bin/run has mode 100644, was 100755|link is missing|new is new"
	if d == nil || strings.Join(d.Why, "|") != want {
		t.Errorf("Verify says %+v, want %s", d, want)
	}
}

func TestDamagedRecord(t *testing.T) {
	s := open(t)
	key := keyFor(t, "x")
	if _, err := s.Put(t.Context(), key, file("x")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.entry(key), "record.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(key); err == nil || !strings.Contains(err.Error(), "dist store verify --repair") {
		t.Errorf("Get says %v", err)
	}
	if all, err := s.List(); err != nil || len(all) != 1 || all[0].Kind != "damaged" {
		t.Errorf("List says %+v, %v", all, err)
	}
}

func TestGCKeepsWhatIsWanted(t *testing.T) {
	s := open(t)
	old, young := keyFor(t, "old"), keyFor(t, "young")
	for content, key := range map[string]Key{"old": old, "young": young} {
		if _, err := s.Put(t.Context(), key, file(content)); err != nil {
			t.Fatal(err)
		}
	}
	past := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(filepath.Join(s.entry(old), "used"), past, past); err != nil {
		t.Fatal(err)
	}
	keep := func(_ *Entry, used time.Time) bool { return time.Since(used) < 24*time.Hour }
	for _, dry := range []bool{true, false} {
		gone, err := s.GC(t.Context(), keep, dry)
		if err != nil || len(gone) != 1 || gone[0].Key != old {
			t.Fatalf("dry run %v: gone %+v, %v", dry, gone, err)
		}
		if _, err := os.Stat(s.entry(old)); (err == nil) != dry {
			t.Errorf("dry run %v: the old entry: %v", dry, err)
		}
	}
	if _, err := s.Get(young); err != nil {
		t.Error(err)
	}
}

func TestSweepRemovesOnlyWhatTheDeadLeft(t *testing.T) {
	s := open(t)
	work, done, err := s.Workspace()
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	dead := filepath.Join(s.dir, "tmp", "w0000000000000000")
	if err := errors.Join(os.MkdirAll(filepath.Join(dead, "sub"), 0o777), os.WriteFile(dead+".lock", nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	s.sweep()
	if _, err := os.Stat(dead); err == nil {
		t.Error("a dead process's folder is still there")
	}
	if _, err := os.Stat(work); err != nil {
		t.Error("a living process's folder was removed")
	}
}

func TestKeyOf(t *testing.T) {
	const b64 = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
	zeros := strings.Repeat("0", 64)
	for sum, want := range map[string]Key{
		"t1:" + b64: Key("t1-" + zeros), "h1:" + b64: Key("h1-" + zeros), "sha256:" + zeros: Key("sha256-" + zeros), "in:" + zeros: Key("in-" + zeros),
		"t1:" + zeros: "", "md5:" + zeros: "", "sha256:..": "", "": "", "t1:": "", "sha256:" + strings.ToUpper(zeros[1:]) + "A": "",
	} {
		if got, err := KeyOf(sum); got != want && err == nil || (want == "") != (err != nil) {
			t.Errorf("KeyOf(%q) = %q, %v, want %q", sum, got, err, want)
		}
	}
}
