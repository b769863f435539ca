// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// EditOnto makes a work tree as Edit does, in which git is in the middle of
// rebasing the stack onto the new base of a result: the patches before its
// first conflict are there as the result has them, and the conflict is in the
// files, with all three sides. revision is what the new base was called. Where
// nothing conflicts, the tree has the result.
//
// The person finishes the rebase with git; RefreshOnto takes it back.
func (x *Session) EditOnto(ctx context.Context, r *Result, revision, dir string) (*Applied, error) {
	if x.r == nil {
		return nil, verdict.Usagef("%s is a branch: only a stack with patch files has a work tree", x.Commits.Name)
	}
	name := x.stack.Name
	old := x.Commits.Base
	if n := len(x.Commits.Patches); n > 0 {
		old = x.Commits.Patches[n-1].Commit
	}
	settled, last, conflict := r.NewBase, x.Commits.Base, false
	for i, p := range r.Patches {
		if p.Outcome == Conflicting || p.Outcome == NeedsConflicting {
			conflict = true
			break
		}
		if p.Outcome.Kept() {
			settled = p.New
		}
		last = x.Commits.Patches[i].Commit
	}
	scratch := x.Engine.s.Repo
	var refs []git.Refspec
	for ref, id := range map[string]git.ID{editBase: x.Commits.Base, editStack: old, editOnto: r.NewBase, editSettled: settled} {
		if err := scratch.SetRef(ctx, ref, id); err != nil {
			return nil, err
		}
		refs = append(refs, git.Refspec{From: ref, To: ref})
	}
	a := &Applied{Stack: name, Base: x.Commits.Base, Tip: old, Patches: len(r.Patches), Onto: r.NewBase}
	if !conflict {
		a.Tip = settled
	}
	excluded := x.r.excluded(name)
	var err error
	a.Dir, err = newFolder(dir, func(fresh string) error {
		repo, err := git.Init(ctx, filepath.Join(fresh, ".git"))
		if err == nil {
			err = repo.Borrow(ctx, x.repo)
		}
		if err == nil {
			err = repo.Fetch(ctx, git.Remote{URL: scratch.Dir(), Allow: []string{"file"}}, git.FetchSpec{Refs: refs})
		}
		if err == nil {
			err = checkOut(ctx, repo, a, fresh, excluded)
		}
		if err == nil {
			err = repo.SetRef(ctx, editStack, old)
		}
		for _, kv := range [][2]string{{"dist.onto", revision}, {"merge.conflictStyle", "diff3"}, {"rebase.backend", "merge"}} {
			if err == nil {
				_, err = repo.Output(ctx, "config", "--local", kv[0], kv[1])
			}
		}
		if err == nil && conflict {
			var c *git.Commit
			if c, err = repo.CommitInfo(ctx, string(settled)); err == nil {
				_, err = repo.LsTree(ctx, c.Tree) // and refuse what must not be on a disk
			}
		}
		if err == nil && conflict {
			a.Conflicts, err = startRebase(ctx, repo, fresh, settled, last)
		}
		return err
	})
	return a, err
}

// startRebase runs git's rebase up to its first conflict.
func startRebase(ctx context.Context, repo *git.Repo, dir string, onto, after git.ID) ([]string, error) {
	c := repo.Command("--work-tree="+dir, "-c", "user.name="+CommitterName, "-c", "user.email="+CommitterEmail, "-c", "merge.directoryRenames=false", "-c", "merge.conflictStyle=diff3",
		"rebase", "--quiet", "--merge", "--onto", string(onto), string(after))
	c.Dir = dir
	_, failed := c.Run(ctx)
	if failed == nil {
		return nil, nil // git merges what our merge leaves to a person
	}
	if _, err := os.Stat(filepath.Join(repo.Dir(), "rebase-merge")); err != nil {
		return nil, failed
	}
	c = repo.Command("--work-tree="+dir, "diff", "--name-only", "--diff-filter=U", "-z")
	c.Dir = dir
	res, err := c.Run(ctx)
	if err != nil {
		return nil, err
	}
	return strings.FieldsFunc(string(res.Stdout), func(r rune) bool { return r == 0 }), nil
}

