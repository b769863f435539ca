// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/treesum"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

func TestBranch(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]gittest.ServerOptions{
		"as large hosts are": {}, "no filters": {NoFilter: true}, "no commits by id": {NoAnySHA1: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			up := gittest.New(t)
			first := up.Commit("main", "one", gittest.Files{"a": "one\n", "LICENSE": "MIT\n", "d/run.sh": "#!/bin/sh\n"}, gittest.Exec("d/run.sh"), gittest.Symlink("l", "a"))
			w := newWorld(t)
			w.serve("x", up, o)
			w.pin("x", followMain)
			l := w.must("x")
			want, err := treesum.FromGit(t.Context(), up.Repo, up.Tree(first), treesum.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if l.Commit != string(first) || l.Sum != want.Sum || l.Tree != string(up.Tree(first)) || !l.Date.Equal(gittest.Epoch) {
				t.Errorf("locked %+v, want commit %s sum %s date %s", l, first, want.Sum, gittest.Epoch)
			}
			if l.ViaMirror == nil || l.ViaMirror.StandsIn != "https://up.example/x.git" {
				t.Errorf("via-mirror is %+v", l.ViaMirror)
			}
			if len(l.Licenses) != 1 || l.Licenses[0].Path != "LICENSE" {
				t.Errorf("licenses %+v", l.Licenses)
			}
			p := w.get("x")
			if p.State() != pins.Verified || w.read(p, "a") != "one\n" {
				t.Errorf("state %s, content %q", p.State(), w.read(p, "a"))
			}
			if target, err := os.Readlink(w.entry(p) + "/l"); err != nil || target != "a" {
				t.Errorf("link %q %v", target, err)
			}
			repo, err := w.e.Repository(t.Context(), "x")
			if err != nil {
				t.Fatal(err)
			}
			if kept, err := repo.RevParse(t.Context(), KeptRef("x", first)); err != nil || kept != first {
				t.Errorf("kept %s %v", kept, err)
			}
			second := up.Commit("main", "two", gittest.Files{"a": "two\n"})
			if l := w.must("x"); l.Commit != string(second) {
				t.Errorf("moved to %s, want %s", l.Commit, second)
			}
			if r := w.update("x", UpdateOptions{}); r.Changed || r.Verdict != verdict.Pass {
				t.Errorf("a second time: %+v", r)
			}
			w.e.Offline = true
			if got := w.read(w.get("x"), "a"); got != "two\n" {
				t.Errorf("offline: %q", got)
			}
		})
	}
}

