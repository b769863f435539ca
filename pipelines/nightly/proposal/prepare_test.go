// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package proposal

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/patches"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

func TestACommitOfAGroup(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	demo := w.demo.Commit("main", "upstream goes on\n", gittest.Files{"a.c": with(files["a.c"], "line 50\n", "line fifty\n")})
	tool := w.tool.Commit("main", "two\n", gittest.Files{"x": "2\n"})
	p := w.prepare(w.round(demo, tool))
	if !p.complete || p.Stacks["demo"].Verdict() != verdict.Pass || len(p.StackErrors) > 0 {
		t.Fatalf("%v %v", p.Stacks, p.StackErrors)
	}
	id, err := Commit(t.Context(), w.ours.Repo, p)
	w.fatal(err)
	changed := w.ours.Git("diff-tree", "-r", "--name-status", string(w.main), string(id))
	if want := "M\tNOTICE\nM\tpatches/demo/first-change.patch\nM\tpatches/demo/third-change.patch\nM\tpins/demo.yaml\nM\tpins/tool.yaml"; changed != want {
		t.Errorf("it changes\n%s\nwant\n%s", changed, want)
	}
	c, err := w.ours.CommitInfo(t.Context(), string(id))
	w.fatal(err)
	message := "Bump pair: demo to b101, tool to " + string(tool[:12]) + "\n\n" +
		"demo: b100 (" + string(w.base["demo"][:12]) + ") -> b101 (" + string(demo[:12]) + ")\n" +
		"tool: " + string(w.base["tool"][:12]) + " -> " + string(tool[:12]) + "\n\n" +
		"Round: " + p.Round.ID + "\n"
	if c.Message != message {
		t.Errorf("the message is\n%s\nwant\n%s", c.Message, message)
	}
	if c.Author != c.Committer || c.Author.Email != "dist@1bit.invalid" || !c.Author.When.Equal(at) || len(c.Parents) != 1 || c.Parents[0] != w.main {
		t.Errorf("%+v", c)
	}
	for name, want := range map[string]string{"pins/demo.yaml": string(demo), "pins/tool.yaml": string(tool), "NOTICE": "\ndemo b101\n", "link": "README.md"} {
		if got := w.show(id, name); !strings.Contains(got, want) {
			t.Errorf("%s lacks %q:\n%s", name, want, got)
		}
	}
	if got := w.show(id, "pins/demo.yaml"); !strings.Contains(got, "# the pin demo\n") || !strings.Contains(got, "stack: demo # ours\n") || !strings.Contains(got, "patched:") {
		t.Errorf("pins/demo.yaml lost something:\n%s", got)
	}
	// The stack is whole: patches on its base lead to what the lock says.
	r, err := patches.Open(t.Context(), p.NextDir)
	w.fatal(err)
	if x := r.Check(t.Context(), "demo", func(context.Context, *pins.Pin, string) (*git.Repo, error) { return w.demo.Repo, nil }); x.Verdict != verdict.Pass {
		t.Errorf("the stack: %s: %s", x.Verdict, x.Why)
	}
	if p.Next.Pin("demo").Lock.Patched == nil || p.Base.Pin("demo").Lock.Commit != string(w.base["demo"]) || p.Engine.Set != p.Next {
		t.Error("the sets are not what they should be")
	}
	w.fatal(p.Close())
	if _, err := os.Stat(p.NextDir); err == nil {
		t.Error("the work trees stay")
	}
}

// Twice, in another time zone, with another umask and a user's configuration:
// the same commit and the same text.
func TestTheSameRoundIsTheSameCommit(t *testing.T) {
	w := newWorld(t)
	demo := w.demo.Commit("main", "upstream goes on\n", gittest.Files{"a.c": with(files["a.c"], "line 50\n", "line fifty\n")})
	r := w.round(demo, "")
	first := w.make(r, w.passes())
	files := func() map[string]string {
		out := map[string]string{}
		for _, name := range []string{w.folder.Proposal(), w.folder.Body(), w.folder.Bundle(), w.folder.Verdicts()} {
			data, err := os.ReadFile(name)
			w.fatal(err)
			out[filepath.Base(name)] = string(data)
		}
		return out
	}
	before := files()
	home := t.TempDir()
	w.fatal(os.WriteFile(home+"/.gitconfig", []byte("[user]\n\tname = Me\n\temail = me@example.com\n[core]\n\tautocrlf = true\n\tabbrev = 20\n[commit]\n\tgpgSign = true\n[diff]\n\talgorithm = patience\n"), 0o644))
	for name, value := range map[string]string{"HOME": home, "TZ": "Pacific/Kiritimati", "GIT_AUTHOR_NAME": "Me", "GIT_COMMITTER_DATE": "2001-01-01T00:00:00Z", "LC_ALL": "de_DE.UTF-8"} {
		t.Setenv(name, value)
	}
	defer umask(t, 0o077)()
	r.At = r.At.In(time.FixedZone("", 14*3600))
	// And from a clone without history.
	w.repo = w.clone()
	second := w.make(r, w.passes())
	if first.Commit != second.Commit {
		t.Errorf("the commits are %s and %s", first.Commit, second.Commit)
	}
	after := files()
	for name, text := range before {
		if name != "proposal.json" && text != after[name] {
			t.Errorf("%s is another one:\n%s\nwas\n%s", name, after[name], text)
		}
	}
}

func TestAnUpstreamedPatchGoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	demo := w.demo.Commit("main", "b: one\n", gittest.Files{"b.c": "int b = 1;\n"})
	p := w.prepare(w.round(demo, ""))
	id, err := Commit(t.Context(), w.ours.Repo, p)
	w.fatal(err)
	c, err := w.ours.CommitInfo(t.Context(), string(id))
	w.fatal(err)
	if !strings.Contains(c.Message, "\nDropped, as upstream has it: patches/demo/second-change.patch\n") {
		t.Errorf("the message is\n%s", c.Message)
	}
	if series := w.show(id, "patches/demo/series"); strings.Contains(series, "second") || !strings.Contains(series, "first-change.patch") {
		t.Errorf("the series is\n%s", series)
	}
	if list := w.ours.Git("ls-tree", "--name-only", string(id), "patches/demo/"); strings.Contains(list, "second") {
		t.Errorf("the files are\n%s", list)
	}
	w.make(p.Round, w.passes())
	v, err := w.verify(w.clone())
	w.fatal(err)
	if v.Proposal.Commit != id || !strings.Contains(v.Body, "upstreamed") {
		t.Errorf("%s %s", v.Proposal.Commit, v.Body)
	}
}

// https://github.com/renovatebot/renovate/issues/41560 is why nothing is half
// done: a conflict leaves main's files, and the commit that is to blame.
func TestAConflictNamesItsCommit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.demo.Commit("main", "harmless\n", gittest.Files{"LICENSE": "other terms\n"})
	guilty := w.demo.Commit("main", "Fixes #1 @someone: `five`\n", gittest.Files{"a.c": with(files["a.c"], "line 5\n", "line V\n")})
	demo := w.demo.Commit("main", "later\n", gittest.Files{"c.c": "int c;\n"})
	tool := w.tool.Commit("main", "two\n", gittest.Files{"x": "2\n"})
	r := w.round(demo, tool)
	p := w.prepare(r)
	if p.complete || p.Stacks["demo"].Verdict() != verdict.Conflict {
		t.Fatalf("complete: %t, %v", p.complete, p.Stacks["demo"])
	}
	if g := p.Stacks["demo"].Patches[0].Guilty; g == nil || g.Commit == nil || g.Commit.ID != guilty {
		t.Errorf("to blame is %+v, want %s", g, guilty)
	}
	if len(p.changes) > 0 {
		t.Errorf("something was written: %q", p.changes.paths())
	}
	if p.Next.Pin("demo").Lock.Commit != string(demo) || p.Base.Pin("demo").Lock.Commit != string(w.base["demo"]) {
		t.Error("the sets do not say where it was to go")
	}
	if _, err := Commit(t.Context(), w.ours.Repo, p); verdict.Of(err) != verdict.Conflict {
		t.Errorf("committed: %v", err)
	}
	results := w.passes()
	results[1].Verdict, results[1].Why = verdict.Conflict, "first-change.patch does not apply"
	made := w.make(r, results)
	if made.Commit != "" || made.Verdict != verdict.Conflict {
		t.Errorf("%+v", made)
	}
	v, err := w.verify(w.clone())
	w.fatal(err)
	for _, want := range []string{"# pair: conflict", "stack: first‑change", "broken by `" + string(guilty[:12]), "Fixes ＃1 ＠someone"} {
		if !strings.Contains(strings.ReplaceAll(v.Body, "first-change.patch does", "first‑change"), want) {
			t.Errorf("the text lacks %q:\n%s", want, v.Body)
		}
	}
	// Nor when no gate says it.
	if made := w.make(r, w.passes()); made.Commit != "" || made.Verdict != verdict.Conflict {
		t.Errorf("%+v", made)
	}
	if _, err := w.verify(w.clone()); err != nil {
		t.Error(err)
	}
}

func TestWhatARoundMayChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	demo := w.demo.Commit("main", "on\n", gittest.Files{"c.c": "int c;\n"})
	r := w.round(demo, "")
	for name, want := range map[string]bool{
		"pins/demo.yaml": true, "patches/demo/series": true, "patches/demo/x.patch": true, "patches/demo/resolutions/0.yaml": true, "NOTICE": true,
		"pins/tool.yaml": false, "pins/groups.yaml": false, "patches/other/series": false, "patches/demo/policy.yaml": false, "patches/demo/README.md": false,
		"patches/demo/x/y.patch": false, "go.mod": false, ".github/workflows/x.yml": false, "pins/demo.yaml/x": false, "ci/trust/runners.yaml": false, "": false,
	} {
		if err := mayChange(r, name, false); (err == nil) != want {
			t.Errorf("change %q: %v, want %t", name, err, want)
		}
	}
	for name, want := range map[string]bool{"patches/demo/x.patch": true, "patches/demo/series": false, "pins/demo.yaml": false, "NOTICE": false, "README.md": false, "patches/demo/resolutions/0.yaml": false} {
		if err := mayChange(r, name, true); (err == nil) != want {
			t.Errorf("remove %q: %v, want %t", name, err, want)
		}
	}
	// What somebody puts into the work tree afterwards is not committed.
	p := w.prepare(r)
	w.fatal(os.WriteFile(p.NextDir+"/pins/demo.yaml", []byte("evil"), 0o644))
	w.fatal(os.WriteFile(p.NextDir+"/evil", []byte("evil"), 0o644))
	id, err := Commit(t.Context(), w.ours.Repo, p)
	w.fatal(err)
	if w.show(id, "pins/demo.yaml") == "evil" || strings.Contains(w.ours.Git("ls-tree", "-r", "--name-only", string(id)), "evil") {
		t.Error("it was committed")
	}
	entries, err := w.ours.LsTree(t.Context(), w.ours.Tree(w.main))
	w.fatal(err)
	if _, err := compare(t.Context(), r, entries, p.NextDir); err == nil {
		t.Error("a file outside was not seen")
	}
}

func TestRoundsThatAreNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	demo := w.demo.Commit("main", "on\n", gittest.Files{"c.c": "int c;\n"})
	for name, change := range map[string]func(r *round.Round){
		"another id":      func(r *round.Round) { r.ID = "0123456789abcdef" },
		"another schema":  func(r *round.Round) { r.Schema = 9 },
		"a hostile group": func(r *round.Round) { r.Group = "../x"; r.ID = r.Identify() },
		"no member":       func(r *round.Round) { r.Members[0].Pin = "other"; r.ID = r.Identify() },
		"twice":           func(r *round.Round) { r.Members[1] = r.Members[0]; r.ID = r.Identify() },
		"nothing moves":   func(r *round.Round) { r.Members[0].To = r.Members[0].From; r.ID = r.Identify() },
		"another lock":    func(r *round.Round) { r.Members[0].Lock.Commit = string(w.base["tool"]) },
		"no lock":         func(r *round.Round) { r.Members[0].Lock = nil },
		"another stack":   func(r *round.Round) { r.Members[0].Stack = "" },
		"another start":   func(r *round.Round) { r.Members[0].From.ID = string(w.base["tool"]); r.ID = r.Identify() },
		"no base":         func(r *round.Round) { r.Base = w.base["tool"] },
		"a hostile base":  func(r *round.Round) { r.Base = "--upload-pack=x" },
		"no time":         func(r *round.Round) { r.At = time.Time{} },
	} {
		r := w.round(demo, "")
		change(r)
		scratch := filepath.Join(t.TempDir(), "s")
		if _, err := Prepare(t.Context(), PrepareOptions{Repo: w.ours.Repo, Round: r, Engine: w.engine, Scratch: scratch}); err == nil {
			t.Errorf("%s: it was prepared", name)
		}
		if left, _ := os.ReadDir(scratch); len(left) > 0 {
			t.Errorf("%s: work trees stay", name)
		}
	}
}
