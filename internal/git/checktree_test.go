// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package git_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
)

func TestCheckTreeRefuses(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	blob := r.Object("blob", []byte("x"))
	inner := r.RawTree(git.TreeEntry{Mode: git.ModeFile, Name: "x", ID: blob})
	cat := r.Catch()
	file := func(name string) []git.TreeEntry {
		return []git.TreeEntry{{Mode: git.ModeFile, Name: name, ID: blob}}
	}
	for _, x := range []struct {
		name    string
		entries []git.TreeEntry
		why     string
	}{
		{"dot git", file(".git"), "for .git"},
		{"upper case", file(".GIT"), "for .git"},
		{"mixed case", file(".giT"), "for .git"},
		{"ignored by HFS", file(".g\u200cit"), "for .git"},
		{"ignored by HFS at the end", file(".git\ufeff"), "for .git"},
		{"short name", file("GIT~1"), "for .git"},
		{"dot at the end", file(".git."), "for .git"},
		{"blank at the end", file(".git "), "for .git"},
		{"blanks and dots", file(".git . ."), "for .git"},
		{"stream", file(".git::$INDEX_ALLOCATION"), "for .git"},
		{"backslash", file(`a\.git`), "for .git"},
		{"backslash up", file(`a\..\b`), "another folder"},
		{"as a folder", []git.TreeEntry{{Mode: git.ModeTree, Name: ".git", ID: inner}}, "for .git"},
		{"as a link", []git.TreeEntry{{Mode: git.ModeSymlink, Name: ".git", ID: blob}}, "for .git"},
		{"up", file(".."), "another folder"},
		{"here", file("."), "another folder"},
		{"empty", file(""), "empty"},
		{"slash", file("a/b"), "slash"},
		{"newline", file("a\nb"), "control"},
		{"escape", file("a\x1b[31m"), "control"},
		{"link and folder of one name", []git.TreeEntry{{Mode: git.ModeSymlink, Name: "a", ID: blob}, {Mode: git.ModeTree, Name: "a", ID: inner}}, "twice"},
		{"link and folder, not neighbours", []git.TreeEntry{{Mode: git.ModeSymlink, Name: "a", ID: blob}, {Mode: git.ModeFile, Name: "a.b", ID: blob}, {Mode: git.ModeTree, Name: "a", ID: inner}}, "twice"},
		{"twice", append(file("a"), file("a")...), "twice"},
		{"out of order", append(file("b"), file("a")...), "order"},
		{"device", []git.TreeEntry{{Mode: 0o020644, Name: "a", ID: blob}}, "020644"},
		{"setuid", []git.TreeEntry{{Mode: 0o104755, Name: "a", ID: blob}}, "104755"},
		{"writable", []git.TreeEntry{{Mode: 0o100777, Name: "a", ID: blob}}, "100777"},
		{"linked gitmodules", []git.TreeEntry{{Mode: git.ModeSymlink, Name: ".gitModules", ID: blob}}, ".gitmodules"},
		{"linked gitmodules, short name", []git.TreeEntry{{Mode: git.ModeSymlink, Name: "GITMOD~1", ID: blob}}, ".gitmodules"},
	} {
		t.Run(x.name, func(t *testing.T) {
			// One folder down, so that the path is told in full.
			root := r.RawTree(git.TreeEntry{Mode: git.ModeTree, Name: "top", ID: r.RawTree(x.entries...)})
			_, err := cat.CheckTree(root, git.Limits{})
			var u *git.UnsafeTree
			if !errors.As(err, &u) || !strings.HasPrefix(u.Path, "top/") || !strings.Contains(u.Why, x.why) {
				t.Fatalf("got %v", err)
			}
			if strings.ContainsAny(err.Error(), "\n\x1b\u200c\ufeff") {
				t.Errorf("the error is not inert: %q", err)
			}
		})
	}
}

