// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/treesum"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// stackScene is a repository of ours with a stack of three patches on the pin
// demo, and an upstream that moved on.
func stackScene(t *testing.T, theirs string) (*engine, *scene) {
	t.Helper()
	text := rows(60, "line %d.")
	s := newScene(t, gittest.Files{"f": text, "g": text, "h": text})
	s.ours("Ten"+status, gittest.Files{"f": replaced(text, "line 10.", "our 10.")})
	s.ours("Taken"+status, gittest.Files{"g": replaced(text, "line 20.", "taken 20.")})
	s.ours("Fifty"+status, gittest.Files{"f": replaced(text, "line 10.", "our 10.", "line 50.", "our 50.")})
	e := newEngine(t, s.Repo, s.base)
	e.imports("ours")
	s.upstream("Take it", gittest.Files{"g": replaced(text, "line 20.", "taken 20.")})
	s.upstream("Move on", gittest.Files{"f": replaced(text, "line 10.", theirs, "line 30.", "their 30.")})
	return e, s
}

func (e *engine) session(write bool) *Session {
	e.t.Helper()
	var r *Repository
	var err error
	if write {
		r = e.open()
	} else if r, err = Open(e.t.Context(), e.root); err != nil {
		e.t.Fatal(err)
	}
	x, err := r.Session(e.t.Context(), "demo", e.source)
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { x.Close(); r.Close() })
	return x
}

func (s *scene) tip() git.ID { return git.ID(s.Git("rev-parse", "refs/heads/main")) }

