// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux && amd64

package build

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/rmtree"
)

// shelf is a Remote on the disk. The real one is tested in its own package.
type shelf struct {
	dir           string
	pulls, pushes int
}

func (s *shelf) Pull(_ context.Context, want Wanted, dir string) (string, bool) {
	s.pulls++
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(s.dir, string(want.Key)))); err != nil {
		os.RemoveAll(dir)
		return "", false
	}
	return "shelf", want.Check(dir) == nil
}

func (s *shelf) Push(_ context.Context, o Offered) {
	if s.pushes++; s.pushes == 1 {
		os.CopyFS(filepath.Join(s.dir, string(o.Entry.Key)), os.DirFS(o.Entry.Path))
	}
}

// The program 1bit comes from the remote cache, and its archive is the same.
func TestServeFromRemote(t *testing.T) {
	repo, s := project(t, nil), &shelf{dir: t.TempDir()}
	t.Cleanup(func() { rmtree.All(s.dir) })
	o := Options{Repo: repo, Out: filepath.Join(repo, "dist"), Cache: newCache(t), Remote: s}
	first := build(t, o)
	if first.From != "" || s.pulls != 1 || s.pushes != 1 {
		t.Fatalf("the first build: %+v, asked %d times, given %d times", first, s.pulls, s.pushes)
	}
	st, err := o.Cache.Store()
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Remove(t.Context(), first.Key); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(first.Archive); err != nil {
		t.Fatal(err)
	}
	second := build(t, o)
	if second.From != "shelf" || second.Hit || second.SHA256 != first.SHA256 || second.Component != first.Component {
		t.Errorf("the second: %+v, want %+v from the shelf", second, first)
	}
	if e, err := st.Get(first.Key); err != nil || e.Meta[originMeta] != "shelf" {
		t.Errorf("the store has %+v, %v", e, err)
	}
	if s.pushes != 1 {
		t.Error("what was taken is given back")
	}
	third := build(t, o)
	if third.From != "" || !third.UpToDate && !third.Hit || s.pulls != 2 {
		t.Errorf("the third: %+v", third)
	}
}

// An output that the recipe does not name, though the remote cache has it, is
// not taken, and reproduce takes nothing from there.
func TestRemoteIsChecked(t *testing.T) {
	b := newBench(t, testRecipe("demo", sh("copy", "cp /src/demo/a /out/out")))
	s := &shelf{dir: t.TempDir()}
	b.Remote = s
	c := b.planned(t, "demo")
	if _, err := b.one(t.Context(), c, nil); err != nil || s.pulls+s.pushes != 0 {
		t.Errorf("with the machine's tools: %v, asked %d times, given %d times", err, s.pulls, s.pushes)
	}
	if got, err := b.Reproduce(t.Context(), c, nil); err != nil || !got.Equal || s.pulls+s.pushes != 0 {
		t.Errorf("reproduce: %+v, %v, asked %d times", got, err, s.pulls)
	}
	c.Inputs.Space = Sandboxed
	bad := filepath.Join(s.dir, string(c.Key))
	if err := os.Mkdir(bad, 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, bad, "other", "x")
	dir := filepath.Join(t.TempDir(), "content")
	if _, ok := b.pull(t.Context(), c, dir); ok {
		t.Error("an output that the recipe does not name is taken")
	}
}
