// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"testing"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

func TestPublish(t *testing.T) {
	t.Parallel()
	up, base := three(t)
	e := newEngine(t, up, base)
	e.imports("ours")
	fork := gittest.New(t)
	publish := func() (*Published, error) {
		r, err := Open(t.Context(), e.root)
		if err != nil {
			t.Fatal(err)
		}
		return r.Publish(t.Context(), "demo", PublishOptions{Remote: git.Remote{URL: fork.Dir(), Allow: []string{"file"}}, Source: e.source})
	}
	held := func(words ...string) {
		t.Helper()
		_, err := publish()
		wantError(t, err, verdict.Held, words...)
		if got := fork.Git("for-each-ref"); got != "" {
			t.Fatalf("something was pushed: %s", got)
		}
	}
	held("is no git repository")
	person(t, e.root, "init", "-q", "-b", "main")
	held("there is no branch main")
	person(t, e.root, "add", "pins", "go.mod")
	person(t, e.root, "commit", "-qm", "pins")
	held("is not on main")
	person(t, e.root, "add", "patches/demo")
	held("is not on main") // staged is not merged
	person(t, e.root, "commit", "-qm", "patches")
	patch := e.get("patches/demo/first-change.patch")
	e.put("patches/demo/first-change.patch", patch+" ")
	person(t, e.root, "update-index", "--assume-unchanged", "patches/demo/first-change.patch")
	held("first-change.patch differs from main")
	e.put("patches/demo/first-change.patch", patch)

	p, err := publish()
	if err != nil {
		t.Fatal(err)
	}
	first := p.Tip
	if !p.Changed || p.Branch != "dist/demo" || p.Tag != "demo-"+first.Short() || p.OldTag != "" {
		t.Errorf("%+v", p)
	}
	if got := fork.Git("rev-parse", "dist/demo", p.Tag, "dist/demo^{tree}"); got != string(first)+"\n"+string(first)+"\n"+up.Git("rev-parse", "ours^{tree}") {
		t.Errorf("fork:\n%s", got)
	}
	if p, err = publish(); err != nil || p.Changed {
		t.Errorf("the second time: %+v, %v", p, err)
	}

	// Somebody pushed to the branch: that tip is kept.
	strange := fork.Commit("dist/demo", "a person's fix", gittest.Files{"x": "1\n"})
	if p, err = publish(); err != nil || p.OldTip != strange || p.OldTag != "demo-"+strange.Short() {
		t.Fatalf("%+v, %v", p, err)
	}
	if got := fork.Git("rev-parse", "dist/demo", p.OldTag); got != string(first)+"\n"+string(strange) {
		t.Errorf("fork:\n%s", got)
	}

	// A tag of that name which is something else stops everything.
	other := fork.Commit("dist/demo", "another", gittest.Files{"x": "2\n"})
	fork.Tag("demo-"+other.Short(), strange)
	_, err = publish()
	wantError(t, err, verdict.Fail, "nothing was pushed")
	if got := fork.Git("rev-parse", "dist/demo"); got != string(other) {
		t.Errorf("the branch moved to %s", got)
	}
}

// The branch moves between the look and the push: the lease holds.
func TestPublishRace(t *testing.T) {
	t.Parallel()
	up, base := three(t)
	fork := gittest.New(t)
	tip := fork.Commit("dist/demo", "one", gittest.Files{"x": "1\n"})
	e := newEngine(t, up, base)
	e.imports("ours")
	person(t, e.root, "init", "-q", "-b", "main")
	person(t, e.root, "add", ".")
	person(t, e.root, "commit", "-qm", "all")
	r, err := Open(t.Context(), e.root)
	if err != nil {
		t.Fatal(err)
	}
	remote := git.Remote{URL: fork.Dir(), Allow: []string{"file"}}
	_, repo, commits, _, done, err := r.rebuilt(t.Context(), "demo", e.source)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	p := &Published{Stack: "demo", OldTip: tip, OldTag: tagOf("demo", tip)}
	moved := fork.Commit("dist/demo", "two", gittest.Files{"x": "2\n"})
	if err := keepOld(t.Context(), repo, remote, "refs/heads/dist/demo", p, ""); err == nil {
		t.Error("the moved branch was not seen")
	}
	err = repo.Push(t.Context(), remote, git.PushRef{Ref: "refs/heads/dist/demo", ID: commits[2], Expect: tip})
	if _, ok := err.(*git.RefMoved); !ok {
		t.Errorf("%v", err)
	}
	if got := fork.Git("rev-parse", "dist/demo"); got != string(moved) {
		t.Errorf("the branch is at %s", got)
	}
}
