// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/treesum"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

func TestApplyWritesTheTree(t *testing.T) {
	t.Parallel()
	up := gittest.New(t)
	base := up.Commit("main", "base", gittest.Files{"a/b/c.txt": "1\r\n", "run.sh": "x"}, gittest.Exec("run.sh"), gittest.Symlink("a/link", "../run.sh"))
	up.Move("ours", base)
	when := epoch.AddDate(0, 1, 0)
	up.Commit("ours", "Change"+status, gittest.Files{"a/b/c.txt": "2\r\n", "a/new": ""}, gittest.At(when))
	e := newEngine(t, up, base)
	e.imports("ours")
	r := e.open()
	defer r.Close()
	dir := filepath.Join(t.TempDir(), "deep", "out")
	a, err := r.Apply(t.Context(), "demo", dir, e.source)
	if err != nil {
		t.Fatal(err)
	}
	pin := r.PinOf("demo")
	sum, err := treesum.FromFolder(dir, treesum.FolderOptions{})
	if err != nil || sum.Sum != pin.Lock.Patched.Sum || a.Files != 4 || string(a.Tree) != up.Git("rev-parse", "ours^{tree}") {
		t.Errorf("%+v %+v, want sum %s: %v", a, sum, pin.Lock.Patched.Sum, err)
	}
	for name, mode := range map[string]os.FileMode{"run.sh": 0o755, "a/new": 0o644, "a/b": os.ModeDir | 0o755, ".": os.ModeDir | 0o755} {
		st, err := os.Stat(filepath.Join(dir, name))
		if err != nil || st.Mode() != mode || !st.ModTime().Equal(when) {
			t.Errorf("%s: %v, %v", name, st, err)
		}
	}
	_, err = r.Apply(t.Context(), "demo", dir, e.source)
	wantError(t, err, "usage", "is not empty")
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), ".*")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

