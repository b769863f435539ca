// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/filelock"
	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// settledBy resolves the only conflict of a scene to a text of f.
func settledBy(t *testing.T, s *scene, text string) *Resolution {
	t.Helper()
	e := s.engine()
	tree, err := e.editTree(s.Tree(git.ID(s.Git("rev-parse", "refs/heads/main"))), map[string]git.TreeEntry{"f": blobOf(t, e, text)})
	if err != nil {
		t.Fatal(err)
	}
	stack := s.stack()
	list, err := e.RecordResolution(t.Context(), stack.Patches[0].Commit, s.Tree(git.ID(s.Git("rev-parse", "refs/heads/main"))), tree)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 {
		t.Fatalf("%d resolutions", len(list))
	}
	return list[0]
}

// stored writes a resolution's file into a stack's folder.
func stored(t *testing.T, dir string, r *Resolution) {
	t.Helper()
	data, err := r.format()
	if err == nil {
		err = os.MkdirAll(filepath.Join(dir, ResolutionsFolder), 0o777)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, ResolutionsFolder, r.Key()+".yaml"), data, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func blobOf(t *testing.T, e *Engine, text string) git.TreeEntry {
	t.Helper()
	id, err := e.s.write("blob", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return git.TreeEntry{Mode: git.ModeFile, ID: id}
}

func replaced(text string, pairs ...string) string {
	return strings.NewReplacer(pairs...).Replace(text)
}

// A resolution is found again when something else in the file changes, goes
// through its file unharmed, and lines that the person let go are no news.
func TestResolutionIsReplayed(t *testing.T) {
	t.Parallel()
	text := rows(60, "line %d.")
	s := newScene(t, gittest.Files{"f": text})
	s.ours("Both ends", gittest.Files{"f": replaced(text, "line 10.", "our 10.", "line 50.", "our 50.\xff")})
	s.upstream("Both ends too", gittest.Files{"f": replaced(text, "line 10.", "their 10.\nand theirs alone", "line 50.", "their 50.")})
	r := settledBy(t, s, replaced(text, "line 10.", "both 10.", "line 50.", "both 50."))
	if len(r.Hunks) != 2 || r.Hunks[0].Resolved != "both 10.\n" || r.Hunks[1].Patch != "our 50.\xff\n" || r.Whole != nil {
		t.Fatalf("got %+v", r)
	}
	dir := t.TempDir()
	stored(t, dir, r)
	all, err := ReadResolutions(dir)
	if err != nil || len(all) != 1 {
		t.Fatalf("%v, %v", all, err)
	}
	s.upstream("Elsewhere in f", gittest.Files{"f": replaced(text, "line 10.", "their 10.\nand theirs alone", "line 50.", "their 50.", "line 30.", "their 30.")})
	e, result := s.rebase(RebaseOptions{Resolutions: all})
	want(t, result, Moved)
	if got := content(t, e, result.Tree, "f"); got != replaced(text, "line 10.", "both 10.", "line 50.", "both 50.", "line 30.", "their 30.") {
		t.Errorf("got %q", got)
	}
	p := result.Patches[0]
	if len(p.Settlements) != 1 || p.Settlements[0].By != "resolution" || p.Settlements[0].Detail != r.Key() {
		t.Errorf("settled %+v", p.Settlements)
	}
	// Another conflict at the same place is another one.
	s.upstream("Once more", gittest.Files{"f": replaced(text, "line 10.", "something else", "line 50.", "their 50.")})
	_, result = s.rebase(RebaseOptions{Resolutions: all})
	want(t, result, Conflicting)
}

// A person who also changed the file elsewhere settled that file only.
func TestResolutionOfAWholeFile(t *testing.T) {
	t.Parallel()
	text := rows(30, "line %d.")
	s := newScene(t, gittest.Files{"f": text})
	s.ours("Ten", gittest.Files{"f": replaced(text, "line 10.", "our 10.")})
	s.upstream("Ten too", gittest.Files{"f": replaced(text, "line 10.", "their 10.")})
	outcome := replaced(text, "line 10.", "both 10.", "line 25.", "a change elsewhere")
	r := settledBy(t, s, outcome)
	if r.Whole == nil || r.Hunks != nil {
		t.Fatalf("got %+v", r)
	}
	e, result := s.rebase(RebaseOptions{Resolutions: Resolutions{r.Key(): r}})
	want(t, result, Moved)
	if got := content(t, e, result.Tree, "f"); got != outcome {
		t.Errorf("got %q", got)
	}
	s.upstream("Elsewhere", gittest.Files{"f": replaced(text, "line 10.", "their 10.", "line 2.", "their 2.")})
	_, result = s.rebase(RebaseOptions{Resolutions: Resolutions{r.Key(): r}})
	want(t, result, Conflicting)
}

func TestResolutionOfADeletedFile(t *testing.T) {
	t.Parallel()
	text := rows(30, "line %d.")
	for _, keep := range []bool{true, false} {
		s := newScene(t, gittest.Files{"f": text, "g": "x\n"})
		s.ours("Ten", gittest.Files{"f": replaced(text, "line 10.", "our 10.")})
		s.upstream("No more f", nil, gittest.Delete("f"))
		e := s.engine()
		onto := s.Tree(git.ID(s.Git("rev-parse", "refs/heads/main")))
		resolved := onto
		if keep {
			var err error
			if resolved, err = e.editTree(onto, map[string]git.TreeEntry{"f": blobOf(t, e, "kept\n")}); err != nil {
				t.Fatal(err)
			}
		}
		list, err := e.RecordResolution(t.Context(), s.stack().Patches[0].Commit, onto, resolved)
		if err != nil || len(list) != 1 {
			t.Fatalf("%v, %v", list, err)
		}
		_, result := s.rebase(RebaseOptions{Resolutions: Resolutions{list[0].Key(): list[0]}})
		if keep {
			want(t, result, Moved)
		} else {
			want(t, result, Empty)
		}
	}
}

func TestResolutionFilesAreChecked(t *testing.T) {
	t.Parallel()
	text := rows(30, "line %d.")
	s := newScene(t, gittest.Files{"f": text})
	s.ours("Ten", gittest.Files{"f": replaced(text, "line 10.", "our 10.")})
	s.upstream("Ten too", gittest.Files{"f": replaced(text, "line 10.", "their 10.")})
	r := settledBy(t, s, replaced(text, "line 10.", "both 10."))
	dir := t.TempDir()
	stored(t, dir, r)
	file := filepath.Join(dir, ResolutionsFolder, r.Key()+".yaml")
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]string{
		"more than one document": string(good) + "---\nlost: []\n",
		"was edited":             strings.Replace(string(good), "their 10.", "their 11.", 1),
		"field nonsense":         string(good) + "nonsense: 1\n",
		"does not belong":        "",
		"cannot unmarshal":       strings.Replace(string(good), "hunks:", "hunks: 5\nx:", 1),
	} {
		os.WriteFile(file, []byte(bad), 0o666)
		if name == "does not belong" {
			os.WriteFile(file, good, 0o666)
			os.WriteFile(filepath.Join(dir, ResolutionsFolder, "notes.txt"), nil, 0o666)
		}
		_, err := ReadResolutions(dir)
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
		os.Remove(filepath.Join(dir, ResolutionsFolder, "notes.txt"))
	}
	// A file that is no file, and one that was cut off anywhere.
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../x", file); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadResolutions(dir); err == nil || !strings.Contains(err.Error(), "is no regular file") {
		t.Errorf("a link: %v", err)
	}
	os.Remove(file)
	header := strings.Index(string(good), "path:")
	for n := header; n < len(good)-1; n += 7 {
		os.WriteFile(file, good[:n], 0o666)
		if all, err := ReadResolutions(dir); err == nil && all[r.Key()].Key() != r.Key() {
			t.Errorf("cut at %d: %+v", n, all)
		}
	}
	// Markers that a person left are not a resolution.
	e := s.engine()
	onto := s.Tree(git.ID(s.Git("rev-parse", "refs/heads/main")))
	unfinished, err := e.editTree(onto, map[string]git.TreeEntry{"f": blobOf(t, e, "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> mine\n")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.RecordResolution(t.Context(), s.stack().Patches[0].Commit, onto, unfinished); err == nil || !strings.Contains(err.Error(), "finish it first") {
		t.Errorf("got %v", err)
	}
}

func TestPolicies(t *testing.T) {
	t.Parallel()
	text := rows(40, "line %d.")
	ours, theirs := replaced(text, "line 10.", "our 10."), replaced(text, "line 10.", "their 10.", "line 30.", "their 30.")
	for _, x := range []struct {
		name, policy string
		delete       bool // upstream deletes the file instead
		outcome      Outcome
		result       string
	}{
		{"ours, the whole file", "{under: a/, keep: ours}", false, Moved, ours},
		{"ours, the hunks", "{under: a/, keep: ours, scope: hunks}", false, Moved, replaced(theirs, "their 10.", "our 10.")},
		{"theirs", "{under: a/, keep: theirs}", false, Empty, theirs},
		{"theirs, the hunks", "{under: a/, keep: theirs, scope: hunks}", false, Empty, theirs},
		{"another folder", "{under: b/, keep: ours}", false, Conflicting, theirs},
		{"a folder's name is no prefix", "{under: a/f, keep: ours}", false, Moved, ours},
		{"not half a name", "{under: a/f.c, keep: ours}", false, Conflicting, theirs},
		{"the longest counts", "{under: a/, keep: theirs}, {under: a/f, keep: ours}", false, Moved, ours},
		{"deleted, ours", "{under: a/, keep: ours}", true, Moved, ours},
		{"deleted, theirs", "{under: a/, keep: theirs}", true, Empty, "(absent)"},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			policy, err := ParsePolicy("policy.yaml", []byte("conflicts: ["+x.policy+"]\nlost-lines: report\n"))
			if err != nil {
				t.Fatal(err)
			}
			s := newScene(t, gittest.Files{"a/f": text, "g": "x\n"})
			s.ours("Ours", gittest.Files{"a/f": ours})
			if x.delete {
				s.upstream("Gone", nil, gittest.Delete("a/f"))
			} else {
				s.upstream("Theirs", gittest.Files{"a/f": theirs})
			}
			e, r := s.rebase(RebaseOptions{Policy: policy})
			want(t, r, x.outcome)
			if got := content(t, e, r.Tree, "a/f"); got != x.result {
				t.Errorf("got %q", got)
			}
			if x.outcome != Conflicting && len(r.Patches[0].Settlements) != 1 {
				t.Errorf("settled %+v", r.Patches[0].Settlements)
			}
		})
	}
}

