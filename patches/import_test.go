// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

func TestImport(t *testing.T) {
	t.Parallel()
	up, base := three(t)
	e := newEngine(t, up, base)
	objects := up.Git("count-objects", "-v")
	im := e.imports("ours")
	if got := up.Git("count-objects", "-v"); got != objects {
		t.Errorf("the upstream's repository was written to:\n%s\n%s", objects, got)
	}
	if got := strings.Join(im.Files, " "); got != "first-change.patch second-change.patch third-change.patch" || !im.Locked || im.Base != base {
		t.Errorf("%+v", im)
	}
	if got := names(e.state()); got != "go.mod patches/demo/first-change.patch patches/demo/second-change.patch patches/demo/series patches/demo/third-change.patch pins/demo.yaml pins/groups.yaml" {
		t.Errorf("files: %s", got)
	}
	if got := e.get("patches/demo/series"); got != seriesHeader+"first-change.patch\nsecond-change.patch\nthird-change.patch\n" {
		t.Errorf("series:\n%s", got)
	}
	pin, err := pins.Parse([]byte(e.get("pins/demo.yaml")), "pins/demo.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range pin.Lock.Patched.Steps {
		if want := up.Git("rev-parse", fmt.Sprintf("ours~%d^{tree}", 2-i)); s.Tree != want || s.File != im.Files[i] {
			t.Errorf("step %d: %v, want tree %s", i, s, want)
		}
	}
	c := e.check()
	if c.Verdict != verdict.Pass || c.Why != "" || string(c.Tree) != up.Git("rev-parse", "ours^{tree}") {
		t.Errorf("%+v", c)
	}
	r := e.open()
	defer r.Close()
	_, err = r.Import(t.Context(), "demo", From{Where: up.Dir(), Branch: "ours"})
	wantError(t, err, "usage", "is there already")
	for _, bad := range []string{"../x", "X", ".git", ""} {
		_, err = r.Import(t.Context(), bad, From{Where: up.Dir(), Branch: "ours"})
		wantError(t, err, "usage", "is no name of a stack")
	}
}

// A lock that somebody changed by hand: sum, tree, or another row of steps.
func TestCheckReadsTheWholeLock(t *testing.T) {
	t.Parallel()
	up, base := three(t)
	e := newEngine(t, up, base)
	e.imports("ours")
	good := e.get("pins/demo.yaml")
	pin, err := pins.Parse([]byte(good), "pins/demo.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct{ old, new, want string }{
		"sum":         {pin.Lock.Patched.Sum, pin.Lock.Sum, "the patched tree has the sum " + pin.Lock.Patched.Sum},
		"first step":  {pin.Lock.Patched.Steps[0].Tree, pin.Lock.Tree, "after first-change.patch the tree is"},
		"other names": {"file: second-change.patch", "file: other.patch", "patch 2 is second-change.patch in the series and other.patch in the lock"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(good, x.old, x.new, 1)
			if text == good {
				t.Fatalf("the lock has no %s:\n%s", x.old, good)
			}
			e.put("pins/demo.yaml", text)
			if c := e.check(); c.Verdict != verdict.Fail || !strings.Contains(c.Why, x.want) {
				t.Errorf("%s: %s", c.Verdict, c.Why)
			}
		})
	}
}

func TestImportWithoutPin(t *testing.T) {
	t.Parallel()
	up, base := three(t)
	e := newEngine(t, up, base)
	r := e.open()
	defer r.Close()
	_, err := r.Import(t.Context(), "other", From{Where: up.Dir(), Branch: "ours"})
	wantError(t, err, "usage", "--base")
	im, err := r.Import(t.Context(), "other", From{Where: up.Dir(), Branch: "ours", Base: "ours~1", Status: &UpstreamStatus{State: "pending"}})
	if err != nil || im.Locked || len(im.Files) != 1 {
		t.Fatalf("%+v, %v", im, err)
	}
	if !strings.Contains(e.get("patches/other/series"), "\n# base: "+up.Git("rev-parse", "ours~1")+"\n") {
		t.Errorf("series:\n%s", e.get("patches/other/series"))
	}
	if c := r.Check(t.Context(), "other", e.source); c.Verdict != verdict.Pass {
		t.Errorf("%s: %s", c.Verdict, c.Why)
	}
	// No repository: skipped, which is not pass.
	c := r.Check(t.Context(), "other", func(context.Context, *pins.Pin, string) (*git.Repo, error) {
		return nil, errors.New("there is none")
	})
	if c.Verdict != verdict.Skipped || !strings.Contains(c.Why, "there is none") {
		t.Errorf("%s: %s", c.Verdict, c.Why)
	}
}

