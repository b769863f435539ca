// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux && amd64

package build

import (
	"os"
	"path/filepath"
	"testing"
)

// A repository may be somebody else's: nothing that its configuration names is
// run, whatever we ask of it.
func TestCommitOfRunsNothing(t *testing.T) {
	repo := project(t, nil)
	trap := t.TempDir()
	write(t, trap, "run", "#!/bin/sh\necho \"$0 $*\" >>"+trap+"/ran\ncat\n")
	program := filepath.Join(trap, "run")
	if err := os.Chmod(program, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"filter.trap.clean", "filter.trap.smudge", "filter.trap.process", "core.fsmonitor", "gpg.program",
		"diff.external", "core.pager", "core.sshCommand", "core.editor", "credential.helper",
	} {
		gitRun(t, repo, "config", name, program)
	}
	gitRun(t, repo, "config", "log.showSignature", "true")
	write(t, repo, ".git/info/attributes", "* filter=trap\n")
	write(t, repo, ".git/hooks/post-index-change", "#!/bin/sh\n"+program+"\n")
	os.Chmod(filepath.Join(repo, ".git/hooks/post-index-change"), 0o755)
	// Its stat is another than the index has: git would read it again.
	write(t, repo, "VERSION", fixture["VERSION"])
	files := []string{"VERSION", "go.mod", "engine/version/version.go"}
	if c := commitOf(t.Context(), repo, files); len(c.ID) != 40 || c.Modified {
		t.Errorf("commit %+v, want one that is not modified", c)
	}
	if ran, err := os.ReadFile(filepath.Join(trap, "ran")); err == nil {
		t.Errorf("it ran\n%s", ran)
	}
}

func TestCommitOfSeesChanges(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(t *testing.T, repo string)
		files  []string
		want   bool
	}{
		{"none", func(*testing.T, string) {}, []string{"VERSION"}, false},
		{"of another file", func(t *testing.T, repo string) { write(t, repo, "README.md", "x") }, []string{"VERSION"}, false},
		{"in the work tree", func(t *testing.T, repo string) { write(t, repo, "VERSION", "2026.49\n") }, []string{"VERSION"}, true},
		{"staged", func(t *testing.T, repo string) { write(t, repo, "VERSION", "2026.49\n"); gitRun(t, repo, "add", "-A") }, []string{"VERSION"}, true},
		{"staged only", func(t *testing.T, repo string) {
			write(t, repo, "VERSION", "2026.49\n")
			gitRun(t, repo, "add", "-A")
			write(t, repo, "VERSION", fixture["VERSION"])
		}, []string{"VERSION"}, false},
		{"an untracked file", func(t *testing.T, repo string) { write(t, repo, "new", "x") }, []string{"VERSION", "new"}, true},
		{"an ignored file", func(t *testing.T, repo string) { write(t, repo, ".gitignore", "new"); write(t, repo, "new", "x") }, []string{"new"}, true},
		{"a file that git is told to overlook", func(t *testing.T, repo string) {
			gitRun(t, repo, "update-index", "--assume-unchanged", "VERSION")
			write(t, repo, "VERSION", "2026.49\n")
		}, []string{"VERSION"}, true},
		{"another work tree in the configuration", func(t *testing.T, repo string) { gitRun(t, repo, "config", "core.worktree", "/") }, []string{"VERSION"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			repo := project(t, nil)
			c.change(t, repo)
			if got := commitOf(t.Context(), repo, c.files); got.ID == "" || got.Modified != c.want {
				t.Errorf("%+v, want modified %v", got, c.want)
			}
		})
	}
	t.Run("sha256 names", func(t *testing.T) {
		repo := project(t, nil)
		if err := os.RemoveAll(filepath.Join(repo, ".git")); err != nil {
			t.Fatal(err)
		}
		gitRun(t, repo, "init", "-q", "--object-format=sha256")
		commitAll(t, repo)
		if got := commitOf(t.Context(), repo, []string{"VERSION"}); len(got.ID) != 64 || got.Modified {
			t.Errorf("%+v", got)
		}
	})
}