// A pin without a stack never gets history; one with a stack gets all of it.
func TestDepth(t *testing.T) {
	t.Parallel()
	up := gittest.New(t)
	for _, s := range []string{"one", "two", "three"} {
		up.Commit("main", s, gittest.Files{"a": s})
	}
	w := newWorld(t)
	w.serve("x", up, gittest.ServerOptions{})
	w.serve("y", up, gittest.ServerOptions{})
	w.pin("x", followMain)
	w.pin("y", followMain+"stack: y\n")
	for name, want := range map[string]int{"x": 1, "y": 3} {
		l := w.must(name)
		repo, err := w.e.Repository(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		ids, err := repo.RevList(t.Context(), git.Range{To: git.ID(l.Commit)})
		if err != nil || len(ids) != want {
			t.Errorf("%s has %d commits, want %d (%v)", name, len(ids), want, err)
		}
	}
	// What a rebase needs of older commits comes when it is asked for.
	ctx := t.Context()
	repo, err := w.e.Repository(ctx, "y")
	if err != nil {
		t.Fatal(err)
	}
	first := git.ID(up.Git("rev-list", "--max-parents=0", "main"))
	blob := git.ID(up.Git("rev-parse", string(first)+":a"))
	if missing, err := repo.Missing(ctx, []git.ID{blob}); err != nil || len(missing) != 1 {
		t.Fatalf("missing %v %v: the test needs an absent blob", missing, err)
	}
	if err := w.e.EnsureBlobs(ctx, "y", []git.ID{first}, []string{"a"}); err != nil {
		t.Fatal(err)
	}
	if missing, err := repo.Missing(ctx, []git.ID{blob}); err != nil || len(missing) != 0 {
		t.Errorf("missing %v %v", missing, err)
	}
}

// https://github.com/renovatebot/renovate/issues/41560: ls-remote shows the tag
// object of an annotated tag.
// https://github.com/xorbitsai/xllamacpp/issues/182: b9999 is older than b10000.
func TestTags(t *testing.T) {
	t.Parallel()
	up := gittest.New(t)
	a := up.Commit("main", "one", gittest.Files{"a": "one"})
	b := up.Commit("main", "two", gittest.Files{"a": "two"})
	up.Tag("b9999", b)
	object := up.Annotated("b10000", "release", a)
	w := newWorld(t)
	w.serve("x", up, gittest.ServerOptions{})
	w.pin("x", followTags)
	l := w.must("x")
	if l.Version != "b10000" || l.Commit != string(a) || l.Tag != string(object) {
		t.Errorf("locked %+v, want b10000 %s, tag object %s", l, a, object)
	}
	t.Run("a lower tag on a newer commit is backwards", func(t *testing.T) {
		r := w.update("x", UpdateOptions{To: "b9999"})
		w.wants(r.Verdict, r.Why, verdict.Held, "b10000", "b9999", "backwards")
		r = w.update("x", UpdateOptions{To: "b9999", Accept: DirectionBackwards, Reason: "b10000 is bad", By: "A. Person"})
		if r.Verdict != verdict.Pass {
			t.Fatal(r.Why)
		}
		got := w.get("x").Lock.Accepted
		if got == nil || *got != (pins.Accepted{From: string(a), To: string(b), Why: "b10000 is bad", By: "A. Person", Date: "2026-11-01"}) {
			t.Errorf("accepted %+v", got)
		}
	})
	t.Run("there is nothing to accept on the way forward", func(t *testing.T) {
		_, err := w.e.Update(t.Context(), []*pins.Pin{w.get("x")}, UpdateOptions{PinsDir: w.pins, To: "b10000", Accept: DirectionBackwards, Reason: "r", By: "b"})
		if verdict.ExitCode(err) != verdict.ExitUsage {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a tag outside the schemes stops", func(t *testing.T) {
		up.Tag("v1.0.0", b)
		r := w.refused("x", verdict.Held, `"v1.0.0"`, "outside the schemes")
		_ = r
		up.Git("update-ref", "-d", "refs/tags/v1.0.0")
	})
	t.Run("a rejected version stops", func(t *testing.T) {
		if _, err := pins.Edit(w.pins, "x", func(f []byte) ([]byte, error) {
			return pins.AddReject(f, pins.Reject{ID: string(a), Why: "loses tokens"})
		}); err != nil {
			t.Fatal(err)
		}
		w.refused("x", verdict.Held, "loses tokens")
	})
}

// https://github.com/tj-actions/changed-files/issues/2463,
// https://github.com/aquasecurity/trivy-action/issues/542
func TestMovedTag(t *testing.T) {
	t.Parallel()
	up := gittest.New(t)
	a := up.Commit("main", "one", gittest.Files{"a": "one"})
	up.Tag("b1", a)
	w := newWorld(t)
	w.serve("x", up, gittest.ServerOptions{})
	w.pin("x", followTags)
	w.must("x")
	b := up.Commit("main", "two", gittest.Files{"a": "two"})
	up.Tag("b1", b)
	w.refused("x", verdict.Fail, "b1", string(a), string(b), "moved")
	up.Tag("b2", b) // a newer tag does not hide it
	w.refused("x", verdict.Fail, "b1", string(a), string(b))
	rows, err := w.e.Check(t.Context(), []*pins.Pin{w.get("x")})
	if err != nil {
		t.Fatal(err)
	}
	w.wants(rows[0].Verdict, rows[0].Why, verdict.Fail, string(a), string(b))
	up.Git("update-ref", "-d", "refs/tags/b2")
	r := w.update("x", UpdateOptions{To: string(b), Accept: DirectionMoved, Reason: "announced", By: "A"})
	if r.Verdict != verdict.Pass || w.get("x").Lock.Commit != string(b) || w.get("x").Lock.Version != "b1" {
		t.Errorf("%+v", r)
	}
}

// https://github.com/angr/pyvex/issues/396: a branch is force-pushed away from
// the pin, and the old commit is gone upstream.
func TestForcePushedBranch(t *testing.T) {
	t.Parallel()
	for name, stack := range map[string]string{"without history": "", "with history": "stack: x\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			up := gittest.New(t)
			root := up.Commit("main", "root", gittest.Files{"a": "root"})
			old := up.Commit("main", "one", gittest.Files{"a": "one"})
			w := newWorld(t)
			w.serve("x", up, gittest.ServerOptions{})
			w.pin("x", followMain+stack)
			w.must("x")
			now := up.Commit("main", "other", gittest.Files{"a": "other"}, gittest.Onto(root))
			up.Prune()
			w.refused("x", verdict.Held, string(old), string(now), "sideways")
			// Our own mirror still has it.
			key := w.get("x").Lock
			entries, _ := w.e.Store.List()
			for _, x := range entries {
				if err := w.e.Store.Remove(t.Context(), x.Key); err != nil {
					t.Fatal(err)
				}
			}
			if got := w.read(w.get("x"), "a"); got != "one" || key.Commit != string(old) {
				t.Errorf("content %q", got)
			}
			up.Move("main", root)
			w.refused("x", verdict.Held, string(old), string(root))
			r := w.update("x", UpdateOptions{To: "main", Accept: DirectionSideways, Reason: "they rebased", By: "A"})
			if stack != "" || r.Verdict != verdict.Pass { // root is in the lock's history, which only the stack has
				w.wants(r.Verdict, r.Why, verdict.Held, "backwards")
			}
		})
	}
}

