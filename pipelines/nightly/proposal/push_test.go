// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package proposal

import (
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// proposed is one more proposal of another version, verified in the clone.
func (w *world) proposed(clone *git.Repo, version string) *Proposal {
	w.t.Helper()
	demo := w.demo.Commit("main", version+"\n", gittest.Files{"c.c": version + "\n"})
	w.make(w.round(demo, ""), w.passes())
	v, err := w.verify(clone)
	w.fatal(err)
	return v.Proposal
}

func (w *world) branch() git.ID {
	w.t.Helper()
	refs, err := w.ours.ForEachRef(w.t.Context(), "refs/heads/bump/pair")
	w.fatal(err)
	if len(refs) == 0 {
		return ""
	}
	return refs[0].ID
}

// https://github.com/dependabot/dependabot-core/issues/8652 and
// https://github.com/microsoft/go/issues/497: one branch a group, and what a
// person pushed to it stays.
func TestPush(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	clone := w.clone()
	server := gittest.Serve(t, filepath.Dir(w.ours.Dir()), gittest.ServerOptions{Password: "sesame"})
	remote := server.Remote("repo.git")
	one, two := w.proposed(clone, "one"), w.proposed(clone, "two")

	if _, err := Push(t.Context(), clone, remote, one, nil); err == nil || strings.Contains(err.Error(), "sesame") {
		t.Errorf("pushed without a credential: %v", err)
	}
	remote.Credential = git.Credential{User: "x", Password: "wrong-one"}
	if _, err := Push(t.Context(), clone, remote, one, nil); err == nil || strings.Contains(err.Error(), "wrong-one") {
		t.Errorf("pushed with a wrong credential, or told it: %v", err)
	}
	remote.Credential.Password = "sesame"

	// Main went on meanwhile.
	w.ours.Commit("main", "more\n", gittest.Files{"README.md": "more\n"})
	before := w.ours.Git("for-each-ref", "refs/heads/main", "refs/tags")
	push := func(p *Proposal, known ...git.ID) (*Pushed, error) {
		t.Helper()
		return Push(t.Context(), clone, remote, p, known)
	}
	if got, err := push(one); err != nil || *got != (Pushed{"bump/pair", one.Commit, "", true}) || w.branch() != one.Commit {
		t.Fatalf("%+v %v, the branch is %s", got, err, w.branch())
	}
	if got, err := push(one); err != nil || got.Changed {
		t.Errorf("again: %+v %v", got, err)
	}
	if got, err := push(two, one.Commit); err != nil || *got != (Pushed{"bump/pair", two.Commit, one.Commit, true}) || w.branch() != two.Commit {
		t.Errorf("the next: %+v %v", got, err)
	}
	person := w.ours.Commit("bump/pair", "a fix\n", gittest.Files{"patches/demo/README.md": "mine\n"})
	for _, p := range []*Proposal{one, two} {
		_, err := push(p, one.Commit, two.Commit)
		var occupied *Occupied
		if !errors.As(err, &occupied) || occupied.Head != person || verdict.Of(err) != verdict.Held || w.branch() != person {
			t.Errorf("over a person's commit: %v, the branch is %s", err, w.branch())
		}
	}
	if after := w.ours.Git("for-each-ref", "refs/heads/main", "refs/tags"); after != before {
		t.Errorf("something else moved:\n%s\nwas\n%s", after, before)
	}
	// A ledger that was lost knows nothing of our own commit: it stays.
	w.ours.Move("bump/pair", one.Commit)
	if _, err := push(two); verdict.Of(err) != verdict.Held {
		t.Errorf("over a commit that nobody knows: %v", err)
	}
	bad := *two
	bad.Branch = "main"
	if _, err := push(&bad, one.Commit); err == nil {
		t.Error("pushed to main")
	}
	bad = *two
	bad.Group, bad.Branch = "../../heads/main", "bump/../../heads/main"
	if _, err := push(&bad, one.Commit); err == nil {
		t.Error("pushed to a hostile branch")
	}
}

func TestTwoPushers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	clone, other := w.clone(), w.clone()
	one := w.proposed(clone, "one")
	if _, err := w.verify(other); err != nil {
		t.Fatal(err)
	}
	two := w.proposed(other, "two")
	server := gittest.Serve(t, filepath.Dir(w.ours.Dir()), gittest.ServerOptions{Password: "sesame"})
	remote := server.Remote("repo.git")
	remote.Credential = git.Credential{User: "x", Password: "sesame"}
	both := func(a, b *Proposal) (errs [2]error) {
		var wg sync.WaitGroup
		for i, x := range []struct {
			repo *git.Repo
			p    *Proposal
		}{{clone, a}, {other, b}} {
			wg.Go(func() { _, errs[i] = Push(t.Context(), x.repo, remote, x.p, nil) })
		}
		wg.Wait()
		return errs
	}
	// Two of the same round: both are done.
	if errs := both(one, one); errs[0] != nil || errs[1] != nil || w.branch() != one.Commit {
		t.Errorf("the same: %v, the branch is %s", errs, w.branch())
	}
	w.ours.Git("update-ref", "-d", "refs/heads/bump/pair")
	// Two rounds: one is there, and the other says so.
	errs := both(one, two)
	if (errs[0] == nil) == (errs[1] == nil) {
		t.Fatalf("two rounds: %v", errs)
	}
	winner, lost := one.Commit, errs[1]
	if errs[0] != nil {
		winner, lost = two.Commit, errs[0]
	}
	if verdict.Of(lost) != verdict.Held || w.branch() != winner {
		t.Errorf("the loser: %v, the branch is %s", lost, w.branch())
	}
}

