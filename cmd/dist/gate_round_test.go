// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/rmtree"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/patches"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/build"
	"github.com/1bit-MONSTER/engine/pipelines/check"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

// TestGateRunOnARound hands a round on, takes the upstream away and lets the
// command look at the folder.
func TestGateRunOnARound(t *testing.T) {
	ctx := t.Context()
	top := t.TempDir()
	repo, cache := filepath.Join(top, "repo"), filepath.Join(top, "cache")
	t.Cleanup(func() { rmtree.All(top) })
	up := gittest.New(t)
	up.Commit("main", "one", gittest.Files{"a": "1", "LICENSE": "one\n"})
	for name, text := range map[string]string{
		"go.mod":           "module github.com/1bit-MONSTER/engine\n",
		"pins/groups.yaml": "[]\n",
		"pins/a.yaml":      "name: a\nwhat: a test\nupstream: https://up.example/a.git\nlicense: MIT\nuse: child\ntrack: {kind: git-branch, branch: main}\n",
		"patches/README":   "",
	} {
		path := filepath.Join(repo, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	load := func() *pins.Set {
		t.Helper()
		set, err := pins.Load(filepath.Join(repo, "pins"))
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	st, err := store.Open(filepath.Join(cache, "store"))
	if err != nil {
		t.Fatal(err)
	}
	e := &fetch.Engine{Set: load(), Store: st, CacheDir: cache, Mirrors: &fetch.Mirrors{URLs: map[string]fetch.Mirror{"https://up.example/a.git": {To: up.Dir()}}}}
	if rows, err := e.Update(ctx, e.Set.Pins, fetch.UpdateOptions{PinsDir: filepath.Join(repo, "pins")}); err != nil || rows[0].Verdict != verdict.Pass {
		t.Fatalf("%+v, %v", rows, err)
	}
	e.Set = load()
	if err := os.WriteFile(filepath.Join(repo, "NOTICE"), check.Notice(check.Pinned(e.Set)), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main", "."}, {"add", "."}, {"-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-qm", "ours"}} {
		c := exec.Command("git", append([]string{"-C", repo}, args...)...)
		c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", args, err, out)
		}
	}
	own, err := git.Open(ctx, repo)
	if err != nil {
		t.Fatal(err)
	}
	head, err := own.CommitInfo(ctx, "HEAD")
	if err != nil {
		t.Fatal(err)
	}

	up.Commit("main", "two", gittest.Files{"LICENSE": "two\n"})
	stacks, err := patches.Open(ctx, repo)
	if err != nil {
		t.Fatal(err)
	}
	found, err := round.Resolve(ctx, e, repo, "a", e.Set.Pins, nil)
	if err == nil {
		err = found.Fetch(ctx, stacks)
	}
	if err != nil {
		t.Fatal(err)
	}
	found.Round.Night, found.Round.Try, found.Round.Base = "night", 1, head.ID
	folder := round.Folder(filepath.Join(top, "night", "a"))
	if _, err := folder.Hand(ctx, found.Round, e, round.HandOptions{Base: e.Set, Stacks: stacks, Recipes: []*build.Recipe{}}); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{cache, up.Dir()} {
		if err := rmtree.All(dir); err != nil {
			t.Fatal(err)
		}
	}

	t.Setenv("DIST_CACHE", filepath.Join(top, "other"))
	t.Setenv("DIST_MIRRORS", "")
	dist := func(args ...string) (int, string) {
		var out bytes.Buffer
		code := cli.Execute(ctx, newRoot(), verdict.ExitCode, append([]string{"--repo", repo, "gate", "run"}, args...), nil, &out, &out)
		return code, out.String()
	}
	code, out := dist("--round", string(folder))
	for _, text := range []string{"the licence file LICENSE changed", "  -one\n  +two\n", "no archive configured", "it could be proposed as a draft only"} {
		if code != 0 || !strings.Contains(out, text) {
			t.Errorf("exit code %d, lacks %q:\n%s", code, text, out)
		}
	}
	if code, out := dist("--round", filepath.Join(top, "nothing")); code != verdict.ExitUsage || !strings.Contains(out, "there is no folder") {
		t.Errorf("without a folder: %d: %s", code, out)
	}
	if code, out := dist("--round", top); code != 5 || !strings.Contains(out, "round.json") || strings.Contains(out, "lstat") {
		t.Errorf("without a round: %d: %s", code, out)
	}
	if code, out := dist("--round", string(folder), "--group", "a"); code != verdict.ExitUsage {
		t.Errorf("with --group: %d: %s", code, out)
	}
}
