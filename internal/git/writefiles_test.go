// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package git_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
)

func TestWriteFiles(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	commit := r.Commit("main", "x\n", gittest.Files{"a/run.sh": "same\n", "a/b/text": "same\n", ".gitattributes": "* text eol=crlf\n"},
		gittest.Exec("a/run.sh"), gittest.Symlink("link", "a/b/text"), gittest.Submodule("sub", "1111111111111111111111111111111111111111"))
	entries, err := r.LsTree(t.Context(), r.Tree(commit))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := r.WriteFiles(t.Context(), root, entries); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a/run.sh", "a/b/text", "link"} {
		if data, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(data) != "same\n" {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	if target, err := root.Readlink("link"); err != nil || target != "a/b/text" {
		t.Errorf("link: %q, %v", target, err)
	}
	for name, want := range map[string]os.FileMode{"a/run.sh": 0o755, "a/b/text": 0o644} {
		if st, err := root.Stat(name); err != nil || st.Mode() != want {
			t.Errorf("%s: %v, %v", name, st.Mode(), err)
		}
	}
	if _, err := root.Stat("sub"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the submodule: %v", err)
	}
	if err := r.WriteFiles(t.Context(), root, entries); !errors.Is(err, os.ErrExist) {
		t.Errorf("over what is there: %v", err)
	}
	var missing *git.MissingObject
	gone := []git.Entry{{Mode: git.ModeFile, Path: "gone", ID: "2222222222222222222222222222222222222222"}}
	if err := r.WriteFiles(t.Context(), root, gone); !errors.As(err, &missing) {
		t.Errorf("a blob that is not here: %v", err)
	}
}