// newLock is the pin's lock on another commit.
func newLock(t *testing.T, s *scene) *pins.Lock {
	t.Helper()
	tree := s.Tree(s.tip())
	sum, err := treesum.FromGit(t.Context(), s.Repo.Repo, tree, treesum.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.CommitInfo(t.Context(), string(s.tip()))
	if err != nil {
		t.Fatal(err)
	}
	return &pins.Lock{Commit: string(s.tip()), Tree: string(tree), Sum: sum.Sum, Date: c.Committer.When.UTC()}
}

func TestWriteMovesStackAndLock(t *testing.T) {
	t.Parallel()
	e, s := stackScene(t, "line 10.")
	before := e.state()
	x := e.session(true)
	r, err := x.Rebase(t.Context(), s.tip())
	if err != nil {
		t.Fatal(err)
	}
	want(t, r, Moved, Upstreamed, Moved)
	if now := e.state(); !sameState(now, before) {
		t.Error("the rebase alone wrote something")
	}
	im, err := x.Write(t.Context(), r, newLock(t, s))
	if err != nil {
		t.Fatal(err)
	}
	if !im.Locked || !slices.Equal(im.Files, []string{"ten.patch", "fifty.patch"}) || !slices.Equal(im.Dropped, []string{"taken.patch"}) {
		t.Errorf("got %+v", im)
	}
	x.r.Close()
	if c := e.check(); c == nil {
		t.Error("not checked")
	}
	pin := e.get("pins/demo.yaml")
	if !strings.Contains(pin, "commit: "+string(s.tip())) || !strings.Contains(pin, string(r.Tree)) || !strings.HasPrefix(pin, "# the demo\n") {
		t.Errorf("the pin file is\n%s", pin)
	}
	if series := e.get("patches/demo/series"); strings.Contains(series, "base:") || strings.Contains(series, "taken") {
		t.Errorf("the series is\n%s", series)
	}
	// Moving it again to where it is changes nothing.
	after := e.state()
	y := e.session(true)
	again, err := y.Rebase(t.Context(), s.tip())
	if err != nil {
		t.Fatal(err)
	}
	want(t, again, Unchanged, Unchanged)
	if again.Tip != r.Tip {
		t.Errorf("the tip is %s, was %s", again.Tip, r.Tip)
	}
	if _, err := y.Write(t.Context(), again, nil); err != nil {
		t.Fatal(err)
	}
	if now := e.state(); !sameState(now, after) {
		t.Error("writing the same changed something")
	}
}

// Without a new lock the series says what the stack is for; but a lock that has
// the stack's trees is not left behind.
func TestWriteWithoutLock(t *testing.T) {
	t.Parallel()
	e, s := stackScene(t, "line 10.")
	pin := e.get("pins/demo.yaml")
	x := e.session(true)
	r, err := x.Rebase(t.Context(), s.tip())
	if err != nil {
		t.Fatal(err)
	}
	before := e.state()
	if _, err := x.Write(t.Context(), r, nil); verdict.ExitCode(err) != 2 || !strings.Contains(err.Error(), "both move together") {
		t.Errorf("got %v", err)
	}
	if now := e.state(); !sameState(now, before) {
		t.Error("something was written")
	}
	x.r.PinOf("demo").Lock.Patched = nil
	if _, err := x.Write(t.Context(), r, nil); err != nil {
		t.Fatal(err)
	}
	if e.get("pins/demo.yaml") != pin || !strings.Contains(e.get("patches/demo/series"), "# base: "+string(s.tip())) {
		t.Errorf("series\n%s", e.get("patches/demo/series"))
	}
}

// A killed write leaves the old state or the new one; a conflict nothing.
func TestWriteIsAllOrNothing(t *testing.T) {
	t.Parallel()
	e, s := stackScene(t, "line 10.")
	before := e.state()
	for _, step := range []string{"written", "journal", "swapped"} {
		r := e.open()
		r.crash = func(at string) error {
			if at == step {
				return errCrash
			}
			return nil
		}
		x, err := r.Session(t.Context(), "demo", e.source)
		if err != nil {
			t.Fatal(err)
		}
		result, err := x.Rebase(t.Context(), s.tip())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := x.Write(t.Context(), result, newLock(t, s)); !errors.Is(err, errCrash) {
			t.Fatalf("%s: %v", step, err)
		}
		x.Close()
		r.Close()
		e.open().Close() // as the next command does
		if now := e.state(); !sameState(now, before) {
			t.Errorf("killed at %s: something is left", step)
		}
	}

	e, s = stackScene(t, "their 10.")
	before = e.state()
	x := e.session(true)
	r, err := x.Rebase(t.Context(), s.tip())
	if err != nil {
		t.Fatal(err)
	}
	want(t, r, Conflicting, Upstreamed, Moved)
	var c *Conflict
	if _, err := x.Write(t.Context(), r, newLock(t, s)); !errors.As(err, &c) || verdict.ExitCode(err) != 3 {
		t.Errorf("got %v", err)
	}
	if now := e.state(); !sameState(now, before) {
		t.Error("a conflict wrote something")
	}
}

// A person rebases in a work tree; from then on the conflict settles itself.
func TestLearnFromAPerson(t *testing.T) {
	t.Parallel()
	e, s := stackScene(t, "their 10.")
	text := rows(60, "line %d.")
	f := replaced(text, "line 10.", "both 10.", "line 30.", "their 30.")
	onto := s.tip()
	s.Commit("person", "Ten"+status, gittest.Files{"f": f}, gittest.Onto(onto))
	person := s.Commit("person", "Fifty"+status, gittest.Files{"f": replaced(f, "line 50.", "our 50.")})
	x := e.session(true)
	list, err := x.Learn(t.Context(), s.Repo.Repo, onto, person)
	if err != nil || len(list) != 1 || list[0].Path != "f" {
		t.Fatalf("%+v, %v", list, err)
	}
	r, err := x.Rebase(t.Context(), onto)
	if err != nil {
		t.Fatal(err)
	}
	want(t, r, Moved, Upstreamed, Moved)
	if len(r.Patches[0].Settlements) != 1 || r.Verdict() != verdict.Pass {
		t.Errorf("got %+v", r.Patches[0])
	}
	if r.Tree != s.Tree(person) {
		t.Error("the tree is not the person's")
	}
	if _, err := x.Write(t.Context(), r, newLock(t, s)); err != nil {
		t.Fatal(err)
	}
	x.r.Close()
	e.check()
	kept := e.get("patches/demo/resolutions/" + list[0].Key() + ".yaml")
	if !strings.Contains(kept, "both 10.") || !strings.Contains(kept, "their 10.") {
		t.Errorf("kept\n%s", kept)
	}
}

func sameState(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if w, ok := b[k]; !ok || v != w {
			return false
		}
	}
	return true
}