// https://github.com/H-uru/Plasma/issues/1216: the default branch was renamed.
func TestRenamedBranch(t *testing.T) {
	t.Parallel()
	up := gittest.New(t)
	a := up.Commit("master", "one", gittest.Files{"a": "one"})
	up.Move("trunk", a)
	up.Git("update-ref", "-d", "refs/heads/master")
	up.DefaultBranch("trunk")
	w := newWorld(t)
	w.serve("x", up, gittest.ServerOptions{})
	w.pin("x", "track: {kind: git-branch, branch: master}\n")
	w.refused("x", verdict.Fail, "no branch master any more", "trunk", "track.branch")
}

// https://github.com/mudler/LocalAI: a renamed repository answers 301, and its
// body became the pin.
func TestBadHosts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		o    gittest.ServerOptions
		want verdict.Verdict
		text string
	}{
		"renamed":     {gittest.ServerOptions{Redirect: map[string]string{"/repo.git": "/new.git"}}, verdict.Fail, "has moved to"},
		"missing":     {gittest.ServerOptions{Status: 404}, verdict.Fail, "does not exist"},
		"credential":  {gittest.ServerOptions{Password: "secret"}, verdict.Fail, "needs a credential"},
		"unavailable": {gittest.ServerOptions{Status: 503}, verdict.Infra, "cannot be reached now"},
		"cut off":     {gittest.ServerOptions{CutAfter: 300}, verdict.Infra, "cannot be reached now"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			up := gittest.New(t)
			up.Commit("main", "one", gittest.Files{"a": strings.Repeat("content\n", 3000)})
			w := newWorld(t)
			w.serve("x", up, c.o)
			w.pin("x", followMain)
			r := w.refused("x", c.want, c.text)
			if strings.Contains(r.Why, "secret") {
				t.Errorf("a secret is shown: %s", r.Why)
			}
		})
	}
	t.Run("nobody listens", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.e.Mirrors.URLs["https://up.example/x.git"] = Mirror{To: gittest.ClosedPort(t) + "/repo.git"}
		w.pin("x", followMain)
		w.refused("x", verdict.Infra, "cannot be reached now")
	})
	t.Run("no mirror of a loopback upstream", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.pin("x", followMain)
		p := *w.get("x")
		p.Upstream = "https://127.0.0.1/x.git"
		if _, err := w.e.newest(t.Context(), &p); err == nil || !strings.Contains(err.Error(), "this machine") {
			t.Errorf("got %v", err)
		}
	})
}