func TestPolicyErrors(t *testing.T) {
	t.Parallel()
	for text, wanted := range map[string]string{
		"conflicts: [{under: /etc, keep: ours}]":                          "not a folder or file",
		"conflicts: [{under: a/../../b, keep: ours}]":                     "not a folder or file",
		"conflicts: [{keep: ours}]":                                       "not a folder or file",
		"conflicts: [{under: a/, keep: mine}]":                            "neither ours nor theirs",
		"conflicts: [{under: a/, keep: ours, scope: line}]":               "neither file nor hunks",
		"lost-lines: ignore":                                              "neither fail nor report",
		"conflict: []":                                                    "policy.yaml:1: field conflict not found",
		"\nconflicts: 5":                                                  "policy.yaml:2: cannot unmarshal",
		"conflicts: [":                                                    "policy.yaml:1: did not find",
		"lost-lines: fail\n---\nlost-lines: report":                       "more than one document",
		"lost-lines: fail\nlost-lines: report":                            "already defined",
		"conflicts: [{under: a/, keep: ours}, {under: a/, keep: theirs}]": "conflicts[1]: under: \"a/\" is there already",
	} {
		if _, err := ParsePolicy("patches/x/policy.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), wanted) || !strings.Contains(err.Error(), "patches/x/policy.yaml") {
			t.Errorf("%s: got %v", text, err)
		}
	}
	if p, err := ParsePolicy("x", nil); err != nil || !p.lostLinesFail() {
		t.Errorf("empty: %+v, %v", p, err)
	}
}