func TestStandingAndConflicts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	demo := w.demo.Commit("main", "on\n", gittest.Files{"c.c": "int c;\n"})
	tool := w.tool.Commit("main", "two\n", gittest.Files{"x": "2\n"})
	r := w.round(demo, tool)
	p := w.make(r, w.passes())
	onMain := func(message string, files gittest.Files) git.ID {
		return w.ours.Commit("side", message, files, gittest.Onto(w.main))
	}
	pin := func(commit git.ID, name string) string { return w.show(commit, "pins/"+name+".yaml") + "\n" }
	locked := func(name string, id string) string {
		return strings.ReplaceAll(pin(w.main, name), string(w.base[name]), id)
	}
	elsewhere := strings.Repeat("ab", 20)
	for _, c := range []struct {
		name      string
		main      git.ID
		standing  Standing
		conflicts bool
	}{
		{"as it was", w.main, Open, false},
		{"merged", p.Commit, Merged, false},
		{"other work", onMain("x\n", gittest.Files{"README.md": "x\n"}), Open, false},
		{"another bump's NOTICE", onMain("x\n", gittest.Files{"NOTICE": "first\n" + w.show(w.main, "NOTICE") + "\n"}), Open, false},
		{"a hold", onMain("x\n", gittest.Files{"pins/tool.yaml": "# held\n" + pin(w.main, "tool")}), Open, false},
		{"half", onMain("x\n", gittest.Files{"pins/tool.yaml": pin(p.Commit, "tool")}), Open, false},
		{"elsewhere", onMain("x\n", gittest.Files{"pins/tool.yaml": locked("tool", elsewhere), "pins/demo.yaml": pin(p.Commit, "demo")}), Superseded, true},
		{"half elsewhere", onMain("x\n", gittest.Files{"pins/tool.yaml": locked("tool", elsewhere)}), Open, true},
		{"no pin", "", Superseded, true},
	} {
		if c.name == "no pin" {
			c.main = w.ours.Commit("side", "x\n", gittest.Files{"pins/demo.yaml": pin(p.Commit, "demo")}, gittest.Onto(w.main), gittest.Delete("pins/tool.yaml"))
		}
		got, err := StandingOf(t.Context(), w.ours.Repo, c.main, r)
		if err != nil || got != c.standing {
			t.Errorf("%s: it is %s (%v), want %s", c.name, got, err, c.standing)
		}
		conflicts, err := Conflicts(t.Context(), w.ours.Repo, c.main, p.Commit)
		if err != nil || conflicts != c.conflicts {
			t.Errorf("%s: conflicts %t (%v), want %t", c.name, conflicts, err, c.conflicts)
		}
	}
	// A clone with three commits and no history.
	w.ours.Move("main", onMain("x\n", gittest.Files{"README.md": "x\n"}))
	w.ours.Move("bump/pair", p.Commit)
	clone := w.clone()
	main := git.ID(w.ours.Git("rev-parse", "refs/heads/main"))
	if _, err := Conflicts(t.Context(), clone, main, p.Commit); err == nil {
		t.Error("it knows without the commits")
	}
	w.fatal(clone.Fetch(t.Context(), git.Remote{URL: w.ours.Dir(), Allow: []string{"file"}},
		git.FetchSpec{Commits: []git.ID{main, w.main, p.Commit}, Depth: 1}))
	if !clone.Shallow() {
		t.Error("all history came")
	}
	if got, err := Conflicts(t.Context(), clone, main, p.Commit); err != nil || got {
		t.Errorf("in a shallow clone: %t %v", got, err)
	}
}
