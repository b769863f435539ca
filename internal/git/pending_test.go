// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package git_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
)

// Few objects become files, many become a pack; both must be what git itself
// would have made.
func TestPending(t *testing.T) {
	for _, n := range []int{3, 150} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			repo := gittest.New(t)
			s, err := repo.Pending(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			var entries []git.TreeEntry
			for i := range n {
				// Sizes around the borders of the pack's numbers.
				id := s.AddBlob([]byte(strings.Repeat("x", i*i%2100) + fmt.Sprint(i)))
				entries = append(entries, git.TreeEntry{Mode: git.ModeFile, Name: fmt.Sprintf("f%03d", i), ID: id})
			}
			tree, err := s.AddTree(entries)
			if err != nil {
				t.Fatal(err)
			}
			who := git.Signature{Name: "A", Email: "a@example.com", When: time.Unix(1_790_000_000, 0).UTC()}
			commit, err := s.AddCommit(git.Commit{Tree: tree, Author: who, Committer: who, Message: "m\n"})
			if err != nil {
				t.Fatal(err)
			}
			if got, err := s.ReadTree(tree); err != nil || len(got) != n {
				t.Fatalf("before the flush: %d entries, %v", len(got), err)
			}
			for range 2 { // the second one has nothing to do
				if err := s.Flush(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if s.Size() != 0 {
				t.Errorf("%d bytes are left", s.Size())
			}
			if c, err := s.Commit(commit); err != nil || c.Tree != tree {
				t.Fatalf("after the flush: %v, %v", c, err)
			}
			repo.Git("fsck", "--strict", "--no-dangling", string(commit))
			if got := len(strings.Fields(repo.Git("ls-tree", "--name-only", string(commit)))); got != n {
				t.Errorf("git sees %d files, want %d", got, n)
			}
		})
	}
}
