// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package git_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
)

// https://github.com/electron/electron/issues/50121 and others: a user's
// configuration, hooks and GIT_* variables change nothing.
func TestEnvironmentIsNotInherited(t *testing.T) {
	home := t.TempDir()
	hooks := filepath.Join(home, "hooks")
	os.Mkdir(hooks, 0o777)
	trap := filepath.Join(home, "trap")
	os.WriteFile(filepath.Join(hooks, "reference-transaction"), []byte("#!/bin/sh\ntouch "+trap+"\n"), 0o777)
	os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[core]\n\thooksPath = "+hooks+"\n[user]\n\tname = Trap\n[diff]\n\trenames = copies\n"), 0o666)
	t.Setenv("HOME", home)
	t.Setenv("GIT_DIR", home)
	t.Setenv("GIT_CONFIG_PARAMETERS", "'core.hooksPath="+hooks+"'")
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "user.name")
	t.Setenv("GIT_CONFIG_VALUE_0", "Trap")
	t.Setenv("GIT_OBJECT_DIRECTORY", home)
	t.Setenv("LC_ALL", "de_DE.UTF-8")
	t.Setenv("SECRET_TOKEN", "sesame")
	r, _ := history(t, 1)
	os.MkdirAll(filepath.Join(r.Dir(), "hooks"), 0o777)
	os.WriteFile(filepath.Join(r.Dir(), "hooks", "reference-transaction"), []byte("#!/bin/sh\ntouch "+trap+"\n"), 0o777)
	r.Commit("main", "two", gittest.Files{"z": "z"})
	if _, err := os.Stat(trap); err == nil {
		t.Error("a hook ran")
	}
	c := git.Command("", "var", "-l")
	res, err := c.Run(t.Context())
	if strings.Contains(string(res.Stdout), "Trap") {
		t.Errorf("user configuration was read: %v", err)
	}
	for _, e := range c.Env {
		if strings.Contains(e, "sesame") || strings.Contains(e, home) || strings.HasPrefix(e, "GIT_DIR") {
			t.Errorf("inherited: %s", e)
		}
	}
}

func TestIDs(t *testing.T) {
	t.Parallel()
	good := strings.Repeat("0123456789", 4)
	for in, ok := range map[string]bool{good: true, "": false, good[1:]: false, strings.ToUpper(good[:39]) + "A": false,
		"HEAD": false, "-" + good[1:]: false, strings.Repeat("0", 40): false, "<html>301 Moved Permanently</html>": false} {
		if _, err := git.ParseID(in); (err == nil) != ok {
			t.Errorf("ParseID(%q): %v", in, err)
		}
	}
}

