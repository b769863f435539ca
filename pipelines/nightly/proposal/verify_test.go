// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package proposal

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/strictjson"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// ready is a world whose folder has a good proposal, of both pins.
func ready(t *testing.T) (*world, *Proposal) {
	t.Helper()
	w := newWorld(t)
	demo := w.demo.Commit("main", "upstream goes on\n", gittest.Files{"a.c": with(files["a.c"], "line 50\n", "line fifty\n")})
	tool := w.tool.Commit("main", "two\n", gittest.Files{"x": "2\n"})
	return w, w.make(w.round(demo, tool), w.passes())
}

func TestVerify(t *testing.T) {
	t.Parallel()
	w, p := ready(t)
	clone := w.clone()
	v, err := w.verify(clone)
	w.fatal(err)
	if v.Proposal.Commit != p.Commit || v.Round.ID != p.Round || len(v.Results) != 3 || v.Proposal.Branch != "bump/pair" {
		t.Errorf("%+v", v.Proposal)
	}
	if ok, err := clone.HasCommit(t.Context(), p.Commit); err != nil || !ok {
		t.Errorf("the commit is not there: %v", err)
	}
	if refs, err := clone.ForEachRef(t.Context(), "refs/heads"); err != nil || len(refs) != 1 {
		t.Errorf("refs: %v %v", refs, err)
	}
}

