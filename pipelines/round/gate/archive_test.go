// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package gate

import (
	"testing"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
)

func TestArchive(t *testing.T) {
	t.Parallel()
	w := bumped(t)
	s := w.subject()
	ref := fetch.KeptRef("a", git.ID(s.Next.Pin("a").Lock.Commit))
	for _, c := range []struct {
		name     string
		receipts []fetch.Archived
		want     verdict.Verdict
		text     string
	}{
		{"no archive", nil, verdict.Skipped, "no archive configured"},
		{"kept", []fetch.Archived{{Name: "a", Ref: ref, Held: []string{"https://archive.example/x.git"}, Verdict: verdict.Pass}}, verdict.Pass, ""},
		{"unreachable", []fetch.Archived{{Name: "a", Ref: ref, Verdict: verdict.Infra, Why: "no route"}}, verdict.Infra, "could not be asked for pin a: no route"},
		{"not kept", []fetch.Archived{{Name: "a", Ref: ref, Verdict: verdict.Fail, Why: "it does not hold it"}}, verdict.Fail, "does not keep pin a"},
		{"nobody holds it", []fetch.Archived{{Name: "a", Ref: ref, Verdict: verdict.Pass}}, verdict.Fail, "no remote of the archive holds " + ref},
		{"another commit", []fetch.Archived{{Name: "a", Ref: ref + "0", Held: []string{"x"}, Verdict: verdict.Pass}}, verdict.Fail, "is for " + ref + "0"},
		{"another pin", []fetch.Archived{{Name: "b", Verdict: verdict.Pass}}, verdict.Fail, "was asked to keep pin a"},
		{"not asked", []fetch.Archived{{Name: "a", Verdict: verdict.Skipped, Why: "it was not asked"}}, verdict.Skipped, "it was not asked"},
	} {
		s.Receipts = c.receipts
		w.wants(c.name, w.gate("archive", s), c.want, false, c.text)
	}
	s.Next.Pin("a").Lock, s.Receipts = &pins.Lock{Version: "v1"}, nil
	w.wants("nothing to keep", w.gate("archive", s), verdict.Pass, false)
}

// The receipts are those of the archive's real answers.
func TestArchiveOfARealRemote(t *testing.T) {
	t.Parallel()
	w := bumped(t)
	s := w.subject()
	list := []*pins.Pin{s.Next.Pin("a")}
	kept := gittest.New(t)
	remotes := []fetch.ArchiveRemote{{URL: "https://archive.example/a.git"}}
	ask := func(to string) Result {
		t.Helper()
		w.e.Mirrors.URLs[remotes[0].URL] = fetch.Mirror{To: to}
		var err error
		if s.Receipts, err = w.e.Archive(t.Context(), list, remotes); err != nil {
			t.Fatal(err)
		}
		return w.gate("archive", s)
	}
	w.wants("pushed", ask(kept.Dir()), verdict.Pass, false)
	closed := "http://" + gittest.ClosedPort(t) + "/a.git"
	w.wants("down", ask(closed), verdict.Infra, false)
}
