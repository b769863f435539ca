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

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

func history(t *testing.T, n int) (*gittest.Repo, []git.ID) {
	t.Helper()
	r := gittest.New(t)
	var ids []git.ID
	for i := range n {
		ids = append(ids, r.Commit("main", "change", gittest.Files{"a": strings.Repeat("line\n", i+1), "d/b": "b\n"}))
	}
	return r, ids
}

// https://github.com/chainguard-dev/melange/issues/2284: the commit itself is
// fetched, wherever it lies in the history.
func TestFetchOneCommit(t *testing.T) {
	t.Parallel()
	r, ids := history(t, 4)
	for _, x := range []struct {
		name    string
		options gittest.ServerOptions
		shallow bool
	}{
		{"by id", gittest.ServerOptions{}, true},
		{"the remote gives out refs only", gittest.ServerOptions{NoAnySHA1: true}, false},
		{"no filters", gittest.ServerOptions{NoFilter: true}, true},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := serve(t, r, x.options)
			dst := gittest.New(t)
			var mu sync.Mutex
			var said []string
			err := dst.Fetch(t.Context(), s.Remote("repo.git"), git.FetchSpec{Commits: ids[1:2], Depth: 1, Progress: func(text string) {
				mu.Lock()
				said = append(said, text)
				mu.Unlock()
			}})
			if err != nil {
				t.Fatal(err)
			}
			if id := dst.Git("rev-parse", git.CommitRefs+string(ids[1])); id != string(ids[1]) {
				t.Errorf("the ref of the commit is at %s", id)
			}
			if dst.Shallow() != x.shallow {
				t.Errorf("shallow = %t", dst.Shallow())
			}
			if len(said) == 0 {
				t.Error("no progress was told")
			}
			if entries, err := dst.LsTree(t.Context(), r.Tree(ids[1])); err != nil || len(entries) != 2 {
				t.Errorf("tree: %v, %v", entries, err)
			}
			// More history afterwards, once on a shallow and once on a
			// complete repository.
			for range 2 {
				if err := dst.Fetch(t.Context(), s.Remote("repo.git"), git.FetchSpec{Refs: []git.Refspec{{From: "refs/heads/*", To: "refs/upstream/*"}}}); err != nil {
					t.Fatal(err)
				}
				if dst.Shallow() {
					t.Error("still shallow")
				}
			}
			if list, err := dst.RevList(t.Context(), git.Range{To: ids[3]}); err != nil || len(list) != 4 {
				t.Errorf("history: %v, %v", list, err)
			}
		})
	}
}

// https://github.com/angr/pyvex/issues/396: "not our ref" after a force-push.
func TestFetchGoneCommit(t *testing.T) {
	t.Parallel()
	r, ids := history(t, 2)
	r.Move("main", ids[0])
	r.Commit("main", "another", gittest.Files{"c": "c\n"})
	r.Prune()
	for _, o := range []gittest.ServerOptions{{}, {NoAnySHA1: true}} {
		s := serve(t, r, o)
		dst := gittest.New(t)
		err := dst.Fetch(t.Context(), s.Remote("repo.git"), git.FetchSpec{Commits: []git.ID{ids[0], ids[1]}, Depth: 1})
		var gone *git.Gone
		if !errors.As(err, &gone) || gone.Commit != ids[1] || verdict.Of(err) != verdict.Fail {
			t.Errorf("%+v: got %v", o, err)
		}
		if refs, _ := dst.ForEachRef(t.Context(), git.CommitRefs+string(ids[1])); len(refs) != 0 {
			t.Errorf("%+v: the commit has a ref", o)
		}
	}
}

func TestFetchBrokenOff(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	id := r.Commit("main", "noise", gittest.Files{"noise": noise(300_000)})
	s := serve(t, r, gittest.ServerOptions{CutAfter: 100_000})
	dst := gittest.New(t)
	spec := git.FetchSpec{Commits: []git.ID{id}, Depth: 1}
	err := dst.Fetch(t.Context(), s.Remote("repo.git"), spec)
	var u *git.Unreachable
	if !errors.As(err, &u) || verdict.Of(err) != verdict.Infra {
		t.Fatalf("got %v", err)
	}
	if ok, _ := dst.HasCommit(t.Context(), id); ok {
		t.Error("half of a commit is there")
	}
	if err := dst.Fetch(t.Context(), serve(t, r, gittest.ServerOptions{}).Remote("repo.git"), spec); err != nil {
		t.Errorf("the next run: %v", err)
	}
}

