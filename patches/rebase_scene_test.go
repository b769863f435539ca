// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
)

// A scene is a repository with an upstream on main and a stack on ours.
type scene struct {
	*gittest.Repo
	t    *testing.T
	base git.ID
}

func newScene(t *testing.T, files gittest.Files) *scene {
	t.Helper()
	r := gittest.New(t)
	return &scene{Repo: r, t: t, base: r.Commit("main", "base\n", files)}
}

// ours adds a patch.
func (s *scene) ours(subject string, files gittest.Files, options ...gittest.Option) git.ID {
	s.t.Helper()
	if _, err := s.RevParse(s.t.Context(), "refs/heads/ours"); err != nil {
		options = append(options, gittest.Onto(s.base))
	}
	return s.Commit("ours", subject+"\n", files, options...)
}

func (s *scene) upstream(subject string, files gittest.Files, options ...gittest.Option) git.ID {
	s.t.Helper()
	return s.Commit("main", subject+"\n", files, options...)
}

func (s *scene) stack() Commits {
	s.t.Helper()
	return stackOf(s.t, s.Repo.Repo, s.base, git.ID(s.Git("rev-parse", "refs/heads/ours")))
}

func (s *scene) engine(options ...EngineOption) *Engine {
	s.t.Helper()
	// The test's own context ends before its cleanups run.
	e, err := NewEngine(context.Background(), s.Repo.Repo, options...)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if err := e.Close(); err != nil {
			s.t.Error(err)
		}
	})
	return e
}

// rebase moves the stack onto main, and checks that the repository stays as it
// was.
func (s *scene) rebase(o RebaseOptions) (*Engine, *Result) {
	s.t.Helper()
	before := s.everything()
	e := s.engine()
	r, err := e.Rebase(s.t.Context(), s.stack(), git.ID(s.Git("rev-parse", "refs/heads/main")), o)
	if err != nil {
		s.t.Fatal(err)
	}
	if after := s.everything(); after != before {
		s.t.Errorf("the repository changed:\n%s\nwas\n%s", after, before)
	}
	return e, r
}

func (s *scene) everything() string {
	return s.Git("for-each-ref") + "\n" + s.Git("cat-file", "--batch-all-objects", "--batch-check", "--unordered")
}

// content is a file of the new stack.
func content(t *testing.T, e *Engine, tree git.ID, path string) string {
	t.Helper()
	entry, err := e.entryAt(tree, path)
	if err != nil {
		t.Fatal(err)
	}
	if entry.Mode == 0 {
		return "(absent)"
	}
	b, err := e.cat.Read(entry.ID, "blob")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func outcomes(r *Result) []Outcome {
	var out []Outcome
	for _, p := range r.Patches {
		out = append(out, p.Outcome)
	}
	return out
}

func want(t *testing.T, r *Result, outcomeList ...Outcome) {
	t.Helper()
	if got := outcomes(r); !slices.Equal(got, outcomeList) {
		t.Fatalf("outcomes %q, want %q", got, outcomeList)
	}
}

func rows(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format+"\n", i+1)
	}
	return b.String()
}