// Merges are dissolved without loss, or named.
func TestLinear(t *testing.T) {
	t.Parallel()
	type build func(up *gittest.Repo, base git.ID)
	for name, x := range map[string]struct {
		build build
		want  string // subjects, or a part of the error
		fails bool
	}{
		"two lines that touch different files": {func(up *gittest.Repo, base git.ID) {
			a := up.Commit("ours", "A", gittest.Files{"a": "2\n"}, gittest.Onto(base))
			b := up.Commit("side", "B", gittest.Files{"b": "2\n", "new/x": "1\n"}, gittest.Onto(base))
			up.Commit("ours", "Merge side", gittest.Files{"b": "2\n", "new/x": "1\n"}, gittest.Onto(a, b))
			up.Commit("ours", "C", gittest.Files{"a": "3\n"})
		}, "A|B|C", false},
		"both lines change a file": {func(up *gittest.Repo, base git.ID) {
			a := up.Commit("ours", "A", gittest.Files{"a": "2\n"}, gittest.Onto(base))
			b := up.Commit("side", "B", gittest.Files{"a": "3\n"}, gittest.Onto(base))
			up.Commit("ours", "Merge side", gittest.Files{"a": "4\n"}, gittest.Onto(a, b))
		}, "both change a, which the merge", true},
		"both lines create a file": {func(up *gittest.Repo, base git.ID) {
			a := up.Commit("ours", "A", gittest.Files{"n": "2\n"}, gittest.Onto(base))
			b := up.Commit("side", "B", gittest.Files{"n": "3\n"}, gittest.Onto(base))
			up.Commit("ours", "Merge side", gittest.Files{"n": "2\n"}, gittest.Onto(a, b))
		}, "both change n, which the merge", true},
		"a file and a folder of one name": {func(up *gittest.Repo, base git.ID) {
			a := up.Commit("ours", "A", gittest.Files{"n": "2\n"}, gittest.Onto(base))
			b := up.Commit("side", "B", gittest.Files{"n/x": "3\n"}, gittest.Onto(base))
			up.Commit("ours", "Merge side", gittest.Files{"n": "2\n"}, gittest.Onto(a, b))
		}, "Merge side", true},
		"a merge with changes of its own": {func(up *gittest.Repo, base git.ID) {
			a := up.Commit("ours", "A", gittest.Files{"a": "2\n"}, gittest.Onto(base))
			b := up.Commit("side", "B", gittest.Files{"b": "2\n"}, gittest.Onto(base))
			up.Commit("ours", "Merge side", gittest.Files{"b": "2\n", "evil": "1\n"}, gittest.Onto(a, b))
			up.Commit("ours", "C", gittest.Files{"a": "3\n"})
		}, "(Merge side) has changes of its own (evil)", true},
		"upstream merged in, on its newer base": {func(up *gittest.Repo, base git.ID) {
			up.Move("ours", base)
			a := up.Commit("ours", "A", gittest.Files{"a": "2\n"})
			b := up.Commit("main", "upstream", gittest.Files{"b": "2\n"})
			up.Commit("ours", "Merge main", gittest.Files{"b": "2\n"}, gittest.Onto(a, b))
			up.Commit("ours", "C", gittest.Files{"c": "1\n"})
		}, "A|C", false},
		"an empty commit is left out": {func(up *gittest.Repo, base git.ID) {
			up.Move("ours", base)
			up.Commit("ours", "A", gittest.Files{"a": "2\n"})
			up.Commit("ours", "Nothing", nil)
		}, "A", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			up := gittest.New(t)
			base := up.Commit("main", "base", gittest.Files{"a": "1\n", "b": "1\n"})
			x.build(up, base)
			main, tip := git.ID(up.Git("rev-parse", "main")), git.ID(up.Git("rev-parse", "ours"))
			line, err := Linear(t.Context(), up.Repo, main, tip)
			if x.fails {
				wantError(t, err, verdict.Fail, x.want)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var subjects []string
			for _, p := range line.Patches {
				subjects = append(subjects, p.Subject())
			}
			if got := strings.Join(subjects, "|"); got != x.want {
				t.Errorf("%s, want %s", got, x.want)
			}
			roundTrip(t, up, main, line.Patches, commitsWithTrees(t, up, line.Trees))
		})
	}
}