// Every field and file of the folder, changed by what ran in between.
func TestATamperedFolder(t *testing.T) {
	t.Parallel()
	w, p := ready(t)
	clone := w.clone()
	good := map[string]string{}
	for _, name := range []string{"round.json", "verdicts.json", "proposal.json", "proposal.md", "proposal.bundle"} {
		data, err := os.ReadFile(string(w.folder) + "/" + name)
		w.fatal(err)
		good[name] = string(data)
	}
	swap := func(file, old, new string) func(map[string]string) {
		return func(f map[string]string) {
			if !strings.Contains(f[file], old) {
				t.Fatalf("%s lacks %q:\n%s", file, old, f[file])
			}
			f[file] = strings.Replace(f[file], old, new, 1)
		}
	}
	cases := map[string]func(f map[string]string){
		"round: another night":       swap("round.json", `"night": "n1"`, `"night": "n2"`),
		"round: another lock":        swap("round.json", `"sum": "t1:`, `"sum": "t1:A`),
		"verdicts: unknown field":    swap("verdicts.json", `"gate": "pins"`, `"gate": "pins", "x": 1`),
		"verdicts: unknown gate":     swap("verdicts.json", `"gate": "pins"`, `"gate": "pens"`),
		"verdicts: twice":            swap("verdicts.json", `"gate": "pins"`, `"gate": "build"`),
		"verdicts: none":             func(f map[string]string) { f["verdicts.json"] = "null\n" },
		"verdicts: a fail":           swap("verdicts.json", `"verdict": "pass"`, `"verdict": "fail"`),
		"verdicts: skipped":          swap("verdicts.json", `"verdict": "pass"`, `"verdict": "skipped"`),
		"verdicts: no word":          swap("verdicts.json", `"verdict": "pass"`, `"verdict": "fine"`),
		"verdicts: a log elsewhere":  swap("verdicts.json", `"logs/pins.txt"`, `"../../etc/passwd"`),
		"verdicts: seconds":          swap("verdicts.json", `"seconds": 1.5`, `"seconds": -1`),
		"verdicts: other seconds":    swap("verdicts.json", `"seconds": 1.5`, `"seconds": 2.5`),
		"verdicts: trailing":         func(f map[string]string) { f["verdicts.json"] += "[]" },
		"proposal: unknown field":    swap("proposal.json", `"schema": 1`, `"schema": 1, "x": 2`),
		"proposal: twice a field":    swap("proposal.json", `"schema": 1`, `"schema": 2, "schema": 1`),
		"proposal: schema":           swap("proposal.json", `"schema": 1`, `"schema": 2`),
		"proposal: round":            swap("proposal.json", `"round": "`, `"round": "0`),
		"proposal: digest":           swap("proposal.json", `"digest": "`, `"digest": "0`),
		"proposal: group":            swap("proposal.json", `"group": "pair"`, `"group": "main"`),
		"proposal: title":            swap("proposal.json", `"title": "Bump`, `"title": "Fixes #1`),
		"proposal: branch":           swap("proposal.json", `"branch": "bump/pair"`, `"branch": "main"`),
		"proposal: base":             swap("proposal.json", `"base": "`+string(w.main), `"base": "`+string(p.Commit)),
		"proposal: commit":           swap("proposal.json", `"commit": "`+string(p.Commit), `"commit": "`+string(w.main)),
		"proposal: no commit":        swap("proposal.json", `"commit": "`+string(p.Commit), `"commit": "`),
		"proposal: verdict":          swap("proposal.json", `"verdict": "pass"`, `"verdict": "fail"`),
		"proposal: draft":            swap("proposal.json", `"verdict": "pass"`, `"verdict": "pass",`+"\n"+`  "draft": ["x"]`),
		"proposal: why":              swap("proposal.json", `"verdict": "pass"`, `"verdict": "pass",`+"\n"+`  "why": "x"`),
		"proposal: a stack's base":   swap("proposal.json", `"old-base": "`+string(w.base["demo"]), `"old-base": "`+string(p.Commit)),
		"proposal: a stack's result": swap("proposal.json", `"outcome": "moved"`, `"outcome": "conflict"`),
		"proposal: a stack's name":   swap("proposal.json", `"name": "demo"`, `"name": "other"`),
		"proposal: a subject":        swap("proposal.json", `"subject": "upstream goes on"`, `"subject": "upstream goes off"`),
		"proposal: a history":        swap("proposal.json", `"count": 1`, `"count": 0`),
		"proposal: report":           func(f map[string]string) { f["proposal.json"] = cutReport(f["proposal.json"]) },
		"text":                       swap("proposal.md", "# Bump", "Fixes #1 @someone\n\n# Bump"),
		"no round":                   func(f map[string]string) { delete(f, "round.json") },
		"no verdicts":                func(f map[string]string) { delete(f, "verdicts.json") },
		"no proposal":                func(f map[string]string) { delete(f, "proposal.json") },
		"no text":                    func(f map[string]string) { delete(f, "proposal.md") },
		"no bundle":                  func(f map[string]string) { delete(f, "proposal.bundle") },
		"bundle: cut off":            func(f map[string]string) { f["proposal.bundle"] = f["proposal.bundle"][:len(f["proposal.bundle"])-30] },
		"bundle: another ref":        swap("proposal.bundle", "refs/heads/bump/pair", "refs/heads/main"),
		"bundle: another base":       swap("proposal.bundle", "-"+string(w.main), "-"+string(p.Commit)),
		"bundle: no bundle":          func(f map[string]string) { f["proposal.bundle"] = "x" },
		"too large":                  func(f map[string]string) { f["proposal.md"] = strings.Repeat("x", maxProposal+1) },
	}
	for name, change := range cases {
		f := map[string]string{}
		for k, v := range good {
			f[k] = v
		}
		change(f)
		for k := range good {
			if err := os.RemoveAll(string(w.folder) + "/" + k); err != nil {
				t.Fatal(err)
			}
		}
		for k, v := range f {
			w.fatal(os.WriteFile(string(w.folder)+"/"+k, []byte(v), 0o644))
		}
		_, err := w.verify(clone)
		var tampered *Tampered
		var missing *Missing
		if gone := errors.As(err, &missing) && verdict.Of(err) == verdict.Infra; gone != strings.HasPrefix(name, "no ") ||
			!gone && (!errors.As(err, &tampered) || verdict.Of(err) != verdict.Fail) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if ok, _ := clone.HasCommit(t.Context(), p.Commit); ok {
		t.Error("the commit of a folder that was refused is there")
	}
	// Links lead nowhere.
	for name := range good {
		for k, v := range good {
			w.fatal(os.RemoveAll(string(w.folder) + "/" + k))
			w.fatal(os.WriteFile(string(w.folder)+"/"+k, []byte(v), 0o644))
		}
		outside := t.TempDir() + "/file"
		w.fatal(os.WriteFile(outside, []byte(good[name]), 0o644))
		w.fatal(os.Remove(string(w.folder) + "/" + name))
		w.fatal(os.Symlink(outside, string(w.folder)+"/"+name))
		if _, err := w.verify(clone); err == nil {
			t.Errorf("%s: a link out of the folder was followed", name)
		}
		w.fatal(os.Remove(string(w.folder) + "/" + name))
		w.fatal(os.WriteFile(string(w.folder)+"/"+name, []byte(good[name]), 0o644))
	}
	if _, err := Verify(t.Context(), VerifyOptions{Repo: clone, Folder: w.folder, Digest: "", Gates: w.gates}); err == nil {
		t.Error("verified without a digest")
	}
	if _, err := Verify(t.Context(), VerifyOptions{Repo: clone, Folder: w.folder, Digest: w.digest, Gates: append(w.gates, "licence")}); err == nil {
		t.Error("verified though a gate has no result")
	}
	if _, err := w.verify(clone); err != nil {
		t.Errorf("the good one: %v", err)
	}
}

func cutReport(text string) string {
	i := strings.Index(text, ",\n  \"report\"")
	return text[:i] + "\n}\n"
}

// Commits that a machine with upstream code on it could hand on: each is put
// into the folder with all else made to fit.
func TestATamperedCommit(t *testing.T) {
	t.Parallel()
	w, p := ready(t)
	clone := w.clone()
	proposal, err := os.ReadFile(w.folder.Proposal())
	w.fatal(err)
	good, err := w.ours.CommitInfo(t.Context(), string(p.Commit))
	w.fatal(err)
	read := func(name string) string { return w.show(p.Commit, name) + "\n" }
	// file is the commit with another file.
	file := func(name, content string, options ...gittest.Option) func() git.ID {
		return func() git.ID {
			made := w.ours.Commit("tampered", good.Message, gittest.Files{name: content}, append(options, gittest.Onto(p.Commit))...)
			c := *good
			c.Tree = w.ours.Tree(made)
			id, err := w.ours.CommitTree(t.Context(), c)
			w.fatal(err)
			return id
		}
	}
	commit := func(change func(c *git.Commit)) func() git.ID {
		return func() git.ID {
			c := *good
			c.Parents = append([]git.ID(nil), good.Parents...)
			change(&c)
			id, err := w.ours.CommitTree(t.Context(), c)
			w.fatal(err)
			return id
		}
	}
	raw := func(name string, mode git.Mode, id git.ID) func() git.ID {
		return commit(func(c *git.Commit) {
			cat := w.ours.Catch()
			entries, err := cat.ReadTree(c.Tree)
			w.fatal(err)
			c.Tree = w.ours.RawTree(append(entries, git.TreeEntry{Mode: mode, Name: name, ID: id})...)
		})
	}
	blob, err := w.ours.WriteBlob(t.Context(), strings.NewReader("../../etc"))
	w.fatal(err)
	demo := read("pins/demo.yaml")
	first := read("patches/demo/first-change.patch")
	for name, made := range map[string]func() git.ID{
		"another file":              file("evil.go", "package evil\n"),
		"a workflow":                file(".github/workflows/x.yml", "on: push\n"),
		"the base's script":         file(".ci/run", "#!/bin/sh\nevil\n", gittest.Exec(".ci/run")),
		"a pin outside":             file("pins/groups.yaml", "[]\n"),
		"a new pin":                 file("pins/more.yaml", strings.ReplaceAll(read("pins/tool.yaml"), "tool", "more")),
		"a pin's upstream":          file("pins/demo.yaml", strings.Replace(demo, "github.com/up/demo", "github.com/evil/demo", 1)),
		"a pin's comment":           file("pins/demo.yaml", strings.Replace(demo, "# the pin", "# a pin", 1)),
		"a pin's sum":               file("pins/tool.yaml", strings.Replace(read("pins/tool.yaml"), "sum: t1:", "sum: t1:A", 1)),
		"a pin's commit":            file("pins/tool.yaml", strings.Replace(read("pins/tool.yaml"), "commit: ", "commit: "+strings.Repeat("a", 40)+" #", 1)),
		"no pin":                    file("pins/tool.yaml", "x: y\n"),
		"an executable pin":         file("pins/tool.yaml", read("pins/tool.yaml"), gittest.Exec("pins/tool.yaml")),
		"a pin is a link":           file("x", "", gittest.Delete("x", "pins/tool.yaml"), gittest.Symlink("pins/tool.yaml", "../README.md")),
		"a pin is gone":             file("x", "", gittest.Delete("x", "pins/tool.yaml")),
		"a step's file":             file("pins/demo.yaml", strings.Replace(demo, "{file: first-change.patch", "{file: other-change.patch", 1)),
		"a step less":               file("pins/demo.yaml", dropLine(demo, "{file: third-change.patch")),
		"a broken patch":            file("patches/demo/first-change.patch", strings.Replace(first, "+line five\n", "", 1)),
		"a patch is not canonical":  file("patches/demo/first-change.patch", strings.Replace(first, "\n---\n", "\n--- \n", 1)),
		"a patch outside":           file("patches/demo/evil.patch", first),
		"a patch less":              file("patches/demo/series", dropLine(read("patches/demo/series"), "third-change"), gittest.Delete("patches/demo/third-change.patch")),
		"a policy":                  file("patches/demo/policy.yaml", "lost-lines: report\n"),
		"a wrong resolution":        file("patches/demo/resolutions/0123.yaml", "x\n"),
		"a series for another base": file("patches/demo/series", "# base: "+string(w.base["demo"])+"\n"+read("patches/demo/series")),
		"a NOTICE":                  file("NOTICE", read("NOTICE")+"more\n"),
		"no NOTICE":                 file("x", "", gittest.Delete("x", "NOTICE")),
		"a message":                 commit(func(c *git.Commit) { c.Message = strings.Replace(c.Message, "\n\n", "\n\nFixes #1\n", 1) }),
		"an author":                 commit(func(c *git.Commit) { c.Author.Name = "A Person" }),
		"a date":                    commit(func(c *git.Commit) { c.Committer.When = c.Committer.When.AddDate(0, 0, 1) }),
		"no parent":                 commit(func(c *git.Commit) { c.Parents = nil }),
		"two parents":               commit(func(c *git.Commit) { c.Parents = append(c.Parents, w.main) }),
		"another parent":            commit(func(c *git.Commit) { c.Parents[0] = p.Commit }),
		"nothing":                   commit(func(c *git.Commit) { c.Tree = w.ours.Tree(w.main) }),
		"a .git":                    raw(".git", git.ModeFile, blob),
		"a path out":                raw("..", git.ModeTree, w.ours.Tree(w.main)),
		"a link":                    raw("zz", git.ModeSymlink, blob),
		"a submodule":               raw("zz", git.ModeSubmodule, w.main),
		"an object that is absent":  raw("zz", git.ModeFile, git.ID(strings.Repeat("ab", 20))),
	} {
		id := made()
		if id == p.Commit {
			t.Fatalf("%s: nothing was changed", name)
		}
		w.fatal(os.WriteFile(w.folder.Proposal(), []byte(strings.Replace(string(proposal), string(p.Commit), string(id), 1)), 0o644))
		if err := bundleOf(w, id); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_, err := w.verify(clone)
		var tampered *Tampered
		if !errors.As(err, &tampered) || tampered.What != "proposal.bundle" {
			t.Errorf("%s: %v", name, err)
		}
		if ok, _ := clone.HasCommit(t.Context(), id); ok {
			t.Errorf("%s: the commit is there", name)
		}
	}
}

// bundleOf writes any commit as a bundle, also one that git would not write.
func bundleOf(w *world, id git.ID) error {
	ids := w.ours.Git("rev-list", "--objects", "--missing=allow-any", "--no-object-names", string(id), "^"+string(w.main))
	c := w.ours.Command("pack-objects", "--stdout", "--missing=allow-any", "--quiet")
	c.Stdin = strings.NewReader(ids + "\n")
	res, err := c.Run(w.t.Context())
	if err != nil {
		return err
	}
	head := fmt.Sprintf("# v2 git bundle\n-%s x\n%s refs/heads/bump/pair\n\n", w.main, id)
	return os.WriteFile(w.folder.Bundle(), append([]byte(head), res.Stdout...), 0o644)
}

func dropLine(text, with string) string {
	var b strings.Builder
	for l := range strings.Lines(text) {
		if !strings.Contains(l, with) {
			b.WriteString(l)
		}
	}
	return b.String()
}

// A failed round is verified too, and has no bundle.
func TestVerifyOfWhatIsNotProposed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	demo := w.demo.Commit("main", "on\n", gittest.Files{"c.c": "int c;\n"})
	results := w.passes()
	results[2].Verdict, results[2].Why, results[2].Details = verdict.Fail, "demo does not build", "a.c:1: error: `x` @someone\nFixes #1\n"
	p := w.make(w.round(demo, ""), results)
	v, err := w.verify(w.clone())
	w.fatal(err)
	if p.Commit != "" || v.Proposal.Verdict != verdict.Fail || v.Proposal.Why != "build: demo does not build" {
		t.Errorf("%+v", v.Proposal)
	}
	for _, want := range []string{"# pair: fail\n", "build: demo does not build", "The first lines of what `build` found", "dist gate run build --round FOLDER", v.Round.ID} {
		if !strings.Contains(v.Body, want) {
			t.Errorf("the text lacks %q:\n%s", want, v.Body)
		}
	}
	w.fatal(os.WriteFile(w.folder.Bundle(), nil, 0o644))
	if _, err := w.verify(w.clone()); err == nil {
		t.Error("a bundle of what is not proposed")
	}
	if _, err := Push(t.Context(), w.ours.Repo, git.Remote{}, v.Proposal, nil); err == nil {
		t.Error("it was pushed")
	}
}