// https://github.com/chainguard-dev/melange/issues/2284: the locked commit is
// not near the tip.
func TestOldCommit(t *testing.T) {
	t.Parallel()
	up := gittest.New(t)
	old := up.Commit("main", "one", gittest.Files{"a": "one"})
	for range 5 {
		up.Commit("main", "more", gittest.Files{"b": strings.Repeat("x", countOf(up))})
	}
	for name, o := range map[string]gittest.ServerOptions{"by id": {}, "not by id": {NoAnySHA1: true}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.serve("x", up, o)
			w.pin("x", followMain)
			if r := w.update("x", UpdateOptions{To: string(old)}); r.Verdict != verdict.Pass {
				t.Fatal(r.Why)
			}
			if got := w.read(w.get("x"), "a"); got != "one" {
				t.Errorf("content %q", got)
			}
		})
	}
	w := newWorld(t)
	w.serve("x", up, gittest.ServerOptions{})
	w.pin("x", followMain)
	before := w.snapshot()
	r := w.update("x", UpdateOptions{To: string(id(1))})
	w.wants(r.Verdict, r.Why, verdict.Fail, string(id(1)), "no longer has the commit")
	if w.snapshot() != before {
		t.Error("something changed")
	}
}

func TestMissingBlobs(t *testing.T) {
	t.Parallel()
	up := gittest.New(t)
	commit := up.Commit("main", "one", gittest.Files{"a": "one\n", "models/big.gguf": "weights\n", "models/other.gguf": "more\n"})
	big, other := up.Git("rev-parse", "main:models/big.gguf"), up.Git("rev-parse", "main:models/other.gguf")
	// A mirror that lacks two blobs, as those with a limit on size do.
	for _, blob := range []string{big, other} {
		unpackAndRemove(t, up, blob)
	}
	for name, serve := range map[string]func(*world){
		"a folder": func(w *world) { w.local("x", up) },
		"a host":   func(w *world) { w.serve("x", up, gittest.ServerOptions{}) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			serve(w)
			w.pin("x", followMain)
			w.refused("x", verdict.Fail, `"models/big.gguf"`, `"models/other.gguf"`, "exclude")
			w.pin("x", followMain+"exclude:\n  - {path: models/big.gguf, why: weights}\n")
			w.refused("x", verdict.Fail, `"models/other.gguf"`)
			w.pin("x", followMain+"exclude:\n  - {path: models/big.gguf, why: weights}\n  - {path: models/other.gguf, why: weights}\n")
			l := w.must("x")
			if len(l.Excluded) != 2 || l.Excluded[0].ID != big || l.Excluded[0].Mode != "100644" || l.Commit != string(commit) {
				t.Errorf("excluded %+v", l.Excluded)
			}
			if _, err := os.Lstat(w.entry(w.get("x")) + "/models/big.gguf"); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("an excluded file is there: %v", err)
			}
			w.pin("x", followMain+"exclude:\n  - {path: models/big.gguf, why: weights}\n  - {path: models/other.gguf, why: weights}\n  - {path: none, why: gone}\n")
			w.refused("x", verdict.Fail, `"none"`)
		})
	}
}

// The content of a lock is compared with every part of it.
func TestWrongLock(t *testing.T) {
	t.Parallel()
	up := gittest.New(t)
	up.Commit("main", "one", gittest.Files{"a": "one"})
	w := newWorld(t)
	w.serve("x", up, gittest.ServerOptions{})
	w.pin("x", followMain)
	good := *w.must("x")
	other := "t1:" + strings.Repeat("A", 43) + "="
	for name, change := range map[string]func(*pins.Lock){
		"sum":  func(l *pins.Lock) { l.Sum = other },
		"tree": func(l *pins.Lock) { l.Tree, l.Sum = string(id(7)), other },
		"submodule": func(l *pins.Lock) {
			l.Submodules, l.Sum = []pins.Submodule{{Path: "s", URL: "https://up.example/s.git", Commit: string(id(7)), Sum: other}}, other
		},
	} {
		t.Run(name, func(t *testing.T) {
			lock := good
			change(&lock)
			if _, err := pins.Edit(w.pins, "x", func(f []byte) ([]byte, error) { return pins.WriteLock(f, lock) }); err != nil {
				t.Fatal(err)
			}
			before := w.snapshot()
			_, err := w.e.Content(t.Context(), w.get("x"))
			var d *Differs
			if !errors.As(err, &d) || !strings.HasPrefix(err.Error(), "pin x: the "+name) {
				t.Errorf("got %v", err)
			}
			if w.snapshot() != before {
				t.Error("something changed")
			}
		})
	}
}