// commitsWithTrees wraps trees, for roundTrip.
func commitsWithTrees(t *testing.T, up *gittest.Repo, trees []git.ID) []git.ID {
	var commits []git.ID
	for i, tree := range trees {
		commits = append(commits, up.RawCommit(fmt.Sprint("t", i), "t", tree))
	}
	return commits
}

func TestImportRefusesAnotherLine(t *testing.T) {
	t.Parallel()
	up, base := three(t)
	up.Commit("main", "on", gittest.Files{"new": "1\n"})
	e := newEngine(t, up, git.ID(up.Git("rev-parse", "main")))
	r := e.open()
	defer r.Close()
	before := e.state()
	_, err := r.Import(t.Context(), "demo", From{Where: up.Dir(), Branch: "ours"})
	wantError(t, err, verdict.Fail, "it left that line at "+base.Short(), "--base "+string(base))
	if !maps.Equal(before, e.state()) {
		t.Error("files were touched")
	}
	// On its own base it is taken, says so, and does not pass before a rebase.
	im, err := r.Import(t.Context(), "demo", From{Where: up.Dir(), Branch: "ours", Base: string(base)})
	if err != nil || im.Locked {
		t.Fatalf("%+v, %v", im, err)
	}
	if c := e.check(); c.Verdict != verdict.Fail || !strings.Contains(c.Why, "run 'dist patches rebase demo'") {
		t.Errorf("%s: %s", c.Verdict, c.Why)
	}
}