func TestCheckTreeAccepts(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	c := r.Commit("main", "x", gittest.Files{"README": "", "readme": "", "d/A": "", "d/a": "", ".github/x": "", ".gitignore": "",
		"git": "", "...": "", "a~1": "", "git~2x": "", "ünï": "", "b\xff": "", "x y": ""},
		gittest.Symlink("link", "../out"), gittest.Submodule("sub", "1111111111111111111111111111111111111111"), gittest.Exec("git"))
	cat := r.Catch()
	report, err := cat.CheckTree(r.Tree(c), git.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Entries) != 15 {
		t.Errorf("%d entries", len(report.Entries))
	}
	if d := cmp.Diff([][]string{{"README", "readme"}, {"d/A", "d/a"}}, report.Twins); d != "" {
		t.Error(d)
	}
	old := r.RawTree(git.TreeEntry{Mode: 0o100664, Name: "a", ID: r.Object("blob", nil)})
	if report, err := cat.CheckTree(old, git.Limits{}); err != nil || report.Entries[0].Mode != git.ModeFile {
		t.Errorf("a mode of before 2005: %v, %v", report, err)
	}
	if report, err := cat.CheckTree(git.EmptyTree, git.Limits{}); err != nil || len(report.Entries) != 0 {
		t.Errorf("the empty tree: %v, %v", report, err)
	}
}

// A tree that holds the same tree ten times, ten levels deep, has a few
// objects and ten billion files.
func TestCheckTreeBombs(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	tree := r.RawTree(git.TreeEntry{Mode: git.ModeFile, Name: "x", ID: r.Object("blob", nil)})
	deep := tree
	for range 10 {
		var entries []git.TreeEntry
		for _, name := range strings.Split("abcdefghij", "") {
			entries = append(entries, git.TreeEntry{Mode: git.ModeTree, Name: name, ID: tree})
		}
		tree = r.RawTree(entries...)
	}
	for range 8 {
		deep = r.RawTree(git.TreeEntry{Mode: git.ModeTree, Name: "deeper", ID: deep})
	}
	var u *git.UnsafeTree
	if _, err := r.CheckTree(t.Context(), tree, git.Limits{Entries: 20_000}); !errors.As(err, &u) || !strings.Contains(u.Why, "20000 entries") {
		t.Errorf("wide: got %v", err)
	}
	if _, err := r.CheckTree(t.Context(), deep, git.Limits{Depth: 5}); !errors.As(err, &u) || !strings.Contains(u.Why, "5 folders") {
		t.Errorf("deep: got %v", err)
	}
	if _, err := r.CheckTree(t.Context(), deep, git.Limits{Path: 30}); !errors.As(err, &u) || !strings.Contains(u.Why, "30 bytes") {
		t.Errorf("long: got %v", err)
	}
}

func TestWriteTreeChecks(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	blob := r.Object("blob", []byte("x"))
	id, err := r.WriteTree(t.Context(), []git.TreeEntry{{Mode: git.ModeTree, Name: "a", ID: git.EmptyTree}, {Mode: git.ModeFile, Name: "a.b", ID: blob}})
	if err != nil {
		t.Fatal(err)
	}
	entries, err := r.Catch().ReadTree(id)
	if err != nil || entries[0].Name != "a.b" {
		t.Errorf("a folder sorts as if its name ended in a slash: %v, %v", entries, err)
	}
	var u *git.UnsafeTree
	if _, err := r.WriteTree(t.Context(), []git.TreeEntry{{Mode: git.ModeFile, Name: ".git", ID: blob}}); !errors.As(err, &u) {
		t.Errorf("got %v", err)
	}
}

func FuzzParseTree(f *testing.F) {
	f.Add([]byte("100644 a\x00aaaaaaaaaaaaaaaaaaaa"))
	f.Add([]byte("40000 d\x00aaaaaaaaaaaaaaaaaaaa120000 l\x00bbbbbbbbbbbbbbbbbbbb"))
	f.Fuzz(func(t *testing.T, content []byte) {
		entries, err := git.ParseTree(content)
		if err != nil {
			return
		}
		// What is safe is written back as the same bytes, unless its modes
		// have zeros in front.
		out, err := git.FormatTree(entries)
		if err == nil && len(out) == len(content) && string(out) != string(content) {
			again, err := git.ParseTree(out)
			if err != nil || len(again) != len(entries) {
				t.Errorf("%q became %q", content, out)
			}
		}
	})
}

func FuzzParseCommit(f *testing.F) {
	f.Add([]byte("tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nauthor A <a@b> 1 +0100\ncommitter A <a@b> 1 -0000\n\nx\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		if c, err := git.ParseCommit(git.EmptyTree, content); err == nil && c.Tree == "" {
			t.Error("no tree and no error")
		}
	})
}