func TestLeave(t *testing.T) {
	t.Parallel()
	w, _ := ready(t)
	dir := t.TempDir() + "/out"
	w.fatal(Leave(w.folder, dir))
	for _, name := range []string{"proposal.md", "proposal.json", "proposal.bundle"} {
		want, err := os.ReadFile(string(w.folder) + "/" + name)
		w.fatal(err)
		got, err := os.ReadFile(dir + "/" + name)
		w.fatal(err)
		if string(got) != string(want) {
			t.Errorf("%s is another one", name)
		}
	}
	w.fatal(os.Remove(w.folder.Body()))
	w.fatal(os.Symlink("/etc/passwd", w.folder.Body()))
	if err := Leave(w.folder, dir); err == nil {
		t.Error("a link was followed")
	}
}

// Half of a round went on, since the other half did not: its folder still has
// the whole round, whose digest was written down.
func TestVerifyOfHalfARound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	demo := w.demo.Commit("main", "on\n", gittest.Files{"c.c": "int c;\n"})
	tool := w.tool.Commit("main", "two\n", gittest.Files{"x": "2\n"})
	whole := w.round(demo, tool)
	half, err := whole.Without("tool")
	w.fatal(err)
	p := w.make(half, w.passes())
	data, err := strictjson.Encode(whole)
	w.fatal(err)
	w.fatal(os.WriteFile(w.folder.Round(), data, 0o644))
	old := w.digest
	w.digest = RoundDigest(data)
	proposal, err := os.ReadFile(w.folder.Proposal())
	w.fatal(err)
	w.fatal(os.WriteFile(w.folder.Proposal(), []byte(strings.Replace(string(proposal), old, w.digest, 1)), 0o644))
	clone := w.clone()
	if _, err := w.verify(clone); err == nil {
		t.Error("half of a round, and nothing says so")
	}
	w.fatal(os.WriteFile(w.folder.Split(), []byte(`["tool"]`), 0o644))
	v, err := w.verify(clone)
	w.fatal(err)
	if v.Round.ID != half.ID || len(v.Proposal.Draft) != 1 || p.Title != "Bump pair in part: demo to b101" || w.show(p.Commit, "pins/tool.yaml") != w.show(w.main, "pins/tool.yaml") {
		t.Errorf("%+v", v.Proposal)
	}
	for _, bad := range []string{`[]`, `["demo"]`, `["demo", "tool"]`, `["x"]`, `{}`, `["tool"] x`, ""} {
		w.fatal(os.WriteFile(w.folder.Split(), []byte(bad), 0o644))
		if _, err := w.verify(clone); err == nil {
			t.Errorf("split as %s", bad)
		}
	}
	// Only where main's groups allow it.
	groups := strings.Replace(w.show(w.main, "pins/groups.yaml"), "allowed", "no", 1) + "\n"
	half.Base = w.ours.Commit("main", "no more halves\n", gittest.Files{"pins/groups.yaml": groups})
	if _, err := Prepare(t.Context(), PrepareOptions{Repo: w.ours.Repo, Round: half, Engine: w.engine, Scratch: t.TempDir()}); verdict.Of(err) != verdict.Held {
		t.Errorf("half of a group that allows none: %v", err)
	}
}
