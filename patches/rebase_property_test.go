// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
)

// Where git rebase succeeds and nothing is red, the outcome is git's, to the
// tree: on random histories with edits, renames, deletions, modes and patches
// that upstream took. Where git stops, some patch is in conflict.
func TestRebaseEqualsGitRebase(t *testing.T) {
	t.Parallel()
	clean, stopped := 0, 0
	for seed := int64(4); seed < 10; seed++ {
		random := rand.New(rand.NewSource(seed))
		s := randomScene(t, random)
		_, r := s.rebase(RebaseOptions{Bare: true})
		tree, conflicts := gitRebase(t, s)
		ours := map[git.ID]bool{}
		for _, p := range r.Patches {
			if p.Outcome == Conflicting || p.Outcome == NeedsConflicting {
				ours[p.Old] = true
			}
		}
		var explained []string
		for _, p := range r.Patches {
			// Git drops what upstream took, even when upstream took it back.
			if p.Reverted != nil || p.Outcome == ProbablyUpstream || p.Outcome == Upstreamed {
				explained = append(explained, p.File)
			}
		}
		if len(explained) > 0 {
			continue
		}
		if len(conflicts) == 0 {
			clean++
		} else {
			stopped++
		}
		if fmt.Sprint(ours) != fmt.Sprint(conflicts) {
			t.Errorf("seed %d: in conflict here %v, with git %v", seed, ours, conflicts)
		} else if r.Tree != tree {
			t.Errorf("seed %d: the tree is %s, with git %s", seed, r.Tree, tree)
		}
	}
	if clean < 3 || stopped < 3 {
		t.Errorf("%d clean and %d stopped histories prove too little", clean, stopped)
	}
}

// randomScene makes a small repository with a stack and an upstream.
func randomScene(t *testing.T, random *rand.Rand) *scene {
	files := gittest.Files{}
	var names []string
	for i := range 4 {
		name := fmt.Sprintf("dir%d/file%d.c", i%3, i)
		names = append(names, name)
		files[name] = rows(24, fmt.Sprintf("line %%d of file %d", i))
	}
	s := newScene(t, files)
	change := func(state map[string]string, who string, n int) (gittest.Files, []gittest.Option) {
		name := names[random.Intn(len(names))]
		content, ok := state[name]
		if !ok {
			name = fmt.Sprintf("dir%d/new-%s-%d.c", random.Intn(3), who, n)
			state[name] = rows(20, "new "+name+" %d")
			return gittest.Files{name: state[name]}, nil
		}
		switch random.Intn(8) {
		case 0:
			to := fmt.Sprintf("dir%d/moved-%s-%d.c", random.Intn(4), who, n)
			delete(state, name)
			state[to] = content
			return nil, []gittest.Option{gittest.Rename(name, to)}
		case 1:
			return gittest.Files{name: content}, []gittest.Option{gittest.Exec(name)}
		}
		lines := strings.SplitAfter(content, "\n")
		at := random.Intn(len(lines) - 1)
		switch random.Intn(3) {
		case 0:
			lines[at] = fmt.Sprintf("%s changed %d\n", who, n)
		case 1:
			lines[at] = ""
		default:
			lines[at] += fmt.Sprintf("%s added %d\n", who, n)
		}
		state[name] = strings.Join(lines, "")
		return gittest.Files{name: state[name]}, nil
	}
	run := func(who string, count int, commit func(string, gittest.Files, ...gittest.Option) git.ID) {
		state := map[string]string{}
		for k, v := range files {
			state[k] = v
		}
		for n := range count {
			f, o := change(state, who, n)
			commit(fmt.Sprintf("%s %d", who, n), f, o...)
		}
	}
	run("upstream", 2+random.Intn(5), s.upstream)
	run("patch", 2+random.Intn(5), s.ours)
	return s
}

// gitRebase does it with git, skipping what conflicts.
func gitRebase(t *testing.T, s *scene) (git.ID, map[git.ID]bool) {
	t.Helper()
	work := filepath.Join(t.TempDir(), "work")
	gitIn(t, "", "clone", "-q", "--shared", "-b", "ours", s.Dir(), work)
	defer os.RemoveAll(work)
	conflicts := map[git.ID]bool{}
	out, err := tryGit(work, "rebase", "--merge", "--onto", "origin/main", string(s.base))
	for n := 0; err != nil; n++ {
		head, e := tryGit(work, "rev-parse", "--verify", "-q", "REBASE_HEAD")
		if e != nil || n > 100 {
			t.Fatalf("git rebase: %s", out)
		}
		conflicts[git.ID(strings.TrimSpace(head))] = true
		out, err = tryGit(work, "rebase", "--skip")
	}
	return git.ID(gitIn(t, work, "rev-parse", "HEAD^{tree}")), conflicts
}
