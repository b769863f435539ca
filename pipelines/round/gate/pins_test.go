// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package gate

import (
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

// commits is n commits on main of an upstream.
func commits(up *gittest.Repo, n int) (ids []git.ID) {
	for range n {
		ids = append(ids, up.Commit("main", "a commit", gittest.Files{"a": strings.Repeat("x", len(ids)+1)}))
	}
	return ids
}

// A single pin: what is wrong is made wrong after a proper update.
func TestPinRulesOfOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "", "a", "b")
	commits(w.upstream["a"], 1)
	commits(w.upstream["b"], 1)
	w.update("a", "b")
	w.commit()
	commits(w.upstream["a"], 2)
	w.update("a")
	for _, c := range []struct {
		name   string
		change func(w *world, s *Subject)
		want   verdict.Verdict
		person bool
		text   string
	}{
		{"forwards", func(*world, *Subject) {}, verdict.Pass, false, ""},
		{"held", func(w *world, s *Subject) {
			s.Base.Pin("a").Hold = &pins.Hold{Reason: "it loses tokens", Until: "2026-12-31"}
			s.Next.Pin("a").Hold = s.Base.Pin("a").Hold
		}, verdict.Held, false, "pin a is held until 2026-12-31: it loses tokens"},
		{"held on main alone", func(w *world, s *Subject) {
			s.Base.Pin("a").Hold = &pins.Hold{Reason: "it loses tokens"}
		}, verdict.Held, false, "pin a is held: it loses tokens"},
		{"held until yesterday", func(w *world, s *Subject) {
			s.Base.Pin("a").Hold = &pins.Hold{Reason: "x", Until: "2026-10-01"}
			s.Next.Pin("a").Hold = s.Base.Pin("a").Hold
		}, verdict.Pass, false, ""},
		{"rejected", func(w *world, s *Subject) {
			s.Base.Pin("a").Reject = []pins.Reject{{ID: s.Next.Pin("a").Lock.Commit, Why: "no answer"}}
			s.Next.Pin("a").Reject = s.Base.Pin("a").Reject
		}, verdict.Held, false, "is rejected: no answer"},
		{"not as resolved", func(w *world, s *Subject) {
			s.Round.Members[0].To.ID = strings.Repeat("1", 40)
		}, verdict.Fail, false, "the round says 1111"},
		{"another name", func(w *world, s *Subject) {
			s.Next.Pin("a").Lock.Version, s.Round.Members[0].To.Name = "v1", "v2"
		}, verdict.Fail, false, "locked as v1, and the round says v2"},
		{"main moved on", func(w *world, s *Subject) {
			s.Round.Members[0].From.ID = strings.Repeat("1", 40)
		}, verdict.Held, false, "must be resolved again"},
		{"not verified", func(w *world, s *Subject) {
			s.Next.Pin("a").Lock.Sum = ""
		}, verdict.Fail, false, "only a verified lock"},
		{"through a mirror", func(w *world, s *Subject) {
			s.Next.Pin("a").Lock.ViaMirror = &pins.ViaMirror{StandsIn: "https://mirror.example/a"}
		}, verdict.Pass, false, ""},
		{"a stranger changed", func(w *world, s *Subject) {
			lock := *s.Next.Pin("b").Lock
			lock.Sum = "t1:other"
			s.Next.Pin("b").Lock = &lock
		}, verdict.Fail, false, "the lock of pin b changed"},
		{"more than the lock", func(w *world, s *Subject) {
			s.Next.Pin("a").License = "GPL-3.0-only"
		}, verdict.Pass, true, "changed in more than its lock"},
		{"gone", func(w *world, s *Subject) {
			s.Next = &pins.Set{Pins: s.Next.Pins[:1]}
		}, verdict.Fail, false, "pin b is gone"},
		{"no such pin", func(w *world, s *Subject) {
			s.Round.Members = append(s.Round.Members, round.Member{Pin: "ghost"})
		}, verdict.Fail, false, "the pin ghost, which does not exist"},
		{"backwards", func(w *world, s *Subject) {
			s.Base.Pin("a").Lock, s.Next.Pin("a").Lock = s.Next.Pin("a").Lock, s.Base.Pin("a").Lock
			m := &s.Round.Members[0]
			m.From, m.To = m.To, m.From
		}, verdict.Held, false, "older than what is locked"},
		{"nothing is known of the history", func(w *world, s *Subject) {
			e := *s.Engine
			e.CacheDir = t.TempDir()
			s.Engine = &e
		}, verdict.Infra, false, "--offline"},
	} {
		// As in a night: the resolving phase asked, nobody else may.
		s := offline(w.subject())
		c.change(w, s)
		w.wants(c.name, w.gate("pins", s), c.want, c.person, c.text)
	}
}