// Upstream rewrote its branch: the search begins at the fork, and what is gone
// is named.
func TestBisectRewrittenBase(t *testing.T) {
	t.Parallel()
	text := rows(30, "line %d.")
	s := newScene(t, gittest.Files{"f": text, "g": "x\n"})
	fork := s.base
	gone := s.upstream("To be rewritten", gittest.Files{"g": "y\n"})
	s.base = gone
	s.ours("Ten", gittest.Files{"f": replaced(text, "line 10.", "our 10.")})
	s.Commit("main", "Rewritten\n", gittest.Files{"g": "z\n"}, gittest.Onto(fork))
	bad := s.upstream("Ten too", gittest.Files{"f": replaced(text, "line 10.", "their 10.")})
	_, r := s.rebase(RebaseOptions{Bisect: true})
	want(t, r, Conflicting)
	if r.RewrittenCount != 1 || r.Rewritten[0].ID != gone {
		t.Errorf("rewritten %+v", r.Rewritten)
	}
	if g := r.Patches[0].Guilty; g.Commit == nil || g.Commit.ID != bad || g.Searched != 2 {
		t.Errorf("guilty %+v", g)
	}
}

// The patches before it fail at the same commit: none can be named for it
// together with them, but by itself one can.
func TestBisectAlone(t *testing.T) {
	t.Parallel()
	text := rows(30, "line %d.")
	s := newScene(t, gittest.Files{"f": text, "g": text})
	policy := &Policy{Conflicts: []PathPolicy{{Under: "g", Keep: KeepOurs, Scope: ScopeFile}}, LostLines: LostLinesReport}
	s.ours("G", gittest.Files{"g": replaced(text, "line 20.", "our 20.")})
	s.ours("F", gittest.Files{"f": replaced(text, "line 10.", "our 10.")})
	s.upstream("Fine", gittest.Files{"f": replaced(text, "line 30.", "their 30.")})
	bad := s.upstream("Both", gittest.Files{"g": replaced(text, "line 20.", "their 20."), "f": replaced(text, "line 10.", "their 10.", "line 30.", "their 30.")})
	_, r := s.rebase(RebaseOptions{Bisect: true, Policy: policy})
	want(t, r, Moved, Conflicting)
	if g := r.Patches[1].Guilty; g.Commit == nil || g.Commit.ID != bad || !g.Alone {
		t.Errorf("guilty %+v", g)
	}
}

