// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

func TestNeverThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := w.options(day(1))
	l := open(t, o)
	wantNote(t, l, "nightly-state is not at "+w.remote.Dir()+" yet")
	if m := w.memory(l, zinc); m.Events != 0 || m.Last() != nil || m.Claim != nil {
		t.Errorf("an absent branch remembers %+v", m)
	}
	if err := l.Probe(t.Context(), night1); err != nil {
		t.Fatal(err)
	}
	w.add(l, sight("1", "2"))
	if len(l.Notes()) != 1 {
		t.Errorf("said more than once: %q", l.Notes())
	}

	// What is on the branch can be read by people, and is an orphan.
	if got := w.file("events/zinc/2026-10.jsonl"); got != `{"kind":"sighted","at":"2026-10-02T00:00:00Z","night":"2026-10-01-a1","group":"zinc",`+
		`"members":[{"pin":"zinc","locked":{"id":"1","name":"v-1"},"newest":{"id":"2","name":"v-2"}}]}` {
		t.Errorf("the line is %s", got)
	}
	if got := w.file("README.md"); got != strings.TrimSpace(readme) {
		t.Errorf("README.md is %s", got)
	}
	if got, want := w.remote.Git("log", "--format=%an <%ae>|%cn <%ce>|%ct|%s", Branch),
		"1bit engine distribution <dist@1bit.invalid>|1bit engine distribution <dist@1bit.invalid>|1790899200|zinc: sighted\n"+
			"1bit engine distribution <dist@1bit.invalid>|1bit engine distribution <dist@1bit.invalid>|1790899200|begin "+night1; got != want {
		t.Errorf("the log is\n%s", got)
	}
	w.remote.Git("fsck", "--strict", "--no-dangling")

	// The clone stays as it was: shallow, with one commit of main.
	if n, err := o.Repo.RevList(t.Context(), git.Range{To: w.main}); err != nil || len(n) != 1 {
		t.Errorf("the clone has %d commits of main: %v", len(n), err)
	}
	if refs, err := o.Repo.ForEachRef(t.Context(), "refs/remotes", "refs/dist"); err != nil || len(refs) != 2 && len(refs) != 3 {
		t.Errorf("refs %v, %v", refs, err) // origin/main, perhaps origin/HEAD, and ours
	}
	other := open(t, w.options(day(2)))
	if m := w.memory(other, zinc); m.Events != 1 || len(other.Notes()) != 0 {
		t.Errorf("another clone sees %+v, %q", m, other.Notes())
	}
	// From a clone that has only the branch's last commit.
	w.add(other, sight("1", "3"))
	w.add(l, sight("1", "4"))
	if m := w.memory(l, zinc); m.Events != 3 {
		t.Errorf("%d events", m.Events)
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := w.options(day(1))
	w.add(open(t, o), sight("1", "2"))
	for name, place := range map[string]git.Remote{
		"closed port":     {URL: gittest.ClosedPort(t) + "/repo.git", Allow: []string{"http"}},
		"no such folder":  {URL: "/nonexistent/repo.git", Allow: []string{"file"}},
		"answers 503":     gittest.Serve(t, filepath.Dir(w.remote.Dir()), gittest.ServerOptions{Status: 503}).Remote("repo.git"),
		"no host by name": {URL: "https://state.invalid/repo.git"},
	} {
		t.Run(name, func(t *testing.T) {
			o := o
			o.Remote = place
			l, err := Open(t.Context(), o)
			wantVerdict(t, err, verdict.Infra, "the branch nightly-state cannot be read")
			if l != nil {
				t.Error("there is a ledger all the same")
			}
			for _, mode := range []round.Mode{round.DryRun, round.Stopped} {
				o.Mode = mode
				l = open(t, o)
				if l.Unknown() == nil || verdict.Of(l.Unknown()) != verdict.Infra {
					t.Errorf("%s: unknown is %v", mode, l.Unknown())
				}
				if m := w.memory(l, zinc); m.Events != 1 {
					t.Errorf("%s: what was seen last is not used: %+v", mode, m)
				}
			}
		})
	}
	if l := open(t, o); l.Unknown() != nil {
		t.Errorf("unknown is %v", l.Unknown())
	}
}

func TestBranchLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := w.options(day(5))
	l := open(t, o)
	w.add(l, sight("1", "2"))
	first := git.ID(w.remote.Git("rev-parse", Branch))
	w.add(l, began(1), proposed(1, first))
	if m := w.memory(l, zinc); m.Proposal == nil || m.Tries(roundID(1)) != 1 {
		t.Fatalf("before the loss: %+v", m)
	}

	w.remote.Move(Branch, first) // rewound
	l = open(t, o)
	wantNote(t, l, "lost 2 events")
	if m := w.memory(l, zinc); m.Proposal != nil || m.Events != 1 || m.Tries(roundID(1)) != 0 {
		t.Errorf("rewound: %+v", m)
	}
	if l = open(t, o); len(l.Notes()) != 0 {
		t.Errorf("said again: %q", l.Notes())
	}
	w.add(l, began(2))

	w.remote.Git("update-ref", "-d", "refs/heads/"+Branch) // gone
	o.Mode = round.DryRun
	dry := open(t, o)
	wantNote(t, dry, "no longer at")
	wantNote(t, dry, "2 events are lost")
	if m := w.memory(dry, zinc); m.Events != 0 || dry.Unknown() != nil {
		t.Errorf("gone: %+v, %v", m, dry.Unknown())
	}
	// A live run whose branch goes away between two events makes it anew, with
	// what it has to say and nothing from before.
	w.add(l, sight("1", "9"))
	if got := w.remote.Git("rev-list", "--count", Branch); got != "1" {
		t.Errorf("%s commits", got)
	}
	if m := w.memory(open(t, w.options(day(6))), zinc); m.Events != 1 || m.Last().Members[0].Newest.ID != "9" {
		t.Errorf("made anew: %+v", m)
	}

	// Replaced by something else altogether: what is there counts, and no more.
	w.remote.Commit(Branch, "rubbish", gittest.Files{"x": "y", "events/zinc": "a file", "events/Up/2026-10.jsonl": "{}"}, gittest.Onto(), gittest.Only())
	l = open(t, w.options(day(6)))
	if m := w.memory(l, zinc); m.Events != 0 {
		t.Errorf("rubbish: %+v", m)
	}
	if list, err := l.Groups(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("groups %q, %v", list, err)
	}
	w.add(l, sight("1", "10"))
	if m := w.memory(l, zinc); m.Events != 1 || w.file("x") != "y" {
		t.Errorf("after rubbish: %+v", m)
	}
}

