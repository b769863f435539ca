// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/treesum"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// An engine is a repository of ours with one verified pin, demo, whose stack is
// demo too, and the upstream that it is on.
type engine struct {
	t        testing.TB
	root     string
	upstream *gittest.Repo
	base     git.ID
}

const status = "\n\nUpstream-Status: pending\n"

// newEngine locks the pin at an upstream commit.
func newEngine(t testing.TB, upstream *gittest.Repo, base git.ID) *engine {
	t.Helper()
	e := &engine{t, t.TempDir(), upstream, base}
	e.put("go.mod", "module github.com/1bit-MONSTER/engine\n")
	e.put("pins/groups.yaml", "[]\n")
	tree := upstream.Tree(base)
	sum, err := treesum.FromGit(t.Context(), upstream.Repo, tree, treesum.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e.put("pins/demo.yaml", fmt.Sprintf(`# the demo
name: demo
what: a demo
upstream: https://example.org/demo.git
license: MIT
use: build-tool
track: {kind: git-branch, branch: main}
stack: demo
lock:
  commit: %s
  tree: %s
  sum: %s
  date: 2026-10-01T12:00:00Z
`, base, tree, sum.Sum))
	return e
}

func (e *engine) put(name, content string) {
	e.t.Helper()
	path := filepath.Join(e.root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		e.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		e.t.Fatal(err)
	}
}

func (e *engine) get(name string) string {
	e.t.Helper()
	data, err := os.ReadFile(filepath.Join(e.root, filepath.FromSlash(name)))
	if err != nil {
		e.t.Fatal(err)
	}
	return string(data)
}

// open returns the repository, opened to be written until the test ends or
// the caller closes it.
func (e *engine) open() *Repository {
	e.t.Helper()
	r, err := OpenToWrite(e.t.Context(), e.root)
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { r.Close() })
	return r
}

// source is the upstream, for every stack.
func (e *engine) source(context.Context, *pins.Pin, string) (*git.Repo, error) {
	return e.upstream.Repo, nil
}

// imports makes the stack of a branch of the upstream.
func (e *engine) imports(branch string) *Imported {
	e.t.Helper()
	r := e.open()
	defer r.Close()
	im, err := r.Import(e.t.Context(), "demo", From{Where: e.upstream.Dir(), Branch: branch})
	if err != nil {
		e.t.Fatal(err)
	}
	return im
}

func (e *engine) check() *Checked {
	e.t.Helper()
	r, err := Open(e.t.Context(), e.root)
	if err != nil {
		e.t.Fatal(err)
	}
	return r.Check(e.t.Context(), "demo", e.source)
}

// state is everything below the repository, to see that nothing changed.
func (e *engine) state() map[string]string {
	e.t.Helper()
	files := map[string]string{}
	err := filepath.Walk(e.root, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() || info.Name() == ".lock" {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(e.root, path)
		files[rel] = string(data)
		return err
	})
	if err != nil {
		e.t.Fatal(err)
	}
	return files
}

func names(files map[string]string) string {
	var list []string
	for f := range files {
		list = append(list, f)
	}
	sort.Strings(list)
	return strings.Join(list, " ")
}

// three makes an upstream whose branch ours has three commits on main.
func three(t testing.TB) (*gittest.Repo, git.ID) {
	t.Helper()
	up := gittest.New(t)
	base := up.Commit("main", "base", gittest.Files{"a.c": numbered(1, 40), "b.c": "int b;\n", "crlf.txt": "one\r\ntwo\r\n"})
	up.Move("ours", base)
	up.Commit("ours", "First change"+status, gittest.Files{"a.c": strings.Replace(numbered(1, 40), "line 5\n", "line five\n", 1)})
	up.Commit("ours", "Second change"+status, gittest.Files{"b.c": "int b = 1;\n", "crlf.txt": "one\r\ntwo\r\nthree\r\n"})
	up.Commit("ours", "Third change"+status, gittest.Files{"a.c": strings.NewReplacer("line 5\n", "line five\n", "line 30\n", "line thirty\n").Replace(numbered(1, 40))})
	return up, base
}

// numbered is lines with their numbers.
func numbered(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

// wantError demands an error of a verdict with words in it.
func wantError(t *testing.T, err error, v verdict.Verdict, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %s", v)
	}
	var usage *verdict.Usage
	if isUsage := errors.As(err, &usage); v == "usage" && !isUsage || v != "usage" && verdict.Of(err) != v {
		t.Errorf("the verdict is %s: %v", verdict.Of(err), err)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%q is not in: %v", w, err)
		}
	}
}

var epoch = time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC)

var cleanTestAuthor = git.Signature{Name: "A", Email: "a@example.com", When: epoch}