// A thousand commits take at most 24 merges, wherever the culprit is.
func TestBisectThousand(t *testing.T) {
	t.Parallel()
	for _, at := range []int{511} {
		h := makeHistory(t, 7, 60, 1000, 12, at)
		r := rebaseMade(t, h, RebaseOptions{Bisect: true, Bare: true})
		g := r.Patches[len(r.Patches)-1].Guilty
		if g == nil || g.Commit == nil || g.Commit.Subject != "Upstream change "+strconv.Itoa(at)+" (#"+strconv.Itoa(1000+at)+")" {
			t.Fatalf("at %d: %+v", at, g)
		}
		if g.Merges > mostProbes || g.Searched != 1000 {
			t.Errorf("at %d: %d merges of %d", at, g.Merges, g.Searched)
		}
	}
}

// Bad stacks are refused by name before anything is merged.
func TestStacksThatAreNone(t *testing.T) {
	t.Parallel()
	s := newScene(t, gittest.Files{"f": "x\n"})
	one := s.ours("One", gittest.Files{"f": "y\n"})
	side := s.Commit("side", "side\n", gittest.Files{"g": "g\n"}, gittest.Onto(s.base))
	merge := s.Commit("merged", "merge\n", nil, gittest.Onto(one, side))
	if _, err := CommitsOf(t.Context(), s.Repo.Repo, "x", s.base, merge); err == nil || !strings.Contains(err.Error(), string(merge)) {
		t.Errorf("got %v", err)
	}
	stranger := s.Commit("stranger", "stranger\n", gittest.Files{"f": "z\n"}, gittest.Onto())
	if _, err := CommitsOf(t.Context(), s.Repo.Repo, "x", s.base, stranger); err == nil || !strings.Contains(err.Error(), "does not follow") {
		t.Errorf("got %v", err)
	}
	e := s.engine()
	stack := s.stack()
	if _, err := e.Rebase(t.Context(), stack, s.base, RebaseOptions{Accept: []string{"no.patch"}}); verdict.ExitCode(err) != 2 {
		t.Errorf("got %v", err)
	}
	if _, err := e.Bisect(t.Context(), stack, "no.patch", s.base, RebaseOptions{}); verdict.ExitCode(err) != 2 {
		t.Errorf("got %v", err)
	}
	if _, err := e.Bisect(t.Context(), stack, "one.patch", s.base, RebaseOptions{}); verdict.ExitCode(err) != 2 {
		t.Errorf("got %v", err)
	}
	var missing *git.MissingObject
	if _, err := e.Rebase(t.Context(), stack, "1111111111111111111111111111111111111111", RebaseOptions{}); !errors.As(err, &missing) {
		t.Errorf("got %v", err)
	}
}