func TestOpenAndInit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := git.Open(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "no git repository in "+dir) {
		t.Errorf("got %v", err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if _, err := git.Init(t.Context(), dir+"/a b.git"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	work := dir + "/work"
	if _, err := git.Command("", "init", "-q", work).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	r, err := git.Open(t.Context(), work)
	if err != nil || filepath.Base(r.Dir()) != ".git" {
		t.Errorf("a checkout: %v, %v", r, err)
	}
	os.Mkdir(work+"/below", 0o777)
	if _, err := git.Open(t.Context(), work+"/below"); err == nil {
		t.Error("a folder above was searched")
	}
}

func TestCommitsRoundTrip(t *testing.T) {
	t.Parallel()
	r, ids := history(t, 2)
	zone := time.FixedZone("", -(3*60+30)*60)
	want := git.Commit{Tree: r.Tree(ids[0]), Parents: []git.ID{ids[0], ids[1]},
		Author:    git.Signature{Name: "Ä B", Email: "a@b", When: time.Unix(1_000_000_000, 0).In(zone)},
		Committer: git.Signature{Name: "C", Email: "", When: time.Unix(1_700_000_000, 0).UTC()},
		Encoding:  "ISO-8859-1", Message: "subject\r\n\n  body without newline"}
	id, err := r.CommitTree(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := r.CommitTree(t.Context(), want); again != id {
		t.Error("the id does not repeat")
	}
	got, err := r.CommitInfo(t.Context(), string(id))
	if err != nil {
		t.Fatal(err)
	}
	want.ID = id
	if got.Author.When.Format("-0700") != "-0330" || !got.Author.When.Equal(want.Author.When) {
		t.Errorf("date %v", got.Author.When)
	}
	got.Author.When = want.Author.When
	if d := cmp.Diff(&want, got); d != "" {
		t.Error(d)
	}
	tag := r.Annotated("v1", "x", r.Annotated("v0", "x", id))
	if c, err := r.Catch().Commit(tag); err != nil || c.ID != id {
		t.Errorf("tag of a tag: %v, %v", c, err)
	}
	want.Author.Name = "a>\nb"
	if _, err := r.CommitTree(t.Context(), want); err == nil {
		t.Error("a name with a newline was stored")
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	r, ids := history(t, 3)
	side := r.Commit("side", "side", gittest.Files{"s": "s"}, gittest.Onto(ids[0]))
	merge := r.Commit("main", "merge", nil, gittest.Onto(ids[2], side))
	root := r.Commit("alone", "root", gittest.Files{"r": "r"}, gittest.Onto())
	ctx := t.Context()
	for _, x := range []struct {
		a, b git.ID
		want bool
	}{{ids[0], merge, true}, {side, merge, true}, {merge, ids[0], false}, {root, merge, false}} {
		if got, err := r.IsAncestor(ctx, x.a, x.b); err != nil || got != x.want {
			t.Errorf("IsAncestor(%s, %s) = %t, %v", x.a, x.b, got, err)
		}
	}
	if base, err := r.MergeBase(ctx, side, ids[2]); err != nil || base != ids[0] {
		t.Errorf("MergeBase = %s, %v", base, err)
	}
	if base, err := r.MergeBase(ctx, side, root); err != nil || base != "" {
		t.Errorf("MergeBase of strangers = %s, %v", base, err)
	}
	for _, x := range []struct {
		span git.Range
		want []git.ID
	}{
		{git.Range{To: merge, From: []git.ID{ids[0]}, FirstParent: true}, []git.ID{merge, ids[2], ids[1]}},
		{git.Range{To: merge, FirstParent: true, Reverse: true}, []git.ID{ids[0], ids[1], ids[2], merge}},
		{git.Range{To: side, Paths: []string{"s"}}, []git.ID{side}},
		{git.Range{To: merge, Max: 1}, []git.ID{merge}},
	} {
		if got, err := r.RevList(ctx, x.span); err != nil || !slices.Equal(got, x.want) {
			t.Errorf("RevList(%+v) = %v, %v", x.span, got, err)
		}
	}
	if id, err := r.RevParse(ctx, "refs/heads/side"); err != nil || id != side {
		t.Errorf("RevParse = %s, %v", id, err)
	}
	for _, bad := range []string{"refs/heads/none", "--all", "--git-dir", ""} {
		var u *git.Unknown
		if id, err := r.RevParse(ctx, bad); !errors.As(err, &u) {
			t.Errorf("RevParse(%q) = %s, %v", bad, id, err)
		}
	}
}

func TestUpdateRefIsCompareAndSwap(t *testing.T) {
	t.Parallel()
	r, ids := history(t, 3)
	ctx := t.Context()
	const ref = "refs/dist/state"
	var moved *git.RefMoved
	if err := r.UpdateRef(ctx, ref, ids[0], ""); err != nil {
		t.Fatal(err)
	}
	if err := r.UpdateRef(ctx, ref, ids[1], ""); !errors.As(err, &moved) || moved.Have != ids[0] {
		t.Errorf("got %v", err)
	}
	if err := r.UpdateRef(ctx, ref, ids[2], ids[1]); !errors.As(err, &moved) || moved.Want != ids[1] || moved.Have != ids[0] {
		t.Errorf("got %v", err)
	}
	var wg sync.WaitGroup
	won := make(chan bool, 8)
	for i := range 8 {
		wg.Go(func() {
			if err := r.UpdateRef(ctx, ref, ids[1+i%2], ids[0]); err == nil {
				won <- true
			}
		})
	}
	wg.Wait()
	if n := len(won); n != 1 {
		t.Errorf("%d of 8 won the race", n)
	}
	now := git.ID(r.Git("rev-parse", ref))
	if err := r.UpdateRef(ctx, ref, "", now); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"HEAD", "refs/../x", "refs/heads/-x y", "refs/a.lock", "--stdin", "refs/heads/a\n", "refs/", "refs/.a"} {
		if err := r.UpdateRef(ctx, bad, ids[0], ""); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestCatFileByManyAtOnce(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	files := gittest.Files{}
	for i := range 50 {
		files[strings.Repeat("n", i+1)] = strings.Repeat("content\n", i*100)
	}
	commit := r.Commit("main", "x", files)
	c := r.Catch()
	entries, err := c.LsTree(r.Tree(commit))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for _, e := range entries {
				b, err := c.Read(e.ID, "blob")
				if err != nil || string(b) != files[e.Path] {
					t.Errorf("%s: %d bytes, %v", e.Path, len(b), err)
				}
				if h, err := c.Header(e.ID); err != nil || h.Kind != "blob" || h.Size != int64(len(b)) {
					t.Errorf("%s: %+v, %v", e.Path, h, err)
				}
			}
		})
	}
	wg.Wait()
	var kind *git.WrongKind
	if _, err := c.Read(commit, "tree"); !errors.As(err, &kind) || kind.Kind != "commit" {
		t.Errorf("got %v", err)
	}
	var missing *git.MissingObject
	if _, err := c.Read("1111111111111111111111111111111111111111", ""); !errors.As(err, &missing) {
		t.Errorf("got %v", err)
	}
	if h, err := c.Header("1111111111111111111111111111111111111111"); err != nil || h.Kind != "" {
		t.Errorf("got %+v, %v", h, err)
	}
	if e, ok, err := c.Lookup(r.Tree(commit), "nn"); err != nil || !ok || e.Mode != git.ModeFile {
		t.Errorf("Lookup: %+v, %t, %v", e, ok, err)
	}
	if _, ok, err := c.Lookup(r.Tree(commit), "nn/x"); err != nil || ok {
		t.Errorf("Lookup below a file: %t, %v", ok, err)
	}
}

func TestMergeTree(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	base := r.Commit("main", "base", gittest.Files{"f": "1\n2\n3\n4\n5\n"})
	ours := r.Commit("main", "ours", gittest.Files{"f": "one\n2\n3\n4\n5\n"})
	clean := r.Commit("clean", "theirs", gittest.Files{"f": "1\n2\n3\n4\nfive\n"}, gittest.Onto(base))
	clash := r.Commit("clash", "theirs", gittest.Files{"f": "uno\n2\n3\n4\n5\n"}, gittest.Onto(base))
	m, err := r.MergeTree(t.Context(), ours, clean)
	if err != nil || len(m.Conflicts) != 0 {
		t.Fatalf("got %+v, %v", m, err)
	}
	e, _, _ := r.Catch().Lookup(m.Tree, "f")
	if b, _ := r.Catch().Read(e.ID, "blob"); string(b) != "one\n2\n3\n4\nfive\n" {
		t.Errorf("merged to %q", b)
	}
	m, err = r.MergeTree(t.Context(), ours, clash)
	if err != nil || len(m.Conflicts) != 3 || m.Conflicts[0].Path != "f" || m.Conflicts[2].Stage != 3 {
		t.Errorf("got %+v, %v", m, err)
	}
	if len(m.Messages) == 0 || !strings.Contains(strings.Join(m.Messages, ""), "CONFLICT") {
		t.Errorf("messages %q", m.Messages)
	}
}

func TestBundle(t *testing.T) {
	t.Parallel()
	r, ids := history(t, 2)
	file := filepath.Join(t.TempDir(), "x.bundle")
	if err := r.CreateBundle(t.Context(), file, "refs/heads/main"); err != nil {
		t.Fatal(err)
	}
	dst := gittest.New(t)
	refs, err := dst.VerifyBundle(t.Context(), file)
	if err != nil || len(refs) != 1 || refs[0].ID != ids[1] {
		t.Fatalf("got %v, %v", refs, err)
	}
	if err := dst.Fetch(t.Context(), git.Remote{URL: file, Allow: []string{"file"}}, git.FetchSpec{Refs: []git.Refspec{{From: "refs/heads/main", To: "refs/x/main"}}}); err != nil {
		t.Errorf("fetch from a bundle: %v", err)
	}
	os.WriteFile(file, []byte("# v2 git bundle\nnonsense"), 0o666)
	if _, err := dst.VerifyBundle(t.Context(), file); err == nil {
		t.Error("nonsense was accepted")
	}
}

func TestBundleOnABase(t *testing.T) {
	t.Parallel()
	r, ids := history(t, 3)
	base, tip := ids[1], ids[2]
	read := func(name string) []byte {
		t.Helper()
		file := filepath.Join(t.TempDir(), name)
		if err := r.CreateBundleOn(t.Context(), file, base, "refs/heads/main"); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	data := read("a.bundle")
	if string(data) != string(read("b.bundle")) {
		t.Error("two bundles of the same differ")
	}
	b, err := git.ReadBundle(strings.NewReader(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(b.Needs, []git.ID{base}) || len(b.Refs) != 1 || b.Refs[0] != (git.Ref{Name: "refs/heads/main", ID: tip}) {
		t.Errorf("%+v", b)
	}
	dst, err := git.Init(t.Context(), t.TempDir()+"/dst.git")
	if err != nil {
		t.Fatal(err)
	}
	pack, err := git.ReadBundle(strings.NewReader(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	if err := dst.AddPack(t.Context(), pack.Pack, 1<<20); err == nil {
		t.Error("a pack was stored whose objects name others that are not there")
	}
	if err := dst.Borrow(t.Context(), r.Repo); err != nil {
		t.Fatal(err)
	}
	if err := dst.AddPack(t.Context(), b.Pack, 1<<20); err != nil {
		t.Error(err)
	}
	if _, err := dst.CommitInfo(t.Context(), string(tip)); err != nil {
		t.Error(err)
	}
	again, _ := git.ReadBundle(strings.NewReader(string(data)))
	if err := dst.AddPack(t.Context(), again.Pack, 20); err == nil {
		t.Error("a pack of more bytes than allowed was stored")
	}
	for name, text := range map[string]string{
		"empty": "", "another file": "PACK\n", "version 3": "# v3 git bundle\n@object-format=sha1\n\n",
		"cut off": "# v2 git bundle\n-" + string(base) + "\n", "no id": "# v2 git bundle\nHEAD refs/heads/main\n\n",
		"no ref": "# v2 git bundle\n" + string(base) + " ../x\n\n", "a long line": "# v2 git bundle\n-" + strings.Repeat("a", 9000) + "\n\n",
		"many lines": "# v2 git bundle\n" + strings.Repeat("-"+string(base)+" x\n", 200) + "\n",
	} {
		if _, err := git.ReadBundle(strings.NewReader(text)); err == nil {
			t.Errorf("%s: it was read", name)
		}
	}
}
