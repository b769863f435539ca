// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package rehearse

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/git"
)

// A state is one commit of the integration repository, and what the night after
// it must come to.
type state struct {
	amd          string // the commit of ROCm/ggml-staging-automation with this pattern
	llama, hrx   int    // versions: which half moves is as it was there
	uses, offers string // of the interface between both, where that changes
	url          string // of the submodule llama.cpp, where that changes
	sideways     bool   // llama's new version does not follow the one before
	allow        bool   // before the night, a person allows the new address

	want   string // verdict and state
	moves  string // members that move, from what is on main
	says   string // in the reason
	merged bool   // and a person merges it
}

// nineStates are AMD's nine bumps of its pair from June to August 2026, the
// oldest first: five times both halves moved, three times only hrx-system did.
// What does not fit in the third, and the address in the fourth, is ours. The
// verdicts were written down before the first run.
var nineStates = []state{
	{amd: "325e1fc", llama: 1, hrx: 1, uses: "loomc_run", offers: "loomc_run", want: "pass, done"},
	{amd: "042f2bc", llama: 2, hrx: 2, want: "pass, wait", moves: "llama-hrx hrx-system", merged: true},
	// hrx-system drops loomc_run for loomc_run_async: the old name is still in
	// there, as the beginning of another one.
	{amd: "d5567a7", llama: 3, hrx: 3, offers: "loomc_run_async", want: "fail, gates", moves: "llama-hrx hrx-system", says: "loomc_run"},
	{amd: "7897b63", llama: 4, hrx: 4, uses: "loomc_run_async", url: Host + "llama-new.git", want: "held, newest known", says: Host + "llama-new.git"},
	{amd: "894531a", llama: 5, hrx: 5, allow: true, want: "pass, wait", moves: "llama-hrx hrx-system", merged: true},
	{amd: "b7bcaf6", llama: 5, hrx: 6, want: "pass, wait", moves: "hrx-system"},
	// Nobody merged the one before: the new one takes its branch.
	{amd: "54ed570", llama: 5, hrx: 7, want: "pass, wait", moves: "hrx-system", merged: true},
	// The halves may go sideways, since it is the integration repository that
	// must go forwards.
	{amd: "b4467f7", llama: 6, hrx: 8, sideways: true, want: "pass, wait", moves: "llama-hrx hrx-system", merged: true},
	{amd: "2b9ea47", llama: 6, hrx: 9, want: "pass, wait", moves: "hrx-system", merged: true},
}

const stagingURL = Host + "staging.git"

// An integration is the repository whose submodules the pair is read from.
type integration struct {
	t            *testing.T
	w            *World
	url          string
	uses, offers string
	llama, hrx   git.ID
	seen         state
}

// commit brings the integration repository to a state.
func (x *integration) commit(s state) git.ID {
	t, w := x.t, x.w
	t.Helper()
	fatal := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	if s.uses != "" {
		x.uses = s.uses
	}
	if s.offers != "" {
		x.offers = s.offers
	}
	if s.url != "" {
		fatal(w.moveUpstream(t, upstreamName(x.url), upstreamName(s.url)))
		x.url = s.url
	}
	var err error
	if s.llama != x.seen.llama {
		r, err := w.Upstream(t.Context(), upstreamName(x.url))
		fatal(err)
		files := Files{"src/ggml-hrx.c": fmt.Sprintf("/* version %d */\nint run(void) { return %s(); }\n", s.llama, x.uses)}
		if s.sideways {
			before, err := r.CommitInfo(t.Context(), string(x.llama))
			fatal(err)
			x.llama, err = r.Beside(t.Context(), "main", before.Parents[0], "Rebase", files)
			fatal(err)
		} else {
			x.llama, err = r.Commit(t.Context(), "main", fmt.Sprintf("llama %d", s.llama), files)
			fatal(err)
		}
	}
	if s.hrx != x.seen.hrx {
		x.hrx = w.must(t, "hrx-system", Files{"include/loomc.h": fmt.Sprintf("/* version %d */\nint %s(void);\n", s.hrx, x.offers)})
	}
	x.seen = s
	r, err := w.Upstream(t.Context(), "staging")
	fatal(err)
	modules := fmt.Sprintf("[submodule \"llama.cpp\"]\n\tpath = llama.cpp\n\turl = %s\n[submodule \"hrx-system\"]\n\tpath = hrx-system\n\turl = %shrx-system.git\n", x.url, Host)
	id, err := r.Commit(t.Context(), "main", "Bump integration submodules", Files{".gitmodules": modules},
		Submodule{"llama.cpp", x.llama}, Submodule{"hrx-system", x.hrx})
	fatal(err)
	return id
}

func upstreamName(url string) string {
	return strings.TrimSuffix(strings.TrimPrefix(url, Host), ".git")
}

