// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package gate

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

func TestBetween(t *testing.T) {
	at := func(commit string) *pins.Lock {
		return &pins.Lock{Commit: commit, Via: &pins.Via{Commit: "p" + commit}}
	}
	base := &pins.Set{Pins: []*pins.Pin{{Name: "a", Lock: at("1")}, {Name: "b", Lock: at("1")}, {Name: "c", Lock: at("1")}}}
	next := &pins.Set{
		Pins:   []*pins.Pin{{Name: "a", Lock: at("2")}, {Name: "b", Lock: at("1")}, {Name: "c", Lock: at("2")}, {Name: "d", Stack: "d", Lock: at("1")}},
		Groups: []*pins.Group{{Name: "late", Members: []string{"a"}, Order: 2}, {Name: "early", Members: []string{"c", "b"}, Order: 1}},
	}
	rounds := Between(base, next, now)
	var got []string
	for _, r := range rounds {
		line := r.Group
		for _, m := range r.Moves() {
			line += " " + m.Pin + ":" + m.From.ID + "->" + m.To.ID + "/" + m.To.Via + m.Stack
		}
		got = append(got, line)
		if r.ID != r.Identify() || r.Try != 1 {
			t.Errorf("%+v", r)
		}
	}
	want := []string{"early c:1->2/p2", "late a:1->2/p2", "d d:->1/p1d"}
	if len(got) != len(want) {
		t.Fatalf("got %q", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("round %d is %q, want %q", i, got[i], want[i])
		}
	}
}

func TestCheckout(t *testing.T) {
	r := gittest.New(t)
	id := r.Commit("main", "ours", gittest.Files{
		"pins/a.yaml": "a\r\n", "patches/a/series": "s\n", "ci/trust/k.asc": "k\n", "cmd/x.go": "x\n", ".gitattributes": "pins/* export-ignore\n",
	}, gittest.Symlink("ci/link", "/etc"))
	dir := t.TempDir()
	head, err := Checkout(t.Context(), r.Dir(), "HEAD", dir)
	if err != nil || head != id {
		t.Fatalf("%s, %v", head, err)
	}
	for name, want := range map[string]string{"pins/a.yaml": "a\r\n", "patches/a/series": "s\n", "ci/trust/k.asc": "k\n"} {
		if data, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(data) != want {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	for _, name := range []string{"cmd", "ci/link", ".gitattributes"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is there", name)
		}
	}
	if _, err := Checkout(t.Context(), gittest.New(t).Dir(), "HEAD", t.TempDir()); verdict.ExitCode(err) != verdict.ExitUsage {
		t.Errorf("without a commit: %v", err)
	}
	if _, err := Checkout(t.Context(), t.TempDir(), "HEAD", t.TempDir()); verdict.ExitCode(err) != verdict.ExitUsage {
		t.Errorf("without a repository: %v", err)
	}
}

// An archive that is configured is not asked by hand.
func TestPresentDoesNotAskTheArchive(t *testing.T) {
	w, _ := step(t, gittest.Files{"a": "1"}, gittest.Files{"a": "2"})
	if err := os.MkdirAll(filepath.Join(w.base, "ci"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.base, "ci/archive.yaml"), []byte("remotes: [{url: 'https://archive.example/x.git'}]\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	w.wants("not asked", w.gate("archive", w.subject()), verdict.Skipped, false, "'dist pins archive a' does")
}
