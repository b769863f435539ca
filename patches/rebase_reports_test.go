// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// Report 1, https://github.com/opnsense/ports/issues/161: two functions have
// the same three lines around the change, and upstream rewrites the one that
// the patch is for. git apply, git am and patch put it into the other one.
func TestReport01SharedContext(t *testing.T) {
	t.Parallel()
	body := "    lock();\n    prepare();\n    begin();\n    run();\n    end();\n    unlock();\n    done();\n"
	first, second := "int first(void) {\n"+body+"}\n\n", "int second(void) {\n"+body+"}\n\n"
	gap := rows(30, "/* between %d */")
	s := newScene(t, gittest.Files{"f.c": first + gap + second})
	s.ours("Check in second", gittest.Files{"f.c": first + gap + strings.Replace(second, "    run();\n", "    check_it();\n    run();\n", 1)})
	s.upstream("Rewrite second", gittest.Files{"f.c": first + gap + "int second(void) {\n    return entirely_new();\n}\n\n"})
	e, r := s.rebase(RebaseOptions{Bisect: true})
	want(t, r, Conflicting)
	if got := content(t, e, r.Tree, "f.c"); strings.Contains(got, "check_it") {
		t.Errorf("the patch was put somewhere:\n%s", got)
	}
	if g := r.Patches[0].Guilty; g == nil || g.Commit == nil || g.Commit.Subject != "Rewrite second" {
		t.Errorf("guilty: %+v", g)
	}
	var c *Conflict
	if !errors.As(r.Err(), &c) || c.Patch != "check-in-second.patch" || !slices.Equal(c.Files, []string{"f.c"}) {
		t.Errorf("got %v", r.Err())
	}
}

// The same kind, where git merges without a conflict: upstream moved the
// function and put one with the same body in its place.
func TestReport01WrongPlaceWithoutConflict(t *testing.T) {
	t.Parallel()
	body := func(name string) string {
		return "int " + name + "(void) {\n    lock();\n    prepare();\n    begin();\n    run();\n    end();\n    unlock();\n    done();\n}\n\n"
	}
	patched := strings.Replace(body("second"), "    run();\n", "    check_it();\n    run();\n", 1)
	head, gap := rows(20, "/* head %d */"), rows(40, "/* between %d */")
	s := newScene(t, gittest.Files{"f.c": head + body("second") + gap})
	s.ours("Check in second", gittest.Files{"f.c": head + patched + gap})
	s.upstream("Move second down", gittest.Files{"f.c": head + body("other") + gap + "int second(void) {\n    return short_now();\n}\n"})
	e, r := s.rebase(RebaseOptions{})
	want(t, r, WrongPlace)
	m := r.Patches[0].Misplaced
	if len(m) != 1 || !strings.Contains(m[0].Before, "second") || !strings.Contains(m[0].After, "other") {
		t.Errorf("misplaced %+v", m)
	}
	if r.Verdict() != verdict.Conflict {
		t.Errorf("verdict %s", r.Verdict())
	}
	if got := content(t, e, r.Tree, "f.c"); !strings.Contains(got, "check_it") {
		t.Error("git did not merge this; the case tests nothing")
	}
	if _, r := s.rebase(RebaseOptions{Accept: []string{"check-in-second.patch"}}); r.Verdict() != verdict.Pass || r.Patches[0].Accepted != WrongPlace {
		t.Errorf("accepted: %s, %+v", r.Verdict(), r.Patches[0])
	}
}

// A function that was renamed, moved, indented or given another head is the
// same one.
func TestSameFunctionIsNoWrongPlace(t *testing.T) {
	t.Parallel()
	fn := func(head, extra string) string {
		return head + " {\n    lock();\n    prepare();\n" + extra + "    begin();\n    run();\n    end();\n}\n\n"
	}
	other := "int other(void) {\n" + rows(10, "    step_%d();") + "}\n\n"
	for name, upstream := range map[string]string{
		"renamed":      "first(int a)",
		"another head": "static bool second(int a, int b)",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, gittest.Files{"f.c": other + fn("int second(int a)", "")})
			s.ours("Check", gittest.Files{"f.c": other + strings.Replace(fn("int second(int a)", ""), "    run();\n", "    run();\n    check_it();\n", 1)})
			s.upstream("Change the head", gittest.Files{"f.c": other + fn("int "+upstream, "")})
			_, r := s.rebase(RebaseOptions{})
			want(t, r, Moved)
		})
	}
}

