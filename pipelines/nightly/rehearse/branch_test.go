// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package rehearse

import (
	"strings"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/nightly"
)

// tip is where a branch of main's repository stands, empty where it does not.
func (w *World) tip(t *testing.T, branch string) git.ID {
	t.Helper()
	id, err := w.Main.RevParse(t.Context(), "refs/heads/"+branch)
	if err != nil {
		return ""
	}
	return id
}

// Forges keep the branch of what was merged: the next proposal takes its place.
func TestBranchOfMergedProposalIsReplaced(t *testing.T) {
	t.Parallel()
	w := small(t)
	for _, word := range []string{"one", "two", "three"} {
		w.must(t, "hello", Files{"main.go": helloMain(word)})
		w.mustNight(t, []string{"hello: pass, wait"}, only("hello"))
		at := w.tip(t, "bump/hello")
		if err := w.Merge(t.Context(), "bump/hello"); err != nil {
			t.Fatal(err)
		}
		if w.tip(t, "bump/hello") == "" { // whoever merges may remove it
			if _, err := w.Main.Output(t.Context(), "update-ref", "refs/heads/bump/hello", string(at)); err != nil {
				t.Fatal(err)
			}
		}
		w.Sleep(24 * time.Hour)
		w.mustNight(t, []string{"hello: pass, done"}, only("hello"))
	}
}

// While a person works on the branch nothing is tried, however many nights it
// takes, and nothing of theirs is lost.
func TestPersonOnBranchIsNoTry(t *testing.T) {
	t.Parallel()
	w := small(t)
	w.must(t, "hello", Files{"main.go": helloMain("one")})
	w.mustNight(t, []string{"hello: pass, wait"}, only("hello"))
	own, err := w.Main.Commit(t.Context(), "bump/hello", "A person's", Files{"docs/hello.md": "more\n"})
	if err != nil {
		t.Fatal(err)
	}
	w.must(t, "hello", Files{"main.go": helloMain("two")})
	for range 4 {
		w.Sleep(24 * time.Hour)
		r := w.mustNight(t, []string{"hello: held, throttle"}, only("hello"))
		if why := r.Groups[0].Why; !strings.Contains(why, "somebody works on it") || len(r.Groups[0].Moves) != 1 {
			t.Errorf("it says %q of %q", why, r.Groups[0].Moves)
		}
	}
	if now := w.tip(t, "bump/hello"); now != own {
		t.Errorf("the branch went from %s to %s", own, now)
	}
	if _, err := w.Main.Output(t.Context(), "update-ref", "-d", "refs/heads/bump/hello"); err != nil {
		t.Fatal(err)
	}
	w.mustNight(t, []string{"hello: pass, wait"}, only("hello"))
}

// A branch that cannot be pushed says nothing against the round: it is no try.
func TestRefusedPushIsNoTry(t *testing.T) {
	t.Parallel()
	w := small(t)
	w.must(t, "hello", Files{"main.go": helloMain("one")})
	w.refuse(t, w.Main, "refs/heads/bump")
	for range 4 {
		r := w.mustNight(t, []string{"hello: infra, propose"}, only("hello"))
		if why := r.Groups[0].Why; !strings.Contains(why, "bump/hello cannot be pushed") {
			t.Errorf("it says %q", why)
		}
		w.Sleep(24 * time.Hour)
	}
	if _, err := w.Main.Output(t.Context(), "config", "--unset", "receive.hideRefs"); err != nil {
		t.Fatal(err)
	}
	w.mustNight(t, []string{"hello: pass, wait"}, only("hello"))
}

// Where proposals are to go is looked at before any work.
func TestUnknownPushRemote(t *testing.T) {
	t.Parallel()
	w := small(t)
	w.must(t, "hello", Files{"main.go": helloMain("one")})
	walked := 0
	_, err := w.night(t, only("hello"), func(o *nightly.Options) {
		o.Push, o.After = "--upload-pack=x", func(string, nightly.Transition) { walked++ }
	})
	if verdict.ExitCode(err) != verdict.ExitUsage || walked > 0 || !strings.Contains(err.Error(), "--push-remote") {
		t.Errorf("%v after %d transitions", err, walked)
	}
}