// electron/electron#15389 and #50121, microsoft/go#1233: what the user's git
// is told, and what the environment says, changes nothing.
func TestSettingsOfTheUserDoNotMatter(t *testing.T) {
	up, base := three(t)
	up.Commit("ours", "Move a file"+status, gittest.Files{"moved.c": numbered(1, 40), ".gitattributes": "* diff=cpp text eol=crlf\n*.txt -diff\n*.c ident\n"}, gittest.Delete("a.c"))
	calm := newEngine(t, up, base)
	calm.imports("ours")
	want := calm.state()

	home := t.TempDir()
	config := "[user]\n\tname=Someone\n\temail=x@y\n[diff]\n\trenames=copies\n\tnoprefix=true\n\tmnemonicPrefix=true\n\tcontext=9\n\talgorithm=patience\n\texternal=false\n\tsubmodule=log\n\torderFile=/dev/null\n[am]\n\tthreeWay=true\n[core]\n\tautocrlf=true\n\teol=crlf\n\thooksPath=" + home + "\n\tquotePath=false\n\tabbrev=4\n\twhitespace=cr-at-eol\n[commit]\n\tgpgsign=true\n[format]\n\tsignature=x\n\tsubjectPrefix=Y\n[i18n]\n\tcommitEncoding=latin1\n[color]\n\tui=always\n"
	for file, content := range map[string]string{".gitconfig": config, "post-checkout": "#!/bin/sh\nexit 1\n", "reference-transaction": "#!/bin/sh\nexit 1\n"} {
		if err := os.WriteFile(filepath.Join(home, file), []byte(content), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(up.Dir(), "info"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(up.Dir(), "info", "attributes"), []byte("* -diff merge=union\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	up.Git("config", "diff.renames", "copies")
	up.Git("config", "core.autocrlf", "true")
	t.Setenv("HOME", home)
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(home, ".gitconfig"))
	t.Setenv("GIT_DIR", "/nonexistent")
	t.Setenv("GIT_WORK_TREE", "/nonexistent")
	t.Setenv("GIT_INDEX_FILE", "/nonexistent")
	t.Setenv("GIT_OBJECT_DIRECTORY", "/nonexistent")
	t.Setenv("GIT_EXTERNAL_DIFF", "false")
	t.Setenv("GIT_DIFF_OPTS", "-u9")
	t.Setenv("GIT_AUTHOR_NAME", "Someone")
	t.Setenv("GIT_COMMITTER_DATE", "2001-01-01T00:00:00")
	t.Setenv("LC_ALL", "de_DE.UTF-8")
	t.Setenv("TZ", "Asia/Tokyo")
	wild := newEngine(t, up, base)
	wild.imports("ours")
	if !maps.Equal(want, wild.state()) {
		t.Error("other bytes")
	}
	if c := wild.check(); c.Verdict != verdict.Pass {
		t.Errorf("%s: %s", c.Verdict, c.Why)
	}
	r := wild.open()
	defer r.Close()
	for name, do := range map[string]func() (*Applied, error){
		"apply": func() (*Applied, error) {
			return r.Apply(t.Context(), "demo", filepath.Join(t.TempDir(), "x"), wild.source)
		},
		"edit": func() (*Applied, error) {
			return r.Edit(t.Context(), "demo", filepath.Join(t.TempDir(), "x"), wild.source)
		},
	} {
		a, err := do()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		data, err := os.ReadFile(filepath.Join(a.Dir, "moved.c"))
		if err != nil || string(data) != numbered(1, 40) {
			t.Errorf("%s: moved.c has other bytes: %q, %v", name, data, err)
		}
		data, err = os.ReadFile(filepath.Join(a.Dir, "crlf.txt"))
		if err != nil || string(data) != "one\r\ntwo\r\nthree\r\n" {
			t.Errorf("%s: crlf.txt has other bytes: %q, %v", name, data, err)
		}
	}
}

func TestImportFromAddress(t *testing.T) {
	t.Parallel()
	up, base := three(t)
	e := newEngine(t, up, base)
	server := gittest.Serve(t, filepath.Dir(up.Dir()), gittest.ServerOptions{})
	r := e.open()
	defer r.Close()
	from := From{Where: server.URL + "/repo.git", Branch: "ours", Allow: []string{"http"}, Near: up.Repo}
	im, err := r.Import(t.Context(), "demo", from)
	if err != nil || len(im.Files) != 3 || !im.Locked {
		t.Fatalf("%+v, %v", im, err)
	}
	for _, bad := range []From{{Where: "http://example.org/x", Branch: "ours"}, {Where: "ext::sh -c x://", Branch: "ours"}, {Where: "file://" + up.Dir(), Branch: "ours"}} {
		if _, err := r.Import(t.Context(), "other", bad); err == nil {
			t.Errorf("%s was taken", bad.Where)
		}
	}
}

// A submodule that a stack changes is a pin of its own.
func TestImportRefusesSubmodules(t *testing.T) {
	t.Parallel()
	up := gittest.New(t)
	base := up.Commit("main", "base", gittest.Files{"x": "1\n"})
	up.Move("ours", base)
	up.Commit("ours", "Add a submodule"+status, nil, gittest.Submodule("sub", base))
	e := newEngine(t, up, base)
	before := e.state()
	r := e.open()
	defer r.Close()
	_, err := r.Import(t.Context(), "demo", From{Where: up.Dir(), Branch: "ours"})
	wantError(t, err, verdict.Fail, "the stack moves the submodule sub to "+base.Short())
	if !maps.Equal(before, e.state()) {
		t.Error("files were touched")
	}
}

// What a folder must not have is refused with the patch that brings it.
func TestHostileTree(t *testing.T) {
	t.Parallel()
	up := gittest.New(t)
	base := up.Commit("main", "base", gittest.Files{"x": "1\n"})
	e := newEngine(t, up, base)
	link := "../.git/config"
	p := &Patch{Author: cleanTestAuthor, Message: "In" + status, Changes: []Change{{Path: ".gitmodules", NewMode: git.ModeSymlink,
		NewID: git.HashObject("blob", []byte(link)), Hunks: []Hunk{{NewStart: 1, NewCount: 1, Lines: []string{"+" + link}}}}}}
	e.put("patches/demo/in.patch", string(Render(p)))
	e.put("patches/demo/series", "in.patch\n")
	if c := e.check(); c.Verdict != verdict.Fail || !strings.Contains(c.Why, "patches/demo/in.patch: the tree is refused: \".gitmodules\": it is a symbolic link") {
		t.Errorf("%s: %s", c.Verdict, c.Why)
	}
}