// Report 2, https://github.com/git-for-windows/git/issues/2093: upstream added
// our line elsewhere in the file, git rebase succeeds, and it is there twice.
func TestReport02AddedElsewhere(t *testing.T) {
	t.Parallel()
	text := rows(40, "    case %d: return value;")
	ourLine := "    register_backend(reg, ggml_backend_new_reg());\n"
	s := newScene(t, gittest.Files{"f.c": text})
	s.ours("Register the backend", gittest.Files{"f.c": strings.Replace(text, "    case 30:", ourLine+"    case 30:", 1)})
	s.upstream("Register it too", gittest.Files{"f.c": strings.Replace(text, "    case 5:", ourLine+"    case 5:", 1)})
	e, r := s.rebase(RebaseOptions{})
	want(t, r, ProbablyUpstream)
	if n := strings.Count(content(t, e, r.Tree, "f.c"), "register_backend"); n != 2 {
		t.Fatalf("%d times: the case tests nothing", n)
	}
	d := r.Patches[0].Duplicates
	if len(d) != 1 || d[0].Line != 31 || d[0].OtherRow != 5 || d[0].Path != "f.c" || !d[0].Block {
		t.Errorf("duplicates %+v", d)
	}
	if r.Verdict() != verdict.Fail {
		t.Errorf("verdict %s", r.Verdict())
	}
}

// The same kind across files: upstream put our function into another file.
func TestReport02AddedInAnotherFile(t *testing.T) {
	t.Parallel()
	fn := "static void quantize_rows(float * x) {\n    for (int row = 0; row < rows; row++) {\n        scale_of_row(x, row);\n        store_quants(x, row);\n        check_the_result(x);\n    }\n}\n"
	s := newScene(t, gittest.Files{"a.c": rows(20, "int a%d;"), "b.c": rows(20, "int b%d;")})
	s.ours("Quantize rows", gittest.Files{"a.c": rows(20, "int a%d;") + fn})
	s.upstream("Rows", gittest.Files{"b.c": rows(20, "int b%d;") + fn})
	_, r := s.rebase(RebaseOptions{})
	want(t, r, ProbablyUpstream)
	if d := r.Patches[0].Duplicates; len(d) < 5 || d[0].Path != "a.c" || d[0].Other != "b.c" {
		t.Errorf("duplicates %+v", d)
	}
}

// Report 3, https://github.com/packit/packit/issues/2346 and
// https://github.com/nix-community/nixpkgs-update/issues/191: upstream took our
// commit unchanged.
func TestReport03TakenUnchanged(t *testing.T) {
	t.Parallel()
	text := rows(20, "line %d of the file")
	changed := strings.Replace(text, "line 10", "changed line 10", 1)
	s := newScene(t, gittest.Files{"f": text, "g": "x\n"})
	s.ours("Change ten", gittest.Files{"f": changed})
	s.upstream("Something else", gittest.Files{"g": "y\n"})
	taken := s.upstream("Change ten (#77)", gittest.Files{"f": changed})
	_, r := s.rebase(RebaseOptions{})
	want(t, r, Upstreamed)
	p := r.Patches[0]
	if p.Upstream == nil || p.Upstream.ID != taken || p.Upstream.PullRequest != "77" || !p.Exact || p.New != "" {
		t.Errorf("got %+v", p)
	}
	if r.Tip != r.NewBase || r.Verdict() != verdict.Pass {
		t.Errorf("tip %s, verdict %s", r.Tip, r.Verdict())
	}
}

// Upstream went on from there, so that the patch alone would conflict.
func TestReport03TakenAndChangedAgain(t *testing.T) {
	t.Parallel()
	text := rows(20, "line %d of the file")
	changed := strings.Replace(text, "line 10", "changed line 10", 1)
	s := newScene(t, gittest.Files{"f": text})
	s.ours("Change ten", gittest.Files{"f": changed})
	taken := s.upstream("Change ten", gittest.Files{"f": changed})
	s.upstream("And again", gittest.Files{"f": strings.Replace(changed, "changed line 10", "wholly other line 10", 1)})
	_, r := s.rebase(RebaseOptions{Bisect: true})
	want(t, r, Upstreamed)
	if r.Patches[0].Upstream.ID != taken {
		t.Errorf("got %+v", r.Patches[0])
	}
}

