// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// RefreshOptions say what Refresh may do.
type RefreshOptions struct {
	From   From
	Drop   int    // exactly so many patches fewer are expected
	Source Source // finds the upstream's repository, to see whether the stack changed since the edit
}

// Refresh replaces the patches of a stack by the commits of a repository,
// usually one that Edit made. Fewer patches than before are refused unless Drop
// says how many.
//
// In an edit tree it also refuses changes that were not committed, a rebase or
// merge that is not finished, and a stack that somebody else changed since.
func (r *Repository) Refresh(ctx context.Context, name string, o RefreshOptions) (*Imported, error) {
	s, err := r.Load(name)
	if err != nil {
		return nil, err
	}
	if _, err := s.NeedBase(); err != nil {
		return nil, err
	}
	var notes []string
	if !strings.Contains(o.From.Where, "://") {
		if notes, err = r.checkEdited(ctx, s, o); err != nil {
			return nil, err
		}
	}
	if o.From.Base != "" {
		return nil, verdict.Usagef("a refresh stays on the base of the stack; 'dist patches rebase' moves it")
	}
	repo, im, done, err := read(ctx, name, s.Base, o.From)
	if err != nil {
		return nil, err
	}
	defer done()
	im.Notes = append(im.Notes, notes...)
	im.compare(s)
	if fewer := len(s.Patches) - len(im.Files); fewer > 0 && fewer != o.Drop {
		return nil, verdict.Usagef("the branch has %d patches, the stack has %d: if %s to go, say --allow-drop %d", len(im.Files), len(s.Patches), gone(im.Dropped), fewer)
	} else if o.Drop > 0 && fewer != o.Drop {
		return nil, verdict.Usagef("--allow-drop %d was said, but %d patches would go", o.Drop, max(fewer, 0))
	}
	im.Stack.Series = s.Series.With("", im.Files, nil)
	return im, r.write(ctx, repo, im)
}

func gone(files []string) string {
	if len(files) == 1 {
		return files[0] + " is"
	}
	if len(files) > 5 {
		return fmt.Sprintf("%s and %d more are", strings.Join(files[:5], ", "), len(files)-5)
	}
	return strings.Join(files, ", ") + " are"
}

// compare says what became of the files of the stack before.
func (im *Imported) compare(before *Stack) {
	here := map[string]bool{}
	for _, p := range im.Stack.Patches {
		here[p.File] = true
		old := before.Patch(p.File)
		switch {
		case old == nil:
			im.Added = append(im.Added, p.File)
		case bytes.Equal(Render(old), Render(p)):
			im.Kept = append(im.Kept, p.File)
		default:
			im.Changed = append(im.Changed, p.File)
		}
	}
	for _, p := range before.Patches {
		if !here[p.File] {
			im.Dropped = append(im.Dropped, p.File)
		}
	}
}

// checkEdited looks at the repository that a person worked in. What it finds
// strange and not wrong are notes.
func (r *Repository) checkEdited(ctx context.Context, s *Stack, o RefreshOptions) (notes []string, err error) {
	dir, err := filepath.Abs(o.From.Where)
	if err != nil {
		return nil, err
	}
	repo, err := git.Open(ctx, dir)
	if err != nil {
		return nil, verdict.Usagef("%s", err)
	}
	for _, unfinished := range []string{"rebase-merge", "rebase-apply", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"} {
		if _, err := os.Lstat(filepath.Join(repo.Dir(), unfinished)); err == nil {
			return nil, verdict.Usagef("%s is in the middle of something (%s): finish or abort it", dir, unfinished)
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
		c := repo.Command("--work-tree="+dir, "status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=all")
		c.Dir = dir
		res, err := c.Run(ctx)
		if err != nil {
			return nil, err
		}
		untracked := 0
		for line := range strings.SplitSeq(strings.TrimSuffix(string(res.Stdout), "\x00"), "\x00") {
			switch {
			case line == "":
			case strings.HasPrefix(line, "?? "):
				untracked++
			default:
				return nil, verdict.Usagef("%s has changes that are not committed, such as %s: commit them or take them back", dir, show(line[min(3, len(line)):]))
			}
		}
		if untracked > 0 {
			notes = append(notes, fmt.Sprintf("%s: git does not know %d of its files or folders: they are in no patch", dir, untracked))
		}
	}
	was, err := repo.RevParse(ctx, editStack)
	if err != nil {
		return notes, nil // not a tree that Edit made
	}
	base, err := repo.RevParse(ctx, editBase)
	if err != nil {
		return nil, err
	}
	if base != s.Base {
		return nil, verdict.Usagef("the stack is on %s now, and %s was made on %s: make a new one with 'dist patches edit %s' and carry the work over", s.Base.Short(), dir, base.Short(), s.Name)
	}
	bench, done, err := newBench(ctx, repo)
	if err != nil {
		return nil, err
	}
	defer done()
	commits, _, err := Rebuild(ctx, bench, s.Base, s)
	if err != nil {
		return nil, err
	}
	now := s.Base
	if n := len(commits); n > 0 {
		now = commits[n-1]
	}
	if now != was {
		return nil, verdict.Usagef("the stack was changed since %s was made: make a new one with 'dist patches edit %s' and carry the work over", dir, s.Name)
	}
	return notes, nil
}