// moveUpstream makes a repository at another address that goes on where the old
// one ends.
func (w *World) moveUpstream(t *testing.T, from, to string) error {
	old, err := w.Upstream(t.Context(), from)
	if err != nil {
		return err
	}
	r, err := w.Upstream(t.Context(), to)
	if err != nil {
		return err
	}
	r.commits = old.commits
	return r.Fetch(t.Context(), folder(old.Dir()), git.FetchSpec{Refs: []git.Refspec{{From: "refs/heads/main", To: "refs/heads/main"}}})
}

// pairWorld is a world with the pair at its first state; split is what its group
// says of half of it.
func pairWorld(t *testing.T, split string) (*World, *integration) {
	t.Helper()
	x := &integration{t: t, url: Host + "llama-old.git"}
	track := func(path string) string {
		return fmt.Sprintf("{kind: gitlink, of: %s, branch: main, path: %s}", stagingURL, path)
	}
	files := Common()
	files["pins/llama-hrx.yaml"] = strings.Replace(PinFile("llama-hrx", "a half", track("llama.cpp"), ""), Host+"llama-hrx.git", x.url, 1)
	files["pins/hrx-system.yaml"] = PinFile("hrx-system", "the other half", track("hrx-system"), "")
	files["pins/groups.yaml"] = header + `- name: hrx
  members: [llama-hrx, hrx-system]
  split: ` + split + `
  contracts:
    - user: {pin: llama-hrx, files: ['src/**/*.c'], pattern: 'loomc_[a-z_]+'}
      provider: {pin: hrx-system, files: ['include/**']}
`
	w, err := NewWorld(t.Context(), tempDir(t)+"/w", Distribution{Files: files, Upstreams: func(w *World) error {
		x.w = w
		x.commit(nineStates[0])
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return w, x
}

// Where a group may be split, the half that fits what stays is proposed, as a
// draft.
func TestHalfOfAPair(t *testing.T) {
	t.Parallel()
	w, x := pairWorld(t, "allowed")
	x.commit(state{llama: 2, hrx: 2, offers: "loomc_run_async"})
	w.Sleep(24 * time.Hour)
	g := w.mustNight(t, []string{"hrx: pass, wait"}).Groups[0]
	if len(g.Moves) != 1 || !strings.HasPrefix(g.Moves[0], "llama-hrx: ") {
		t.Errorf("%q move, should be llama-hrx alone", g.Moves)
	}
	if len(g.Draft) == 0 {
		t.Error("half of a group is no draft")
	}
}

func TestNineStatesOfThePair(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w, x := pairWorld(t, "no")
	var via git.ID
	var branch string
	for i, s := range nineStates {
		name := fmt.Sprintf("state %d (%s)", i+1, s.amd)
		if i > 0 {
			via = x.commit(s)
		}
		if s.allow {
			err := w.EditPin(ctx, "llama-hrx", "Allow the new address", func(file []byte) ([]byte, error) {
				return bytes.Replace(file, []byte("path: llama.cpp}"), []byte("path: llama.cpp, allowed-urls: ["+x.url+"]}"), 1), nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		w.Sleep(24 * time.Hour)
		t.Log(name)
		g := w.mustNight(t, []string{"hrx: " + s.want}).Groups[0]
		var moves []string
		for _, m := range g.Moves {
			pin, _, _ := strings.Cut(m, ":")
			moves = append(moves, pin)
		}
		if got := strings.Join(moves, " "); got != s.moves {
			t.Errorf("%s: %q move, should be %q", name, got, s.moves)
		}
		if !strings.Contains(g.Why, s.says) {
			t.Errorf("%s: the reason does not say %q: %s", name, s.says, g.Why)
		}
		now := refs(t, w.Main, "refs/heads/bump/hrx")
		if proposed := now != "" && now != branch; proposed != strings.HasPrefix(s.want, "pass, wait") {
			t.Errorf("%s: proposed: %t (%q, before %q)", name, proposed, now, branch)
		}
		branch = now
		if !s.merged {
			continue
		}
		branch = ""
		if err := w.Merge(ctx, "bump/hrx"); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for pin, child := range map[string]git.ID{"llama-hrx": x.llama, "hrx-system": x.hrx} {
			p, err := w.pin(ctx, pin)
			if err != nil {
				t.Fatal(err)
			}
			if p.Lock.Commit != string(child) || p.Lock.Via == nil {
				t.Fatalf("%s: on main %s is %s via %v, should be %s", name, pin, p.Lock.Commit, p.Lock.Via, child)
			}
			// A half that stays keeps what it was read from.
			if strings.Contains(s.moves, pin) && p.Lock.Via.Commit != string(via) {
				t.Errorf("%s: on main %s was read from %s, should be from %s", name, pin, p.Lock.Via.Commit, via)
			}
		}
	}
}
