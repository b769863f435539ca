// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package pins

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/verdict"
)

func TestState(t *testing.T) {
	file := []File{{Name: "f", SHA256: shaA}}
	for _, test := range []struct {
		name  string
		track Track
		lock  *Lock
		want  State
	}{
		{"no lock", Track{Kind: GitTag}, nil, Unlocked},
		{"commit", Track{Kind: GitBranch}, &Lock{Commit: hexA}, Resolved},
		{"summed commit", Track{Kind: Gitlink}, &Lock{Commit: hexA, Sum: sumA}, Verified},
		{"release source", Track{Kind: GithubRelease}, &Lock{Commit: hexA, Sum: sumA}, Verified},
		{"release without its assets", Track{Kind: GithubRelease, Assets: []string{"*"}}, &Lock{Commit: hexA, Sum: sumA}, Resolved},
		{"release assets", Track{Kind: GithubRelease, Assets: []string{"*"}}, &Lock{Commit: hexA, Files: file}, Verified},
		{"field version", Track{Kind: Field}, &Lock{Version: "1"}, Resolved},
		{"field files", Track{Kind: Field}, &Lock{Version: "1", Files: file}, Verified},
		{"one file without sum", Track{Kind: Index}, &Lock{Version: "1", Files: append(file, File{Name: "g"})}, Resolved},
		{"model", Track{Kind: HuggingFace}, &Lock{Commit: hexA, Files: file}, Verified},
		{"go module", Track{Kind: GoModule}, &Lock{Version: "v1", Sum: "h1:x"}, Verified},
		{"image", Track{Kind: OCI}, &Lock{Digest: "sha256:" + shaA}, Verified},
		{"image tag", Track{Kind: OCI}, &Lock{Version: "12"}, Resolved},
		{"manual", Track{Kind: Manual}, &Lock{Version: "12", Files: file}, Verified},
		{"packages", Track{Kind: Deb}, &Lock{Files: file}, Verified},
	} {
		p := &Pin{Track: test.track, Lock: test.lock}
		if got := p.State(); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

func TestHoldActive(t *testing.T) {
	last := time.Date(2026, 12, 31, 23, 59, 59, 0, time.UTC)
	for _, test := range []struct {
		hold *Hold
		now  time.Time
		want bool
	}{
		{nil, last, false},
		{&Hold{Reason: "x"}, last, true},
		{&Hold{Reason: "x", Until: "2026-12-31"}, last, true},
		{&Hold{Reason: "x", Until: "2026-12-31"}, last.Add(time.Second), false},
	} {
		if got := test.hold.Active(test.now); got != test.want {
			t.Errorf("%+v at %s: %v", test.hold, test.now, got)
		}
	}
}

func TestRows(t *testing.T) {
	now := time.Date(2026, 1, 11, 12, 0, 0, 0, time.UTC)
	s := graphSet(t)
	s.Pin("b").Hold = &Hold{Reason: "wait"}
	s.Pin("a").Lock.ViaMirror = &ViaMirror{StandsIn: "x"}
	rows := s.Rows(map[string]Newer{"a": {Version: "v2"}}, now)
	a, b, c := rows[0], rows[1], rows[2]
	if a.State != Verified || a.Verdict != verdict.Pass || *a.AgeDays != 10 || a.AgeFrom != "lock-date" || a.Newest.Version != "v2" || !a.ViaMirror || a.Group != "pair" {
		t.Errorf("a: %+v", a)
	}
	if b.Verdict != verdict.Held || b.Why != "wait" || b.AgeDays != nil || b.Newest != nil {
		t.Errorf("b: %+v", b)
	}
	if c.State != Unlocked || c.Verdict != verdict.Skipped || c.Why == "" {
		t.Errorf("c: %+v", c)
	}
}

func TestNewestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), NewestFile)
	if got, err := ReadNewest(path); got != nil || err != nil {
		t.Errorf("without a file: %v, %v", got, err)
	}
	asked := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, found := range []map[string]Newer{{"a": {Version: "v1", Asked: asked}}, {"b": {Commit: hexA, Asked: asked}}, {"a": {Version: "v2", Asked: asked}}} {
		if err := WriteNewest(path, found); err != nil {
			t.Fatal(err)
		}
	}
	got, err := ReadNewest(path)
	if err != nil || len(got) != 2 || got["a"].Version != "v2" || got["b"].Commit != hexA {
		t.Errorf("got %v, %v", got, err)
	}
}
