// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build realhistory

package patches

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/git"
)

// TestRealHistory compares Rebase with git rebase on real branches. It needs a
// bare repository in REAL_REPOSITORY and a file in REAL_STACKS with one stack a
// line: a name, base, tip and new base. Run it with
//
//	go test -tags realhistory -run TestRealHistory -v -timeout 1h ./patches
//
// git rebase is told to skip each commit that conflicts, so that both tell the
// whole story. Each line of the table must be the same, or explained.
func TestRealHistory(t *testing.T) {
	repository, list := os.Getenv("REAL_REPOSITORY"), os.Getenv("REAL_STACKS")
	if repository == "" || list == "" {
		t.Fatal("set REAL_REPOSITORY and REAL_STACKS")
	}
	repo, err := git.Open(t.Context(), repository)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(list)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for in := bufio.NewScanner(f); in.Scan(); {
		w := strings.Fields(in.Text())
		if len(w) != 4 {
			t.Fatalf("%q is not: name base tip onto", in.Text())
		}
		id := func(rev string) git.ID {
			c, err := repo.CommitInfo(t.Context(), rev)
			if err != nil {
				t.Fatal(err)
			}
			return c.ID
		}
		compareReal(t, repo, w[0], id(w[1]), id(w[2]), id(w[3]))
	}
}

func compareReal(t *testing.T, repo *git.Repo, name string, base, tip, onto git.ID) {
	stack, err := CommitsOf(t.Context(), repo, name, base, tip)
	if err != nil {
		t.Logf("%-40s not a stack: %v", name, err)
		return
	}
	begin := time.Now()
	e, err := NewEngine(t.Context(), repo)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	r, err := e.Rebase(t.Context(), stack, onto, RebaseOptions{Bisect: true})
	if err != nil {
		t.Errorf("%-40s %v", name, err)
		return
	}
	ours := time.Since(begin)
	begin = time.Now()
	theirs := realRebase(t, repo, base, tip, onto)
	took := time.Since(begin)

	counts := ""
	for _, o := range []Outcome{Unchanged, Moved, Upstreamed, Empty, ProbablyUpstream, WrongPlace, Conflicting, NeedsConflicting} {
		counts += fmt.Sprintf(" %3d", r.Count(o))
	}
	same := "same tree"
	if r.Tree != theirs.tree {
		same = "OTHER TREE"
	}
	upstream, err := repo.RevList(t.Context(), git.Range{From: []git.ID{r.OldBase}, To: onto})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("ROW %-36s %4d upstream |%s | git: %d conflicts, %d dropped | %s | %.2fs, git %.2fs", name, len(upstream), counts, len(theirs.skipped), theirs.dropped, same, ours.Seconds(), took.Seconds())
	for _, p := range r.Patches {
		if p.Outcome == Unchanged || p.Outcome == Moved && len(p.Duplicates) == 0 && p.Reverted == nil {
			if theirs.skipped[p.Old] {
				t.Logf("    DIFFERS %s: %s, git: conflict", p.File, p.Outcome)
			}
			continue
		}
		left := p.Outcome == Conflicting || p.Outcome == NeedsConflicting
		note := ""
		if left != theirs.skipped[p.Old] {
			note = " DIFFERS FROM GIT"
		}
		t.Logf("    %s: %s%s %q", p.File, p.Outcome, note, p.Files)
		if p.Upstream != nil {
			t.Logf("        upstream %s %s exact=%t", p.Upstream.ID.Short(), p.Upstream.Subject, p.Exact)
		}
		if p.Reverted != nil {
			t.Logf("        reverted by %s %s", p.Reverted.ID.Short(), p.Reverted.Subject)
		}
		for i, d := range p.Duplicates {
			if i < 4 {
				t.Logf("        twice %s:%d and %s:%d block=%t %s", d.Path, d.Line, d.Other, d.OtherRow, d.Block, d.Text)
			}
		}
		for _, m := range p.Misplaced {
			t.Logf("        place %s:%d before %q after %q", m.Path, m.Line, m.Before, m.After)
		}
		if len(p.Needs) > 0 {
			t.Logf("        needs %q", p.Needs)
		}
		if g := p.Guilty; g != nil {
			if g.Commit != nil {
				t.Logf("        guilty %s #%s %s (of %d, %d merges, alone=%t)", g.Commit.ID.Short(), g.Commit.PullRequest, g.Commit.Subject, g.Searched, g.Merges, g.Alone)
			} else {
				t.Logf("        guilty none: %s (of %d, %d merges)", g.Why, g.Searched, g.Merges)
			}
		}
	}
}

type realOutcome struct {
	tree    git.ID
	skipped map[git.ID]bool
	dropped int
}

// realRebase does the same with git rebase, in a work tree without files: git
// writes only those that conflict.
func realRebase(t *testing.T, repo *git.Repo, base, tip, onto git.ID) realOutcome {
	work := filepath.Join(t.TempDir(), "work")
	gitIn(t, "", "clone", "-q", "--shared", "--no-checkout", repo.Dir(), work)
	defer os.RemoveAll(work)
	gitIn(t, work, "config", "gc.auto", "0")
	gitIn(t, work, "sparse-checkout", "set", "--no-cone", "/nothing-is-called-so")
	gitIn(t, work, "checkout", "-q", "--detach", string(tip))
	out := realOutcome{skipped: map[git.ID]bool{}}
	said, err := tryGit(work, "rebase", "--merge", "--onto", string(onto), string(base))
	for range 1000 {
		if strings.Contains(said, "dropping ") {
			out.dropped += strings.Count(said, "dropping ")
		}
		if err == nil {
			break
		}
		head, e := tryGit(work, "rev-parse", "--verify", "-q", "REBASE_HEAD")
		if e != nil {
			t.Logf("git rebase: %s", said)
			break
		}
		out.skipped[git.ID(strings.TrimSpace(head))] = true
		said, err = tryGit(work, "rebase", "--skip")
	}
	out.tree = git.ID(gitIn(t, work, "rev-parse", "HEAD^{tree}"))
	return out
}