// A blob that a mirror lacks is an error with its path, unless the pin
// excludes it.
func TestApplyWithoutABlob(t *testing.T) {
	t.Parallel()
	full := gittest.New(t)
	base := full.Commit("main", "base", gittest.Files{"big.bin": strings.Repeat("big", 5000), "a": "1\n"})
	tip := full.Commit("main", "Change"+status, gittest.Files{"a": "2\n"})
	up := gittest.New(t)
	remote := git.Remote{URL: full.Dir(), Allow: []string{"file"}}
	full.Git("config", "uploadpack.allowFilter", "true")
	if err := up.Fetch(t.Context(), remote, git.FetchSpec{Refs: []git.Refspec{{From: "refs/heads/main", To: "refs/heads/main"}}, Filter: "blob:limit=1000"}); err != nil {
		t.Fatal(err)
	}
	e := newEngine(t, full, base)
	e.imports("main")
	e.upstream = up
	r := e.open()
	dir := filepath.Join(t.TempDir(), "out")
	_, err := r.Apply(t.Context(), "demo", dir, e.source)
	wantError(t, err, verdict.Fail, "big.bin")
	if _, err := os.Lstat(dir); err == nil {
		t.Error("the folder was made all the same")
	}
	r.Close()
	e.put("pins/demo.yaml", strings.Replace(e.get("pins/demo.yaml"), "stack: demo\n", "stack: demo\nexclude: [{path: big.bin, why: too large}]\n", 1))
	r = e.open()
	defer r.Close()
	for name, do := range map[string]func(string) (*Applied, error){
		"files": func(dir string) (*Applied, error) { return r.Apply(t.Context(), "demo", dir, e.source) },
		"git":   func(dir string) (*Applied, error) { return r.Edit(t.Context(), "demo", dir, e.source) },
	} {
		a, err := do(filepath.Join(t.TempDir(), "out"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if strings.Join(a.Excluded, " ") != "big.bin" || a.Files != 1 || string(a.Tree) != string(full.Tree(tip)) {
			t.Errorf("%s: %+v", name, a)
		}
		if _, err := os.Lstat(filepath.Join(a.Dir, "big.bin")); err == nil {
			t.Errorf("%s: big.bin is there", name)
		}
	}
}

// A person's hands, with the git that they have.
func person(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.Command("git", args...)
	c.Dir = dir
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_AUTHOR_NAME=P", "GIT_AUTHOR_EMAIL=p@q", "GIT_COMMITTER_NAME=P", "GIT_COMMITTER_EMAIL=p@q",
		"GIT_AUTHOR_DATE=2026-11-01T10:00:00+0100", "GIT_EDITOR=true"}
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestEditAndRefresh(t *testing.T) {
	t.Parallel()
	up, base := three(t)
	e := newEngine(t, up, base)
	e.imports("ours")
	e.put("patches/demo/series", strings.Replace(e.get("patches/demo/series"), "second", "# about the second\nsecond", 1))
	r := e.open()
	dir := filepath.Join(t.TempDir(), "edit")
	a, err := r.Edit(t.Context(), "demo", dir, e.source)
	if err != nil {
		t.Fatal(err)
	}
	if got := person(t, dir, "status", "--porcelain"); got != "" {
		t.Errorf("a fresh tree is not clean: %q", got)
	}
	if got := person(t, dir, "log", "--format=%s|%an|%cn", "-4"); got != "Third change|Test|"+CommitterName+"\nSecond change|Test|"+CommitterName+"\nFirst change|Test|"+CommitterName+"\nbase|Test|Test" {
		t.Errorf("log:\n%s", got)
	}
	if got := person(t, dir, "rev-parse", "HEAD", "HEAD^{tree}", "demo"); got != string(a.Tip)+"\n"+up.Git("rev-parse", "ours^{tree}")+"\n"+string(a.Tip) {
		t.Errorf("rev-parse:\n%s", got)
	}
	refresh := func(drop int) (*Imported, error) {
		return r.Refresh(t.Context(), "demo", RefreshOptions{From: From{Where: dir}, Drop: drop})
	}
	before := e.state()
	im, err := refresh(0)
	if err != nil || len(im.Kept) != 3 || !maps.Equal(before, e.state()) {
		t.Fatalf("nothing was done, and something changed: %+v, %v", im, err)
	}

	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("b.c", "int b = 2;\n")
	_, err = refresh(0)
	wantError(t, err, "usage", "changes that are not committed, such as b.c")
	write("forgotten.c", "int f;\n")
	person(t, dir, "commit", "-qam", "Fourth change\n\nUpstream-Status: pending")
	if im, err = refresh(0); err != nil || strings.Join(im.Added, " ") != "fourth-change.patch" || len(im.Kept) != 3 || !im.Locked ||
		len(im.Notes) != 1 || !strings.Contains(im.Notes[0], "git does not know 1 of its files") {
		t.Fatalf("%+v, %v", im, err)
	}
	r.Close()
	if c := e.check(); c.Verdict != verdict.Pass || c.Patches != 4 {
		t.Errorf("%s: %s", c.Verdict, c.Why)
	}
	if !strings.Contains(e.get("patches/demo/series"), "# about the second\nsecond-change.patch\n") {
		t.Errorf("the comment is gone:\n%s", e.get("patches/demo/series"))
	}
	// The tree is of the stack as it was before that refresh.
	r = e.open()
	defer r.Close()
	_, err = refresh(0)
	wantError(t, err, "usage", "the stack was changed since")

	dir = filepath.Join(t.TempDir(), "edit")
	if _, err := r.Edit(t.Context(), "demo", dir, e.source); err != nil {
		t.Fatal(err)
	}
	before = e.state()
	person(t, dir, "reset", "-q", "--hard", "HEAD~1")
	_, err = refresh(0)
	wantError(t, err, "usage", "fourth-change.patch is to go, say --allow-drop 1")
	_, err = refresh(2)
	wantError(t, err, "usage", "the stack has 4")
	person(t, dir, "reset", "-q", "--hard", "refs/dist/base")
	_, err = refresh(0)
	wantError(t, err, "usage", "the branch has 0 patches, the stack has 4")
	person(t, dir, "checkout", "-q", "--orphan", "lost")
	person(t, dir, "commit", "-q", "--allow-empty", "-m", "x")
	_, err = refresh(0)
	wantError(t, err, verdict.Fail, "does not have the base")
	if !maps.Equal(before, e.state()) {
		t.Error("a refused refresh touched files")
	}
	person(t, dir, "checkout", "-q", "demo")
	if im, err = refresh(4); err != nil || len(im.Dropped) != 4 {
		t.Fatalf("%+v, %v", im, err)
	}
	pin, err := pins.Parse([]byte(e.get("pins/demo.yaml")), "pins/demo.yaml")
	if err != nil || pin.Lock.Patched != nil {
		t.Errorf("the lock of a stack without patches: %v, %v", pin.Lock.Patched, err)
	}
}

func TestRefreshInTheMiddleOfARebase(t *testing.T) {
	t.Parallel()
	up, base := three(t)
	e := newEngine(t, up, base)
	e.imports("ours")
	r := e.open()
	defer r.Close()
	dir := filepath.Join(t.TempDir(), "edit")
	if _, err := r.Edit(t.Context(), "demo", dir, e.source); err != nil {
		t.Fatal(err)
	}
	person(t, dir, "-c", "sequence.editor=sed -i '1s/^pick/edit/'", "rebase", "-q", "-i", "HEAD~2")
	_, err := r.Refresh(t.Context(), "demo", RefreshOptions{From: From{Where: dir}})
	wantError(t, err, "usage", "in the middle of something")
}

func TestDrop(t *testing.T) {
	t.Parallel()
	up, base := three(t)
	up.Commit("ours", "Fourth change"+status, gittest.Files{"b.c": "int b = 2;\n"})
	e := newEngine(t, up, base)
	e.imports("ours")
	r := e.open()
	before := e.state()
	_, err := r.Drop(t.Context(), "demo", []string{"nothing"}, e.source)
	wantError(t, err, "usage", `no patch "nothing.patch"`)
	_, err = r.Drop(t.Context(), "demo", []string{"second-change"}, e.source)
	var conflict *DropConflict
	if !errors.As(err, &conflict) || conflict.Patch != "fourth-change.patch" || strings.Join(conflict.Paths, " ") != "b.c" {
		t.Errorf("%v", err)
	}
	wantError(t, err, verdict.Conflict, "fourth-change.patch needs what second-change.patch does, in b.c")
	if !maps.Equal(before, e.state()) {
		t.Error("a refused drop touched files")
	}
	// The third patch changes the same file elsewhere: it is merged.
	im, err := r.Drop(t.Context(), "demo", []string{"first-change.patch"}, e.source)
	if err != nil || strings.Join(im.Files, " ") != "second-change.patch third-change.patch fourth-change.patch" {
		t.Fatalf("%+v, %v", im, err)
	}
	r.Close()
	if c := e.check(); c.Verdict != verdict.Pass {
		t.Errorf("%s: %s", c.Verdict, c.Why)
	}
	if p := e.get("patches/demo/third-change.patch"); !strings.Contains(p, "+line thirty\n") || strings.Contains(p, "line five") {
		t.Errorf("third patch:\n%s", p)
	}
	if p := before["patches/demo/second-change.patch"]; p != e.get("patches/demo/second-change.patch") {
		t.Error("a patch that need not change did")
	}
}

func TestExport(t *testing.T) {
	t.Parallel()
	up, base := three(t)
	e := newEngine(t, up, base)
	e.imports("ours")
	r := e.open()
	defer r.Close()
	dir := filepath.Join(t.TempDir(), "out")
	im, err := r.Export(t.Context(), "demo", From{Where: up.Dir(), Branch: "ours"}, dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range im.Files {
		data, err := os.ReadFile(filepath.Join(dir, f))
		if err != nil || string(data) != e.get("patches/demo/"+f) {
			t.Errorf("%s: %v", f, err)
		}
	}
	s, problems, err := ReadFolder(dir, "demo")
	if err != nil || len(problems) > 0 || s.Series.Base != base || len(s.Patches) != 3 {
		t.Errorf("%v %v %v", s, problems, err)
	}
}

// A message that was edited by hand, and a pin that was verified later.
func TestLock(t *testing.T) {
	t.Parallel()
	up, base := three(t)
	e := newEngine(t, up, base)
	e.imports("ours")
	e.put("patches/demo/first-change.patch", strings.Replace(e.get("patches/demo/first-change.patch"), "Subject: First change", "Subject: The very first", 1))
	if c := e.check(); c.Verdict != verdict.Fail || !strings.Contains(c.Why, `patches/demo/series:4: the file of "The very first" is called first-change.patch`) {
		t.Errorf("%s: %s", c.Verdict, c.Why)
	}
	r := e.open()
	if _, err := r.Lock(t.Context(), "demo", e.source); err != nil {
		t.Fatal(err)
	}
	r.Close()
	if c := e.check(); c.Verdict != verdict.Pass {
		t.Errorf("%s: %s", c.Verdict, c.Why)
	}
	if got := e.get("patches/demo/series"); !strings.Contains(got, "\nthe-very-first.patch\nsecond") {
		t.Errorf("series:\n%s", got)
	}
}

// What a build does: the applied tree is put into the store under the sum that
// the lock says, which the store sums itself.
func TestAppliedIsStoredUnderItsSum(t *testing.T) {
	t.Parallel()
	up := gittest.New(t)
	base := up.Commit("main", "base", gittest.Files{"a.c": "int a;\r\n", "run.sh": "#!/bin/sh\n", "data": "\x00\x01", "old/name": "x\n"}, gittest.Exec("run.sh"), gittest.Symlink("link", "a.c"))
	up.Move("ours", base)
	up.Commit("ours", "Modes, links and blobs"+status, gittest.Files{"a.c": "int b;\r\n", "new.sh": "y\n", "data": "\x00\x02", "new/name": "x\n"}, gittest.Exec("new.sh"), gittest.Delete("old/name"), gittest.Symlink("other", "run.sh"))
	e := newEngine(t, up, base)
	e.imports("ours")
	r := e.open()
	defer r.Close()
	s, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	fill := func(ctx context.Context, dir string) error {
		_, err := r.Apply(ctx, "demo", dir, e.source)
		return err
	}
	lock := r.PinOf("demo").Lock
	key, err := store.KeyOf(lock.Patched.Sum)
	if err != nil {
		t.Fatal(err)
	}
	entry, err := s.Put(t.Context(), key, store.Maker{Kind: "source", Name: "demo", Fill: fill})
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(entry.Path, "a.c")); err != nil || string(text) != "int b;\r\n" {
		t.Errorf("%q, %v", text, err)
	}
	// And under no other: that of the tree without patches, for one.
	wrong, err := store.KeyOf(lock.Sum)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(t.Context(), wrong, store.Maker{Kind: "source", Name: "demo", Fill: fill}); err == nil {
		t.Error("the patched tree was stored as the one without patches")
	}
}