// noise does not compress and is the same each time.
func noise(n int) string {
	b := make([]byte, n)
	x := uint32(1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return string(b)
}

func TestFilterThenObjectsInOneGo(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	files := gittest.Files{}
	for i := range 300 {
		files["f"+strings.Repeat("x", i%7)+string(rune('a'+i%26))+strings.Repeat("y", i/26)] = strings.Repeat("z", i) + "\n"
	}
	id := r.Commit("main", "many", files)
	entries, err := r.LsTree(t.Context(), r.Tree(id))
	if err != nil {
		t.Fatal(err)
	}
	var blobs []git.ID
	for _, e := range entries {
		blobs = append(blobs, e.ID)
	}
	// The mirror lost two blobs, as mirrors with a limit on size do.
	dir := t.TempDir()
	if err := os.CopyFS(dir+"/repo.git", os.DirFS(r.Dir())); err != nil {
		t.Fatal(err)
	}
	lost := []git.ID{blobs[10], blobs[20]}
	mirror, err := git.Open(t.Context(), dir+"/repo.git")
	if err != nil {
		t.Fatal(err)
	}
	unpack(t, mirror)
	for _, l := range lost {
		if err := os.Remove(filepath.Join(mirror.Dir(), "objects", string(l[:2]), string(l[2:]))); err != nil {
			t.Fatal(err)
		}
	}
	s := gittest.Serve(t, dir, gittest.ServerOptions{})
	for _, remote := range []git.Remote{s.Remote("repo.git"), {URL: mirror.Dir(), Allow: []string{"file"}}} {
		dst := gittest.New(t)
		var incomplete *git.Incomplete
		if err := dst.Fetch(t.Context(), remote, git.FetchSpec{Commits: []git.ID{id}, Depth: 1}); !errors.As(err, &incomplete) {
			t.Errorf("without a filter: got %v", err)
		}
		if err := dst.Fetch(t.Context(), remote, git.FetchSpec{Commits: []git.ID{id}, Depth: 1, Filter: "blob:none"}); err != nil {
			t.Fatal(err)
		}
		missing, err := dst.Missing(t.Context(), blobs)
		if err != nil || len(missing) != len(blobs) {
			t.Fatalf("%d of %d blobs are missing, %v", len(missing), len(blobs), err)
		}
		if text := dst.Git("config", "--list", "--local"); strings.Contains(text, "remote.") || strings.Contains(text, "partial") {
			t.Errorf("a remote was written into the configuration, git would fetch by itself:\n%s", text)
		}
		lacking, err := dst.FetchObjects(t.Context(), remote, blobs, nil)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(lacking)
		slices.Sort(lost)
		if !slices.Equal(lacking, lost) {
			t.Errorf("lacking %v, want %v", lacking, lost)
		}
		missing, err = dst.Missing(t.Context(), blobs)
		slices.Sort(missing)
		if err != nil || !slices.Equal(missing, lost) {
			t.Errorf("missing %v, %v", missing, err)
		}
		s.Requests.Store(0)
		if _, err := dst.FetchObjects(t.Context(), remote, slices.DeleteFunc(slices.Clone(blobs), func(id git.ID) bool { return slices.Contains(lost, id) }), nil); err != nil || s.Requests.Load() != 0 {
			t.Errorf("what is here was asked for again: %v", err)
		}
	}
}

// unpack turns packs into loose objects, so that a test can lose one.
func unpack(t *testing.T, r *git.Repo) {
	t.Helper()
	packs, _ := filepath.Glob(filepath.Join(r.Dir(), "objects/pack/*.pack"))
	for _, p := range packs {
		moved := filepath.Join(t.TempDir(), "x.pack")
		if err := os.Rename(p, moved); err != nil {
			t.Fatal(err)
		}
		os.Remove(strings.TrimSuffix(p, ".pack") + ".idx")
		f, err := os.Open(moved)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		c := r.Command("unpack-objects", "-q")
		c.Stdin = f
		if _, err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// A repository with holes must say "missing" and never ask a remote.
func TestNoLazyFetch(t *testing.T) {
	t.Parallel()
	r, ids := history(t, 1)
	s := serve(t, r, gittest.ServerOptions{})
	dst := gittest.New(t)
	if err := dst.Fetch(t.Context(), s.Remote("repo.git"), git.FetchSpec{Commits: ids, Depth: 1, Filter: "blob:none"}); err != nil {
		t.Fatal(err)
	}
	s.Requests.Store(0)
	entries, err := dst.LsTree(t.Context(), r.Tree(ids[0]))
	if err != nil {
		t.Fatal(err)
	}
	_, err = dst.Catch().Read(entries[0].ID, "blob")
	var missing *git.MissingObject
	if !errors.As(err, &missing) || missing.ID != entries[0].ID {
		t.Errorf("got %v", err)
	}
	// Even a repository that somebody set up to fetch by itself must not.
	dst.Git("config", "remote.origin.url", s.URL+"/repo.git")
	dst.Git("config", "remote.origin.promisor", "true")
	if _, err := dst.Output(t.Context(), "cat-file", "blob", string(entries[0].ID)); err == nil {
		t.Error("the blob came from somewhere")
	}
	if n := s.Requests.Load(); n != 0 {
		t.Errorf("%d requests", n)
	}
}

func TestPush(t *testing.T) {
	t.Parallel()
	r, ids := history(t, 3)
	there := gittest.New(t)
	s := gittest.Serve(t, filepath.Dir(there.Dir()), gittest.ServerOptions{Password: "sesame"})
	remote := s.Remote("repo.git")
	remote.Credential = git.Credential{User: "bot", Password: "sesame"}
	const ref = "refs/heads/state"
	push := func(id, expect git.ID) error {
		return r.Push(t.Context(), remote, git.PushRef{Ref: ref, ID: id, Expect: expect})
	}
	var moved *git.RefMoved
	if err := push(ids[0], ""); err != nil {
		t.Fatal(err)
	}
	if err := push(ids[1], ""); !errors.As(err, &moved) || moved.Ref != ref || moved.Where == "" {
		t.Errorf("it existed: got %v", err)
	}
	if err := push(ids[1], ids[0]); err != nil {
		t.Error(err)
	}
	if err := push(ids[2], ids[0]); !errors.As(err, &moved) || moved.Want != ids[0] {
		t.Errorf("it was elsewhere: got %v", err)
	}
	if err := push(ids[0], ids[1]); err != nil {
		t.Errorf("backwards with the exact old value: %v", err)
	}
	if got := there.Git("rev-parse", ref); got != string(ids[0]) {
		t.Errorf("at %s", got)
	}
	both := []git.PushRef{{Ref: ref, ID: ids[1], Expect: ids[0]}, {Ref: "refs/heads/other", ID: ids[1], Expect: ids[0]}}
	if err := r.Push(t.Context(), remote, both...); !errors.As(err, &moved) || moved.Ref != "refs/heads/other" {
		t.Errorf("two at once: got %v", err)
	}
	if got := there.Git("rev-parse", ref); got != string(ids[0]) {
		t.Errorf("half of an atomic push was done: at %s", got)
	}
	if err := push("", ids[0]); err != nil {
		t.Errorf("delete: %v", err)
	}
	there.Git("config", "transfer.hideRefs", "refs/hidden")
	err := r.Push(t.Context(), remote, git.PushRef{Ref: "refs/hidden/x", ID: ids[0]})
	var refused *git.PushRefused
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), "hidden ref") {
		t.Errorf("hidden: got %v", err)
	}
	remote.Credential.Password = "wrong"
	var auth *git.AuthRequired
	if err := push(ids[0], ""); !errors.As(err, &auth) || !auth.Refused {
		t.Errorf("wrong password: got %v", err)
	}
}

// What git's own checks find is the upstream's fault, not the network's.
func TestFetchHostileObjects(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	blob := r.Object("blob", []byte("x"))
	for _, x := range []struct {
		name string
		tree git.ID
	}{
		{"dot git", r.RawTree(git.TreeEntry{Mode: git.ModeTree, Name: ".git", ID: r.RawTree(git.TreeEntry{Mode: git.ModeFile, Name: "config", ID: blob})})},
		{"twice", r.RawTree(git.TreeEntry{Mode: git.ModeSymlink, Name: "a", ID: blob}, git.TreeEntry{Mode: git.ModeFile, Name: "a", ID: blob})},
		{"a blob that is not there", r.RawTree(git.TreeEntry{Mode: git.ModeTree, Name: "a", ID: blob})},
	} {
		t.Run(x.name, func(t *testing.T) {
			id := r.RawCommit("main", x.name, x.tree)
			dst := gittest.New(t)
			err := dst.Fetch(t.Context(), serve(t, r, gittest.ServerOptions{}).Remote("repo.git"), git.FetchSpec{Commits: []git.ID{id}, Depth: 1})
			if err == nil || verdict.Of(err) != verdict.Fail {
				t.Fatalf("got %v", err)
			}
			var m *git.Malformed
			if x.name != "a blob that is not there" && !errors.As(err, &m) {
				t.Errorf("got %v", err)
			}
			if refs, _ := dst.ForEachRef(t.Context()); len(refs) != 0 {
				t.Errorf("refs %v", refs)
			}
		})
	}
}

// A branch with a history of its own is fetched into a clone of one commit and
// without blobs: it comes whole, and the clone stays as it is.
func TestFetchAside(t *testing.T) {
	t.Parallel()
	r, ids := history(t, 4)
	first := r.Commit("aside", "one", gittest.Files{"x": "1"}, gittest.Onto())
	second := r.Commit("aside", "two", gittest.Files{"x": "2"})
	s := serve(t, r, gittest.ServerOptions{})
	for _, filter := range []string{"", "blob:none"} {
		dst := gittest.New(t)
		if err := dst.Fetch(t.Context(), s.Remote("repo.git"), git.FetchSpec{Commits: ids[3:], Depth: 1, Filter: filter}); err != nil {
			t.Fatal(err)
		}
		spec := git.FetchSpec{Refs: []git.Refspec{{From: "refs/heads/aside", To: "refs/kept/aside"}}, Aside: true}
		if err := dst.Fetch(t.Context(), s.Remote("repo.git"), spec); err != nil {
			t.Fatal(err)
		}
		if got := dst.Git("rev-list", "refs/kept/aside"); got != string(second)+"\n"+string(first) {
			t.Errorf("filter %q: the branch has %s", filter, got)
		}
		if got := dst.Git("show", "refs/kept/aside~:x"); got != "1" {
			t.Errorf("filter %q: a blob is %q", filter, got)
		}
		if got := dst.Git("rev-list", "--count", string(ids[3])); got != "1" || !dst.Shallow() {
			t.Errorf("filter %q: the clone has %s commits now", filter, got)
		}
	}
}