func TestNotPushable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	seed := w.options(day(1))
	w.add(open(t, seed), sight("1", "2"))
	tip := w.remote.Git("rev-parse", Branch)
	const token = "a-token-that-nobody-may-see"
	folder := filepath.Dir(w.remote.Dir())
	hook := filepath.Join(w.remote.Dir(), "hooks", "pre-receive")
	refuse := func(t *testing.T, place git.Remote) {
		o := seed
		o.Remote, o.TokenEnv = place, "STATE_TOKEN"
		o.Remote.Credential = git.Credential{User: "x-access-token", Password: token}
		l := open(t, o)
		for what, err := range map[string]error{
			"probe":  l.Probe(t.Context(), night1),
			"append": l.Append(t.Context(), began(1)),
			"claim":  l.Claim(t.Context(), zinc, night1),
		} {
			t.Log(err)
			wantUsage(t, err, "nightly-state cannot be pushed", "give a token that may in STATE_TOKEN", "--state-remote")
			if strings.Contains(err.Error(), token) {
				t.Errorf("%s: the token is in the error %q", what, err)
			}
		}
		if len(l.claimed) != 0 {
			t.Error("a claim that was not written keeps its lock")
		}
		if got := w.remote.Git("rev-parse", Branch); got != tip {
			t.Error("the branch moved")
		}
	}
	t.Run("read-only", func(t *testing.T) {
		refuse(t, gittest.Serve(t, folder, gittest.ServerOptions{Password: token, ReadOnly: true}).Remote("repo.git"))
	})
	t.Run("hook", func(t *testing.T) {
		if err := os.MkdirAll(filepath.Dir(hook), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(hook, []byte("#!/bin/sh\necho this branch is protected >&2\nexit 1\n"), 0o777); err != nil {
			t.Fatal(err)
		}
		defer os.Remove(hook)
		refuse(t, gittest.Serve(t, folder, gittest.ServerOptions{Password: token}).Remote("repo.git"))
	})
	t.Run("wrong token", func(t *testing.T) {
		o := seed
		o.Remote, o.TokenEnv = gittest.Serve(t, folder, gittest.ServerOptions{Password: "another"}).Remote("repo.git"), "STATE_TOKEN"
		o.Remote.Credential = git.Credential{User: "x", Password: token}
		_, err := Open(t.Context(), o)
		wantUsage(t, err, "cannot be read", "STATE_TOKEN")
	})
	t.Run("right token", func(t *testing.T) {
		o := seed
		o.Remote = gittest.Serve(t, folder, gittest.ServerOptions{Password: token}).Remote("repo.git")
		o.Remote.Credential = git.Credential{User: "x", Password: token}
		l := open(t, o)
		if err := l.Probe(t.Context(), night1); err != nil {
			t.Fatal(err)
		}
		if w.remote.Git("rev-parse", Branch+"^") != tip || w.remote.Git("rev-parse", Branch+"^{tree}") != w.remote.Git("rev-parse", Branch+"~^{tree}") {
			t.Error("the probe is no commit that changes nothing")
		}
	})
}

func TestRemoteOf(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	repo := w.clone()
	for _, x := range []struct {
		name, give, url, allow string
	}{
		{"a remote's name", "origin", "file://" + w.remote.Dir(), "file"},
		{"no remote of that name", "upstream", "", ""},
		{"https", "https://github.com/1bit-MONSTER/engine.git", "https://github.com/1bit-MONSTER/engine.git", ""},
		{"http elsewhere", "http://example.com/x.git", "", ""},
		{"http here", "http://127.0.0.1:8080/x.git", "http://127.0.0.1:8080/x.git", "http"},
		{"ssh", "ssh://git@example.com/x.git", "ssh://git@example.com/x.git", "ssh"},
		{"ssh, short", "git@example.com:x.git", "git@example.com:x.git", "ssh"},
		{"folder", "/srv/x.git", "/srv/x.git", "file"},
		{"relative folder", "../x.git", "", ""},
		{"option", "--upload-pack=x", "", ""},
		{"program", "ext::sh -c x", "", ""},
		{"nothing", "", "", ""},
		{"password", "ftp://me:secret@example.com/x", "", ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			r, err := RemoteOf(t.Context(), repo, x.give, git.Credential{})
			if x.url == "" {
				wantUsage(t, err, "absolute folder")
				if strings.Contains(err.Error(), "secret") {
					t.Errorf("the password is in %q", err)
				}
				return
			}
			if err != nil || r.URL != x.url || strings.Join(r.Allow, ",") != x.allow {
				t.Errorf("got %+v, %v", r, err)
			}
		})
	}
	var u *verdict.Usage
	if _, err := Open(t.Context(), Options{Mode: "live"}); !errors.As(err, &u) {
		t.Errorf("a mode that is none: %v", err)
	}
}