// https://github.com/angr/pyvex/issues/396: the branch was pushed away from the
// pin; and what a person accepts is recorded with it.
func TestPinRulesSidewaysAndAccepted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "", "a")
	up := w.upstream["a"]
	ids := commits(up, 2)
	w.update("a")
	w.commit()
	aside := up.Commit("main", "rewritten", gittest.Files{"a": "other"}, gittest.Onto(ids[0]))
	w.updateTo("a", fetch.UpdateOptions{To: "main", Accept: fetch.DirectionSideways, Reason: "they rewrote it", By: "Zoë"})
	s := w.subject()
	w.wants("accepted", w.gate("pins", s), verdict.Pass, true, "which Zoë accepted: they rewrote it")

	accepted := *s.Next.Pin("a").Lock.Accepted
	s.Next.Pin("a").Lock.Accepted = &pins.Accepted{From: string(ids[0]), To: string(aside), By: "Zoë", Why: "x"}
	w.wants("accepted for another step", w.gate("pins", s), verdict.Held, false, "the history does not contain what is locked")
	s.Next.Pin("a").Lock.Accepted = &accepted

	up.Move("main", ids[1])
	w.wants("not on its branch", w.gate("pins", s), verdict.Held, false, "the branch main of https://up.example/a.git is at")
	// What the round says was asked when it was resolved.
	w.wants("in a night", w.gate("pins", offline(s)), verdict.Pass, true)
}

// https://github.com/tj-actions/changed-files/issues/2463
func TestPinRulesTagMoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	up := w.follow("a", "track:\n  kind: git-tag\n  schemes: [{pattern: 'v{semver}'}]\n")
	ids := commits(up, 2)
	up.Tag("v1.0.0", ids[0])
	w.update("a")
	w.commit()
	up.Tag("v1.0.0", ids[1])
	w.updateTo("a", fetch.UpdateOptions{To: "v1.0.0", Accept: fetch.DirectionMoved, Reason: "agreed", By: "Zoë"})
	s := w.subject()
	w.wants("accepted", w.gate("pins", s), verdict.Pass, true, "Zoë accepted")
	s.Next.Pin("a").Lock.Accepted = nil
	r := w.gate("pins", offline(s))
	w.wants("never a bump", r, verdict.Fail, false, "the tag v1.0.0 moved from", string(ids[0]), string(ids[1]))

	s = w.subject()
	up.Tag("v1.0.0", ids[0])
	w.wants("moved again since", w.gate("pins", s), verdict.Fail, false, "moved")
}

func TestPinRulesOfAPair(t *testing.T) {
	const pair = "- {name: pair, members: [a, b], every: day, split: %s}\n"
	for _, c := range []struct {
		name, split string
		change      func(s *Subject)
		want        verdict.Verdict
		person      bool
		text        string
	}{
		{"whole", "no", func(*Subject) {}, verdict.Pass, false, ""},
		{"a member is not spoken of", "no", func(s *Subject) { s.Round.Members = s.Round.Members[:1] }, verdict.Fail, false, "the round does not say what b is"},
		{"mixed", "no", func(s *Subject) { s.Round.Mixed = true }, verdict.Held, false, "'split: allowed'"},
		{"mixed where that is allowed", "allowed", func(s *Subject) { s.Round.Mixed = true }, verdict.Pass, true, "only a part of pair moves: a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, strings.Replace(pair, "%s", c.split, 1), "a", "b")
			commits(w.upstream["a"], 1)
			commits(w.upstream["b"], 1)
			w.update("a")
			w.commit()
			commits(w.upstream["a"], 2)
			w.update("a")
			s := w.subject()
			c.change(s)
			w.wants(c.name, w.gate("pins", s), c.want, c.person, c.text)
		})
	}
}

// A submodule goes with its parent, sideways too; its address is agreed to.
func TestPinRulesGitlink(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	parent := gittest.New(t)
	w.e.Mirrors.URLs["https://up.example/parent.git"] = fetch.Mirror{To: parent.Dir()}
	child := w.follow("c", "track: {kind: gitlink, of: 'https://up.example/parent.git', branch: main, path: c}\n")
	ids := commits(child, 2)
	aside := child.Commit("side", "aside", gittest.Files{"a": "z"}, gittest.Onto(ids[0]))
	modules := func(url string) gittest.Files {
		return gittest.Files{".gitmodules": "[submodule \"c\"]\n\tpath = c\n\turl = " + url + "\n"}
	}
	parent.Commit("main", "one", modules("https://up.example/c.git"), gittest.Submodule("c", ids[1]))
	w.update("c")
	w.commit()
	parent.Commit("main", "two", gittest.Files{}, gittest.Submodule("c", aside))
	w.update("c")
	s := offline(w.subject())
	w.wants("the child goes sideways", w.gate("pins", s), verdict.Pass, false)

	s.Base.Pin("c").Upstream, s.Next.Pin("c").Upstream = "https://up.example/other.git", "https://up.example/other.git"
	w.wants("another address", w.gate("pins", s), verdict.Held, false, "allowed-urls")

	s = offline(w.subject())
	s.Round.Members[0].To.Via = strings.Repeat("2", 40)
	w.wants("through another commit", w.gate("pins", s), verdict.Fail, false, "was not read at")

	s = offline(w.subject())
	s.Next.Pin("c").Lock.Commit, s.Round.Members[0].To.ID = string(ids[0]), string(ids[0])
	w.wants("another child than the parent names", w.gate("pins", s), verdict.Fail, false, "submodule c at")
}