func TestReplay(t *testing.T) {
	t.Parallel()
	e, s := stackScene(t, "their 10.")
	x := e.session(false)
	for i := range 5 {
		s.upstream("More <b>&", gittest.Files{"h": rows(60, "line %d.") + rows(i+1, "more %d.")})
	}
	r, err := x.Replay(t.Context(), s.base, s.tip(), 3, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, row := range r.Rows {
		got = append(got, string(row.Verdict))
	}
	// Commits 0, 3, 6 and the last one; number 2 conflicts and all after it.
	if !slices.Equal(got, []string{"pass", "conflict", "conflict", "conflict"}) || r.Survived() != 1 || r.Rows[1].First != "ten.patch" {
		t.Errorf("got %v, %+v", got, r.Rows)
	}
	if r.Rows[1].Fine != 1 || r.Rows[1].Dropped != 1 || r.Rows[1].Conflicting != 1 {
		t.Errorf("row %+v", r.Rows[1])
	}
	svg := r.SVG()
	if svg != r.SVG() || !strings.Contains(svg, "<title id=") || !strings.Contains(svg, "passes on 1 of 4 commits") || !strings.Contains(svg, "prefers-color-scheme:dark") || strings.Contains(svg, "<b>") {
		t.Errorf("svg\n%s", svg)
	}
	if head, rows := r.Table(); len(rows) != 4 || len(rows[0]) != len(head) {
		t.Errorf("table %v", rows)
	}
	if _, err := x.Replay(t.Context(), s.base, s.tip(), 0, nil); verdict.ExitCode(err) != 2 {
		t.Errorf("got %v", err)
	}
}

// https://github.com/VirtusLab/git-machete/issues/127: what upstream writes can
// do nothing in our pull request.
func TestReportIsInert(t *testing.T) {
	t.Parallel()
	evil := "Fixes #1 @someone `rm` <script> [x](https://evil.example) | \x1b[31m\u202e (#66)"
	text := rows(60, "line %d.")
	s := newScene(t, gittest.Files{"f": text, "g": text})
	s.ours("Ten", gittest.Files{"f": replaced(text, "line 10.", "our 10.")})
	s.ours("Twenty", gittest.Files{"g": replaced(text, "line 20.", "our 20.")})
	s.upstream(evil, gittest.Files{"f": replaced(text, "line 10.", "```\nCloses #2 @other <img src=x>\n````")}, gittest.Author("Eve @eve #3 <eve@example.com>"))
	x, err := BranchSession(t.Context(), s.Repo.Repo, "demo", s.base, git.ID(s.Git("rev-parse", "refs/heads/ours")))
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	x.Options.Bisect = true
	r, err := x.Rebase(t.Context(), s.tip())
	if err != nil {
		t.Fatal(err)
	}
	want(t, r, Conflicting, Unchanged)
	report, err := x.Report(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	outside := regexp.MustCompile("`[^`\n]*`").ReplaceAllString(withoutFences(report), "")
	for _, bad := range []string{"@someone", "@eve", "#1", "#3", "#66", "<script", "https://", "\x1b", "\u202e", "Closes #2", "<img"} {
		if strings.Contains(outside, bad) {
			t.Errorf("the report has %q:\n%s", bad, report)
		}
	}
	for _, good := range []string{"ten.patch", "conflict", "pull request 66", "broken by", "1 unchanged, 1 conflict", "Range-diff"} {
		if !strings.Contains(report, good) {
			t.Errorf("the report lacks %q:\n%s", good, report)
		}
	}
}

// Git's range-diff knows no empty range: with every patch left out, upstreamed
// or never there, the report is the rest.
func TestReportOfNoPatchLeft(t *testing.T) {
	t.Parallel()
	text := rows(60, "line %d.")
	s := newScene(t, gittest.Files{"f": text})
	s.ours("Ten", gittest.Files{"f": replaced(text, "line 10.", "our 10.")})
	s.upstream("Ten too", gittest.Files{"f": replaced(text, "line 10.", "their 10.")})
	tip := git.ID(s.Git("rev-parse", "refs/heads/ours"))
	for name, x := range map[string]struct {
		tip  git.ID
		want string
	}{"all in conflict": {tip, "1 conflict"}, "no patches": {s.base, "No patches."}} {
		session, err := BranchSession(t.Context(), s.Repo.Repo, "demo", s.base, x.tip)
		if err != nil {
			t.Fatal(err)
		}
		defer session.Close()
		r, err := session.Rebase(t.Context(), s.tip())
		if err != nil {
			t.Fatal(err)
		}
		report, err := session.Report(t.Context(), r)
		if err != nil || !strings.Contains(report, x.want) || strings.Contains(report, "Range-diff") {
			t.Errorf("%s: %v\n%s", name, err, report)
		}
	}
}

// withoutFences leaves out fenced blocks.
func withoutFences(markdown string) string {
	var b strings.Builder
	fence := ""
	for l := range strings.Lines(markdown) {
		ticks := len(l) - len(strings.TrimLeft(l, "`"))
		switch {
		case fence == "" && ticks >= 3:
			fence = l[:ticks]
		case fence != "" && strings.TrimRight(l, "\n") == fence:
			fence = ""
		case fence == "":
			b.WriteString(l)
		}
	}
	return b.String()
}