// What upstream took and took back is still ours; git rebase would drop it.
func TestReport03TakenAndReverted(t *testing.T) {
	t.Parallel()
	text := rows(20, "line %d of the file")
	changed := strings.Replace(text, "line 10", "changed line 10", 1)
	s := newScene(t, gittest.Files{"f": text})
	s.ours("Change ten", gittest.Files{"f": changed})
	s.upstream("Change ten", gittest.Files{"f": changed})
	back := s.upstream("Revert \"Change ten\"", gittest.Files{"f": text})
	s.upstream("Something else", gittest.Files{"f": strings.Replace(text, "line 19", "other line 19", 1)})
	_, r := s.rebase(RebaseOptions{})
	want(t, r, Moved)
	if u := r.Patches[0].Reverted; u == nil || u.ID != back {
		t.Errorf("got %+v", r.Patches[0])
	}
}

// Upstream took it with edits: the two are paired by similarity.
func TestUpstreamedWithEdits(t *testing.T) {
	t.Parallel()
	text := rows(30, "line %d of the file")
	ours := strings.Replace(text, "line 10 of the file\n", "the first added line\nthe second added line\nthe third added line\n", 1)
	theirs := strings.Replace(ours, "line 12 of the file\n", "edited by upstream\nline 12 of the file\n", 1)
	s := newScene(t, gittest.Files{"f": text})
	s.ours("Add three lines", gittest.Files{"f": ours})
	taken := s.upstream("Add three lines, edited", gittest.Files{"f": theirs})
	_, r := s.rebase(RebaseOptions{})
	want(t, r, Upstreamed)
	p := r.Patches[0]
	if p.Upstream.ID != taken || p.Exact || !strings.Contains(p.SideBySide, "edited by upstream") {
		t.Errorf("got %+v", p)
	}
}

// Report 4, https://github.com/microsoft/go-infra/issues/573: of three patches
// upstream took the second; every patch keeps its own text.
func TestReport04SecondOfThree(t *testing.T) {
	t.Parallel()
	s := newScene(t, gittest.Files{"f": rows(60, "line %d"), "g": "x\n"})
	edit := func(text string, n int) string {
		return strings.Replace(text, fmt.Sprintf("line %d\n", n), fmt.Sprintf("patched line number %d\n", n), 1)
	}
	one := edit(rows(60, "line %d"), 10)
	two := edit(one, 30)
	s.ours("One", gittest.Files{"f": one})
	s.ours("Two", gittest.Files{"f": two})
	s.ours("Three", gittest.Files{"f": edit(two, 50)})
	s.upstream("Two", gittest.Files{"f": edit(rows(60, "line %d"), 30)})
	e, r := s.rebase(RebaseOptions{})
	want(t, r, Moved, Upstreamed, Unchanged)
	for i, n := range map[int]int{0: 10, 2: 50} {
		p := r.Patches[i]
		c, err := e.commitAt(p.New)
		if err != nil {
			t.Fatal(err)
		}
		parent, _ := e.commitAt(c.Parents[0])
		d, err := e.diffTrees(parent.Tree, c.Tree)
		if err != nil || len(d) != 1 {
			t.Fatalf("%v, %v", d, err)
		}
		lines, _ := e.lines(d[0])
		if lines[fmt.Sprintf("+patched line number %d", n)] != 1 || lines.size() != 1 {
			t.Errorf("%s has the text %v", p.File, lines)
		}
		if c.Subject() != map[int]string{0: "One", 2: "Three"}[i] {
			t.Errorf("%s has the subject %q", p.File, c.Subject())
		}
	}
}

// Report 5, https://github.com/ollama/ollama/issues/15601: half of the patches
// fail; there is a verdict for each, not only for the first.
func TestReport05VerdictForEach(t *testing.T) {
	t.Parallel()
	files := gittest.Files{}
	for i := range 12 {
		files[fmt.Sprintf("f%02d", i)] = rows(9, "line %d")
	}
	s := newScene(t, files)
	upstream := gittest.Files{}
	var wanted []Outcome
	for i := range 12 {
		name := fmt.Sprintf("f%02d", i)
		s.ours(fmt.Sprintf("Patch %d", i), gittest.Files{name: strings.Replace(files[name], "line 5", "our line", 1)})
		switch i % 3 {
		case 0:
			upstream[name] = strings.Replace(files[name], "line 5", "their line", 1)
			wanted = append(wanted, Conflicting)
		case 1:
			upstream[name] = strings.Replace(files[name], "line 1\n", "their line 1\n", 1)
			wanted = append(wanted, Moved)
		default:
			wanted = append(wanted, Unchanged)
		}
	}
	s.upstream("Four months later", upstream)
	_, r := s.rebase(RebaseOptions{Bisect: true})
	want(t, r, wanted...)
	for _, p := range r.Patches {
		if p.Outcome == Conflicting && (len(p.Files) != 1 || p.Guilty == nil || p.Guilty.Commit == nil || p.Hunks == "") {
			t.Errorf("%s: %+v", p.File, p)
		}
	}
}

