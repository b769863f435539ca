// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"errors"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// wantsError compares an error's verdict, and a text of it.
func wantsError(t *testing.T, what string, err error, want verdict.Verdict, text string) {
	t.Helper()
	if verdict.Of(err) != want || err != nil && !strings.Contains(err.Error(), text) {
		t.Errorf("%s: %v (%s), want %s %q", what, err, verdict.Of(err), want, text)
	}
}

func TestReachableBranchAndDirection(t *testing.T) {
	w := newWorld(t)
	up := gittest.New(t)
	first := up.Commit("main", "one", gittest.Files{"a": "1"})
	second := up.Commit("main", "two", gittest.Files{"a": "2"})
	w.local("a", up)
	w.pin("a", followMain)
	w.must("a")
	ctx := t.Context()

	p := w.get("a")
	asked, err := w.e.Reachable(ctx, p)
	wantsError(t, "the tip", err, verdict.Pass, "")
	if !asked {
		t.Error("the upstream was not asked")
	}
	older := *p.Lock
	older.Commit = string(first)
	var wrong *WrongWay
	if err := w.e.Successor(ctx, p, &older); !errors.As(err, &wrong) || wrong.Direction != DirectionBackwards {
		t.Errorf("an older commit: %v", err)
	}
	third := up.Commit("main", "three", gittest.Files{"a": "3"})
	newer := *p.Lock
	newer.Commit = string(third)
	wantsError(t, "a newer commit", w.e.Successor(ctx, p, &newer), verdict.Pass, "")
	aside := up.Commit("side", "aside", gittest.Files{"a": "x"}, gittest.Onto(first))
	sideways := *p.Lock
	sideways.Commit = string(aside)
	wantsError(t, "a commit aside", w.e.Successor(ctx, p, &sideways), verdict.Held, "the history does not contain")

	// https://github.com/angr/pyvex/issues/396
	up.Move("main", aside)
	_, err = w.e.Reachable(ctx, p)
	wantsError(t, "pushed away", err, verdict.Held, "the branch main of https://up.example/a.git is at "+string(aside)+", whose history does not contain "+string(second))

	w.e.Offline = true
	asked, err = w.e.Reachable(ctx, p)
	wantsError(t, "offline", err, verdict.Pass, "")
	if asked {
		t.Error("somebody was asked offline")
	}
	wantsError(t, "offline, the history is here", w.e.Successor(ctx, p, &sideways), verdict.Held, "")
	unknown := *p.Lock
	unknown.Commit = string(id(7))
	wantsError(t, "offline, not here", w.e.Successor(ctx, p, &unknown), verdict.Infra, "--offline")
}

func TestReachableTag(t *testing.T) {
	w := newWorld(t)
	up := gittest.New(t)
	first := up.Commit("main", "one", gittest.Files{"a": "1"})
	up.Tag("b1", first)
	w.local("a", up)
	w.pin("a", followTags)
	w.must("a")
	p := w.get("a")
	_, err := w.e.Reachable(t.Context(), p)
	wantsError(t, "its tag", err, verdict.Pass, "")
	up.Tag("b1", up.Commit("main", "two", gittest.Files{"a": "2"}))
	_, err = w.e.Reachable(t.Context(), p)
	wantsError(t, "moved", err, verdict.Fail, "the tag b1 moved")
	up.Git("update-ref", "-d", "refs/tags/b1")
	_, err = w.e.Reachable(t.Context(), p)
	wantsError(t, "gone", err, verdict.Fail, "no tag \"b1\" any more")
}

func TestReachableGitlink(t *testing.T) {
	w := newWorld(t)
	child, parent := gittest.New(t), gittest.New(t)
	one := child.Commit("main", "one", gittest.Files{"a": "1"})
	modules := func(url string) gittest.Files {
		return gittest.Files{".gitmodules": "[submodule \"c\"]\n\tpath = c\n\turl = " + url + "\n"}
	}
	parent.Commit("main", "with one", modules("https://up.example/c.git"), gittest.Submodule("c", one))
	w.local("c", child)
	w.local("parent", parent)
	w.pin("c", "track: {kind: gitlink, of: 'https://up.example/parent.git', branch: main, path: c}\n")
	w.must("c")
	p := w.get("c")
	_, err := w.e.Reachable(t.Context(), p)
	wantsError(t, "as read", err, verdict.Pass, "")

	// None of these need the network.
	w.e.Offline = true
	for _, c := range []struct {
		what   string
		change func(*pins.Pin)
		want   verdict.Verdict
		text   string
	}{
		{"as read", func(*pins.Pin) {}, verdict.Pass, ""},
		{"another child", func(p *pins.Pin) { p.Lock.Commit = string(id(7)) }, verdict.Fail, "submodule c at"},
		{"another address", func(p *pins.Pin) { p.Lock.Via.URL = "https://evil.example/c.git" }, verdict.Fail, "address of the submodule"},
		{"another path", func(p *pins.Pin) { p.Lock.Via.Path = "d" }, verdict.Fail, "path of the submodule"},
		{"not allowed", func(p *pins.Pin) { p.Upstream = "https://up.example/other.git" }, verdict.Held, "allowed-urls"},
		{"allowed", func(p *pins.Pin) {
			p.Upstream = "https://up.example/other.git"
			p.Track.AllowedURLs = []string{"https://up.example/c"}
		}, verdict.Pass, ""},
		{"no via", func(p *pins.Pin) { p.Lock.Via = nil }, verdict.Fail, "does not say where"},
		{"a parent that is not here", func(p *pins.Pin) { p.Lock.Via.Commit = string(id(9)) }, verdict.Infra, "--offline"},
	} {
		q := *p
		lock, via := *p.Lock, *p.Lock.Via
		lock.Via = &via
		q.Lock = &lock
		c.change(&q)
		_, err := w.e.Reachable(t.Context(), &q)
		wantsError(t, c.what, err, c.want, c.text)
	}

	w.e.Offline = false
	parent.Commit("main", "rewritten", modules("https://up.example/c.git"), gittest.Submodule("c", one), gittest.Onto())
	_, err = w.e.Reachable(t.Context(), p)
	wantsError(t, "the parent's branch was pushed away", err, verdict.Held, "the branch main of https://up.example/parent.git is at")
}