// One process a merge gives the same result, and so does a second run.
func TestSpawningGivesTheSame(t *testing.T) {
	t.Parallel()
	h := makeHistory(t, 3, 60, 20, 20, 10)
	first := rebaseMade(t, h, RebaseOptions{Bisect: true})
	for _, options := range [][]EngineOption{nil, {SpawnEach()}} {
		r := rebaseMade(t, h, RebaseOptions{Bisect: true}, options...)
		if r.Tip != first.Tip || !slices.Equal(outcomes(r), outcomes(first)) {
			t.Errorf("got %s %v, want %s %v", r.Tip, outcomes(r), first.Tip, outcomes(first))
		}
	}
	e, err := NewEngine(t.Context(), h.repo)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if e.Spawns() {
		t.Error("the long-lived process did not answer")
	}
}

// What a killed run left is removed by a later one, what is in use is not.
func TestScratchOfAKilledRunIsRemoved(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{"dist-merge-killed", "dist-merge-used", "another"} {
		if err := os.MkdirAll(filepath.Join(parent, name, "repo.git"), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	lock, err := filelock.Try(filepath.Join(parent, "dist-merge-used", "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	for _, name := range []string{"dist-merge-killed", "dist-merge-used", "another"} {
		if err := os.Chtimes(filepath.Join(parent, name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(parent, "dist-merge-fresh"), 0o777); err != nil {
		t.Fatal(err)
	}
	sweep(parent, scratchName)
	var left []string
	entries, err := os.ReadDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if !slices.Equal(left, []string{"another", "dist-merge-fresh", "dist-merge-used"}) {
		t.Errorf("left: %q", left)
	}
	// So are the folders in which stacks are rebuilt.
	killed := filepath.Join(parent, "dist-patches-killed")
	if err := os.Mkdir(killed, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(killed, old, old); err != nil {
		t.Fatal(err)
	}
	dir, inUse, err := tempFolder(parent, benchName)
	if err != nil {
		t.Fatal(err)
	}
	defer inUse.Unlock()
	if err := os.Chtimes(dir, old, old); err != nil {
		t.Fatal(err)
	}
	sweep(parent, benchName)
	if _, err := os.Stat(killed); err == nil {
		t.Error("a folder of a killed run is left")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Error("a folder in use is gone")
	}
}

// A Session says which blobs must be fetched before a rebase.
func TestLackingBlobs(t *testing.T) {
	t.Parallel()
	s := newScene(t, gittest.Files{"f": rows(9, "line %d."), "g": "g\n"})
	s.ours("Patch", gittest.Files{"f": rows(9, "our line %d.")})
	middle := s.upstream("In between", gittest.Files{"f": "between\n", "h": "not asked for\n"})
	s.upstream("After", gittest.Files{"f": "after\n", "h": "after\n"})
	x, err := BranchSession(t.Context(), s.Repo.Repo, "x", s.base, git.ID(s.Git("rev-parse", "refs/heads/ours")))
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if lacking, err := x.Lacking(t.Context(), s.tip()); err != nil || len(lacking) != 0 {
		t.Errorf("%v, %v", lacking, err)
	}
	want := map[git.ID]bool{}
	for _, rev := range []string{string(s.base) + ":g", string(middle) + ":f", string(s.tip()) + ":h", string(middle) + ":h"} {
		blob := s.Git("rev-parse", rev)
		if err := os.Remove(filepath.Join(s.Dir(), "objects", blob[:2], blob[2:])); err != nil {
			t.Fatal(err)
		}
		want[git.ID(blob)] = rev != string(middle)+":h"
	}
	lacking, err := x.Lacking(t.Context(), s.tip())
	if err != nil || len(lacking) != 3 {
		t.Errorf("%v, %v", lacking, err)
	}
	for _, f := range lacking {
		if !want[f.ID] || f.Path == "" {
			t.Errorf("%+v is not needed", f)
		}
	}
}