// A blob that the repository lacks is an error that names it, never a guess.
func TestReport05LackingBlob(t *testing.T) {
	t.Parallel()
	text := rows(20, "line %d")
	s := newScene(t, gittest.Files{"f": text})
	s.ours("Patch", gittest.Files{"f": strings.Replace(text, "line 15", "ours", 1)})
	s.upstream("Upstream", gittest.Files{"f": strings.Replace(text, "line 2\n", "theirs\n", 1)})
	stack, onto := s.stack(), git.ID(s.Git("rev-parse", "refs/heads/main"))
	blob := s.Git("rev-parse", string(s.base)+":f")
	if err := os.Remove(filepath.Join(s.Dir(), "objects", blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	_, err := s.engine().Rebase(t.Context(), stack, onto, RebaseOptions{})
	if err == nil || !strings.Contains(err.Error(), blob) || !strings.Contains(err.Error(), "patch.patch: f: ") {
		t.Errorf("got %v", err)
	}
}

// A blob that is lacking and that no patch is about, such as a large file that
// the pin excludes, is in nobody's way, though git would read it to follow
// renames.
func TestReport05LackingBlobElsewhere(t *testing.T) {
	t.Parallel()
	text := rows(20, "line %d")
	s := newScene(t, gittest.Files{"f": text, "gone": text})
	s.ours("Patch", gittest.Files{"gone": strings.Replace(text, "line 15", "ours", 1)})
	s.ours("Fine", gittest.Files{"f": strings.Replace(text, "line 15", "ours", 1)})
	s.upstream("Upstream", gittest.Files{"f": strings.Replace(text, "line 2\n", "theirs\n", 1), "model.bin": rows(20, "weights %d")}, gittest.Delete("gone"))
	stack, onto := s.stack(), git.ID(s.Git("rev-parse", "refs/heads/main"))
	blob := s.Git("rev-parse", string(onto)+":model.bin")
	if err := os.Remove(filepath.Join(s.Dir(), "objects", blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	for _, options := range [][]EngineOption{nil, {SpawnEach()}} {
		r, err := s.engine(options...).Rebase(t.Context(), stack, onto, RebaseOptions{Bisect: true})
		if err != nil {
			t.Fatal(err)
		}
		want(t, r, Conflicting, Moved)
		if g := r.Patches[0].Guilty; g.Commit == nil || g.Commit.ID != onto {
			t.Errorf("guilty %+v", g)
		}
	}
}

// Report 6, openshift-eng/rebasebot ec99b6c: a conflict in a list is settled
// "ours" and upstream's new entry vanishes.
func TestReport06LostLines(t *testing.T) {
	t.Parallel()
	list := "backends:\n- cpu\n- cuda\n- metal\n"
	for _, x := range []struct {
		name, policy, ours, theirs string
		outcome                    Outcome
		lost                       []string
		result                     string
	}{
		{"an entry", "", "- cpu\n- cuda\n- hrx\n", "- cpu\n- cuda\n- vulkan\n", LostLines, []string{"- vulkan"}, ""},
		{"reported only", "lost-lines: report\n", "- cpu\n- cuda\n- hrx\n", "- cpu\n- cuda\n- vulkan\n", Moved, []string{"- vulkan"}, ""},
		{"a duplicate", "", "- cpu\n- hrx\n- metal\n", "- cpu\n- cuda\n- x\n- x\n- metal\n", LostLines, []string{"- x", "- x"}, ""},
		{"the order", "", "- b\n- a\n", "- a\n- b\n", LostLines, []string{"- a"}, ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			policy, err := ParsePolicy("policy.yaml", []byte("conflicts:\n- {under: lists/, keep: ours}\n"+x.policy))
			if err != nil {
				t.Fatal(err)
			}
			s := newScene(t, gittest.Files{"lists/a": list, "b": "x\n"})
			s.ours("Our entry", gittest.Files{"lists/a": "backends:\n" + x.ours})
			s.upstream("Their entry", gittest.Files{"lists/a": "backends:\n" + x.theirs})
			e, r := s.rebase(RebaseOptions{Policy: policy})
			want(t, r, x.outcome)
			var lost []string
			for _, l := range r.Patches[0].Lost {
				lost = append(lost, l.Text)
			}
			if !slices.Equal(lost, x.lost) {
				t.Errorf("lost %q, want %q", lost, x.lost)
			}
			if got := content(t, e, r.Tree, "lists/a"); got != "backends:\n"+x.ours {
				t.Errorf("got %q", got)
			}
		})
	}
}

// Report 7, https://github.com/electron/electron/issues/28360: CRLF is kept.
func TestReport07CarriageReturns(t *testing.T) {
	t.Parallel()
	crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	text := rows(30, "line %d")
	s := newScene(t, gittest.Files{"f": crlf(text), ".gitattributes": "* text=auto eol=lf\n"})
	s.ours("Change", gittest.Files{"f": crlf(strings.Replace(text, "line 25", "our line", 1))})
	s.upstream("Change too", gittest.Files{"f": crlf(strings.Replace(text, "line 2\n", "their line\n", 1))})
	e, r := s.rebase(RebaseOptions{})
	want(t, r, Moved)
	wanted := crlf(strings.Replace(strings.Replace(text, "line 25", "our line", 1), "line 2\n", "their line\n", 1))
	if got := content(t, e, r.Tree, "f"); got != wanted {
		t.Errorf("got %q", got)
	}
}

// Report 8: a renamed file is followed, a mode and a binary file are applied, a
// patch of which nothing is left is dropped with a note.
func TestReport08RenameModeBinaryEmpty(t *testing.T) {
	t.Parallel()
	text := rows(40, "line %d of a longer file")
	s := newScene(t, gittest.Files{"old/name.c": text, "run.sh": "#!/bin/sh\n", "logo": "a\x00b", "gone": "x\ny\nz\n", "other": "x\n"})
	s.ours("Follow me", gittest.Files{"old/name.c": strings.Replace(text, "line 20 ", "our line 20 ", 1)})
	s.ours("Mode", gittest.Files{"run.sh": "#!/bin/sh\n"}, gittest.Exec("run.sh"))
	s.ours("Binary", gittest.Files{"logo": "a\x00c"})
	s.ours("Becomes empty", gittest.Files{"gone": "x\nz\n"})
	s.upstream("Rename", gittest.Files{"old/name.c": strings.Replace(text, "line 2 ", "their line 2 ", 1)}, gittest.Rename("old/name.c", "new/name.c"))
	s.Commit("main", "Edit after the rename\n", gittest.Files{"new/name.c": strings.Replace(text, "line 2 ", "their line 2 ", 1), "gone": "first\nx\nz\n"}, gittest.Delete("old/name.c"))
	e, r := s.rebase(RebaseOptions{})
	want(t, r, Moved, Unchanged, Unchanged, Empty)
	if f := r.Patches[0].Followed; len(f) != 1 || f[0] != (Followed{"old/name.c", "new/name.c"}) {
		t.Errorf("followed %+v", f)
	}
	if got := content(t, e, r.Tree, "new/name.c"); !strings.Contains(got, "our line 20") || !strings.Contains(got, "their line 2 ") {
		t.Error("the renamed file lacks one side")
	}
	if entry, _ := e.entryAt(r.Tree, "run.sh"); entry.Mode != git.ModeExecutable {
		t.Errorf("mode %s", entry.Mode)
	}
	if got := content(t, e, r.Tree, "logo"); got != "a\x00c" {
		t.Errorf("logo %q", got)
	}
}

// Report 9, https://github.com/electron/electron/issues/15389 and 50121,
// https://github.com/microsoft/go/issues/1233: the user's configuration and
// that of the repository change nothing.
func TestReport09Configuration(t *testing.T) {
	home := t.TempDir()
	config := "[diff]\n\trenames = copies\n\talgorithm = patience\n\tcontext = 0\n[am]\n\tthreeWay = true\n[merge]\n\trenames = false\n\tconflictStyle = merge\n\trenormalize = true\n[core]\n\tautocrlf = true\n\tattributesFile = " + home + "/attributes\n"
	build := func() *scene {
		text := rows(40, "line %d of a longer file")
		s := newScene(t, gittest.Files{"a.c": text, "b": "1\n2\n3\n", ".gitattributes": "* merge=union -text\n"})
		s.ours("Edit", gittest.Files{"a.c": strings.Replace(text, "line 20 ", "our line 20 ", 1)})
		s.ours("Conflict", gittest.Files{"b": "1\nours\n3\n"})
		s.upstream("Rename", nil, gittest.Rename("a.c", "moved.c"))
		s.upstream("Conflict too", gittest.Files{"b": "1\ntheirs\n3\n"})
		return s
	}
	s := build()
	_, plain := s.rebase(RebaseOptions{Bisect: true})
	want(t, plain, Moved, Conflicting)
	os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o666)
	os.WriteFile(filepath.Join(home, "attributes"), []byte("* merge=union\n"), 0o666)
	t.Setenv("HOME", home)
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "merge.renames")
	t.Setenv("GIT_CONFIG_VALUE_0", "false")
	t.Setenv("GIT_DIR", home)
	s = build()
	f, err := os.OpenFile(filepath.Join(s.Dir(), "config"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString(config)
	f.Close()
	os.MkdirAll(filepath.Join(s.Dir(), "info"), 0o777)
	os.WriteFile(filepath.Join(s.Dir(), "info", "attributes"), []byte("* merge=union\n"), 0o666)
	_, configured := s.rebase(RebaseOptions{Bisect: true})
	if configured.Tip != plain.Tip || !slices.Equal(outcomes(configured), outcomes(plain)) || configured.Patches[1].Hunks != plain.Patches[1].Hunks {
		t.Errorf("got %+v, want %+v", configured, plain)
	}
}

// Report 28, the reference engine: a rebase died at the first of 159 commits.
// One run tells the whole story, and what only repeats the first conflict is
// told from what is one by itself.
func TestReport28GoesOnPastAConflict(t *testing.T) {
	t.Parallel()
	text := rows(30, "line %d")
	s := newScene(t, gittest.Files{"f": text, "g": text, "h": text})
	one := strings.Replace(text, "line 10\n", "our ten\n", 1)
	s.ours("First", gittest.Files{"f": one})
	s.ours("On top of the first", gittest.Files{"f": strings.Replace(one, "our ten\n", "our ten\nand more\n", 1)})
	s.ours("By itself", gittest.Files{"g": strings.Replace(text, "line 20\n", "our twenty\n", 1)})
	s.ours("Elsewhere in f", gittest.Files{"f": strings.Replace(strings.Replace(one, "our ten\n", "our ten\nand more\n", 1), "line 25\n", "our 25\n", 1)})
	s.ours("A fine one", gittest.Files{"h": strings.Replace(text, "line 5\n", "our five\n", 1)})
	first := s.upstream("Breaks f", gittest.Files{"f": strings.Replace(text, "line 10\n", "their ten\n", 1)})
	s.upstream("In between", gittest.Files{"h": strings.Replace(text, "line 29\n", "their 29\n", 1)})
	second := s.upstream("Breaks g (#12)", gittest.Files{"g": strings.Replace(text, "line 20\n", "their twenty\n", 1)})
	e, r := s.rebase(RebaseOptions{Bisect: true})
	want(t, r, Conflicting, NeedsConflicting, Conflicting, Moved, Moved)
	if n := r.Patches[1].Needs; !slices.Equal(n, []string{"first.patch"}) {
		t.Errorf("needs %q", n)
	}
	if g := r.Patches[0].Guilty; g.Commit == nil || g.Commit.ID != first {
		t.Errorf("first: %+v", g)
	}
	if g := r.Patches[2].Guilty; g.Commit == nil || g.Commit.ID != second || g.Commit.PullRequest != "12" || g.Merges > mostProbes || g.Searched != 3 {
		t.Errorf("third: %+v", g)
	}
	if got := content(t, e, r.Tree, "f"); !strings.Contains(got, "our 25") || !strings.Contains(got, "their ten") || strings.Contains(got, "our ten") {
		t.Errorf("f is %q", got)
	}
	if h := r.Patches[0].Hunks; !strings.Contains(h, "--- upstream\ntheir ten") || !strings.Contains(h, "--- base\nline 10") || !strings.Contains(h, "--- patch\nour ten") {
		t.Errorf("hunks:\n%s", h)
	}
}
