// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package rehearse

import (
	"strings"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/build"
)

// The story's world is the same wherever and whenever it is made, down to the
// ids of commits: two rehearsals tell the same. Its pins are all locked.
func TestWorldIsTheSameEverywhere(t *testing.T) {
	t.Parallel()
	g := build.GoPin{Version: "v0.0.1-go1.27.4.linux-amd64", Sum: "h1:8Tl0rBb7KdISSdPkZBjlpZxsUBb+004GI/SM2XbmSqI=", Date: time.Date(2026, 11, 2, 20, 36, 20, 0, time.UTC)}
	var tips []git.ID
	for range 2 {
		w, err := NewWorld(t.Context(), tempDir(t)+"/w", story(t.Context(), g))
		if err != nil {
			t.Fatal(err)
		}
		tip, err := w.Main.RevParse(t.Context(), "refs/heads/main")
		if err != nil {
			t.Fatal(err)
		}
		tips = append(tips, tip)
		if len(tips) > 1 {
			continue
		}
		dir := w.path("clone")
		if err := w.Clone(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
		set, err := pins.Load(dir + "/pins")
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range set.Pins {
			if p.State() != pins.Verified {
				t.Errorf("pin %s is %s", p.Name, p.State())
			}
		}
		if p := set.Pin("greet"); p.Lock.Patched == nil || len(p.Lock.Patched.Steps) != 2 {
			t.Errorf("greet has not two patches: %+v", p.Lock.Patched)
		}
	}
	if tips[0] != tips[1] {
		t.Errorf("main is at %s and at %s", tips[0], tips[1])
	}
}

// A night's clone is what a forge's job has: one branch, one commit deep.
func TestCloneIsShallow(t *testing.T) {
	t.Parallel()
	w := small(t)
	if _, err := w.Main.Commit(t.Context(), "main", "Another one", Files{"more": "x"}); err != nil {
		t.Fatal(err)
	}
	if err := w.Main.SetRef(t.Context(), "refs/heads/other", rev(t, w.Main, "refs/heads/main~1")); err != nil {
		t.Fatal(err)
	}
	dir := tempDir(t) + "/clone"
	if err := w.Clone(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	repo, err := git.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if !repo.Shallow() {
		t.Error("it has the whole history")
	}
	out, err := repo.Output(t.Context(), "for-each-ref", "--format=%(refname)", "refs/remotes")
	if err != nil || strings.Contains(string(out), "other") {
		t.Errorf("it has the refs %s (%v)", out, err)
	}
}

func rev(t *testing.T, r *Repository, revision string) git.ID {
	t.Helper()
	id, err := r.RevParse(t.Context(), revision)
	if err != nil {
		t.Fatal(err)
	}
	return id
}