// OntoOf returns what the new base of a work tree that EditOnto made was
// called, or "" for any other repository.
func OntoOf(ctx context.Context, dir string) (string, error) {
	repo, err := git.Open(ctx, dir)
	if err != nil {
		return "", verdict.Usagef("%s: 'dist patches edit' makes one", err)
	}
	var unknown *git.Unknown
	if _, err := repo.RevParse(ctx, editOnto); errors.As(err, &unknown) {
		return "", nil
	} else if err != nil {
		return "", err
	}
	out, err := repo.Output(ctx, "config", "--local", "dist.onto")
	return strings.TrimSuffix(string(out), "\n"), err
}

// RefreshOnto takes back a work tree of EditOnto: the person's commits become
// the stack, on the new base, and how they settled each conflict is recorded.
// lock makes the lock of the pin on the new base, and is asked once all is well;
// nil leaves the pin as it is. Stack, resolutions and lock are written together
// or not at all.
//
// Where the tree is what a rebase with these resolutions gives, its findings
// count as those of any rebase. Where the person changed more, the tree is
// taken as it is, and a note says so. Patches that upstream has by now may go;
// o.Drop is about others.
func (x *Session) RefreshOnto(ctx context.Context, o RefreshOptions, onto git.ID, lock func(context.Context) (*pins.Lock, error)) (*Imported, []*Resolution, error) {
	notes, err := x.r.checkEdited(ctx, x.stack, o)
	if err != nil {
		return nil, nil, err
	}
	edited, err := git.Open(ctx, o.From.Where)
	if err != nil {
		return nil, nil, err
	}
	made, err := edited.RevParse(ctx, editOnto)
	if err != nil {
		return nil, nil, err
	}
	if made != onto {
		return nil, nil, verdict.Usagef("%s was made for %s, and that revision is %s by now: make a new one with 'dist patches edit %s --onto REV'", o.From.Where, made.Short(), onto.Short(), x.stack.Name)
	}
	settled, err := edited.RevParse(ctx, editSettled)
	if err != nil {
		return nil, nil, err
	}
	repo, im, done, err := read(ctx, x.stack.Name, onto, o.From)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	im.Notes = append(im.Notes, notes...)
	learnt, err := x.learn(ctx, edited, onto, settled, im.Tip)
	if err != nil {
		return nil, nil, err
	}
	r, err := x.Rebase(ctx, onto)
	if err != nil {
		return nil, nil, err
	}
	im.compare(x.stack)
	fewer := len(x.stack.Patches) - len(im.Files)
	if free := r.Count(Upstreamed) + r.Count(Empty); fewer > free && fewer-free != o.Drop {
		return nil, nil, verdict.Usagef("the work tree has %d patches, the stack has %d, of which upstream has %d: if %s to go, say --allow-drop %d", len(im.Files), len(x.stack.Patches), free, gone(im.Dropped), fewer-free)
	}
	tree, err := repo.RevParse(ctx, string(im.Tip)+"^{tree}")
	if err != nil {
		return nil, nil, err
	}
	if r.Tree == tree {
		// A patch that still conflicts is one that the person let go.
		if err := r.found(); err != nil {
			return nil, nil, err
		}
	} else {
		im.Notes = append(im.Notes, "the work tree has more than settled conflicts: it was taken as it is")
	}
	for _, l := range learnt {
		if err := im.record(l); err != nil {
			return nil, nil, err
		}
	}
	if lock != nil {
		if im.lock, err = lock(ctx); err != nil {
			return nil, nil, err
		}
	}
	if err := x.mayMove(onto, im.lock); err != nil {
		return nil, nil, err
	}
	if im.lock != nil && im.lock.Commit != string(onto) {
		return nil, nil, fmt.Errorf("the new lock of stack %s is for %s, the work tree for %s", x.stack.Name, im.lock.Commit, onto)
	}
	im.Stack.Series = x.stack.Series.With("", im.Files, nil)
	return im, learnt, x.r.write(ctx, repo, im)
}