func TestGitlink(t *testing.T) {
	t.Parallel()
	child := gittest.New(t)
	c1 := child.Commit("main", "one", gittest.Files{"a": "one"})
	side := child.Commit("side", "side", gittest.Files{"a": "side"}, gittest.Onto())
	parent := gittest.New(t)
	modules := func(url string) gittest.Files {
		return gittest.Files{".gitmodules": "[submodule \"c\"]\n\tpath = sub/c\n\turl = " + url + "\n"}
	}
	p1 := parent.Commit("main", "one", modules("../x.git"), gittest.Submodule("sub/c", c1))
	w := newWorld(t)
	w.serve("x", child, gittest.ServerOptions{})
	w.serve("elsewhere", child, gittest.ServerOptions{})
	w.serve("parent", parent, gittest.ServerOptions{})
	const track = "track: {kind: gitlink, of: 'https://up.example/parent.git', branch: main, path: sub/c"
	w.pin("x", track+"}\n")
	l := w.must("x")
	if want := (pins.Via{Commit: string(p1), Path: "sub/c", URL: "../x.git", Branch: "main"}); l.Commit != string(c1) || l.Via == nil || *l.Via != want {
		t.Errorf("locked %+v via %+v, want %+v", l, l.Via, want)
	}
	p2 := parent.Commit("main", "two", nil, gittest.Submodule("sub/c", side))
	if l := w.must("x"); l.Commit != string(side) || l.Via.Commit != string(p2) {
		t.Errorf("the child may go sideways: %+v", l)
	}
	parent.Commit("main", "moved", modules("https://up.example/elsewhere.git"), gittest.Submodule("sub/c", c1))
	w.refused("x", verdict.Held, "elsewhere.git", "allowed-urls")
	text, _ := os.ReadFile(w.pins + "/x.yaml")
	w.write("x.yaml", strings.Replace(string(text), "path: sub/c}", "path: sub/c, allowed-urls: ['https://up.example/elsewhere.git']}", 1))
	if l := w.must("x"); l.Commit != string(c1) || l.Via.URL != "https://up.example/elsewhere.git" {
		t.Errorf("allowed: %+v", l)
	}
	parent.Commit("main", "rewritten", modules("../x.git"), gittest.Submodule("sub/c", c1), gittest.Onto(p1))
	w.refused("x", verdict.Held, "sideways", "https://up.example/parent.git")
	parent.Commit("main", "gone", nil, gittest.Delete("sub/c"))
	w.refused("x", verdict.Fail, "no submodule", "track.path")
}

func TestFieldOfAPin(t *testing.T) {
	t.Parallel()
	up := gittest.New(t)
	up.Commit("main", "one", gittest.Files{"v.json": `{"run": {"id": 17316573621}}`})
	w := newWorld(t)
	w.serve("x", up, gittest.ServerOptions{})
	w.pin("x", followMain)
	w.write("f.yaml", "name: f\nwhat: a test\nlicense: MIT\nuse: child\ntrack: {kind: field, of: x, path: v.json, key: run.id}\n")
	w.write("groups.yaml", "- {name: g, members: [x, f], every: day}\n")
	w.must("x")
	if l := w.get("f").Lock; l == nil || l.Version != "17316573621" {
		t.Errorf("the field is locked with its pin: %+v", l)
	}
	up.Commit("main", "two", gittest.Files{"v.json": `{"run": {"id": 17316573622}}`})
	w.must("f") // brings the whole group
	if l := w.get("f").Lock; l.Version != "17316573622" {
		t.Errorf("the field is read at the commit that its pin moves to: %+v", l)
	}
	before := w.get("x").Lock.Commit
	up.Commit("main", "three", gittest.Files{"v.json": `{"run": {}}`})
	w.refused("f", verdict.Fail, "run.id", "track.key")
	if w.get("x").Lock.Commit != before {
		t.Error("one member moved without the other")
	}
}

// count is how many commits main has.
func countOf(r *gittest.Repo) int { return len(strings.Fields(r.Git("rev-list", "main"))) }

// unpackAndRemove takes one blob out of a repository.
func unpackAndRemove(t *testing.T, r *gittest.Repo, blob string) {
	t.Helper()
	if err := os.Remove(r.Dir() + "/objects/" + blob[:2] + "/" + blob[2:]); err != nil {
		t.Fatal(err)
	}
}
