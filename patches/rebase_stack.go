// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// A Session is an engine with one of our stacks on it, as commits.
type Session struct {
	Engine  *Engine
	Commits Commits
	Options RebaseOptions // with the stack's policy and resolutions

	r     *Repository // nil for a stack that is a branch
	stack *Stack
	repo  *git.Repo // the upstream's
}

// Session rebuilds a stack of this repository on its base, in a new engine on
// the upstream's repository, which is only read. It must be closed.
func (r *Repository) Session(ctx context.Context, name string, source Source, options ...EngineOption) (*Session, error) {
	s, err := r.Load(name)
	if err != nil {
		return nil, err
	}
	base, err := s.NeedBase()
	if err != nil {
		return nil, err
	}
	repo, err := source(ctx, r.PinOf(name), name)
	if err != nil {
		return nil, err
	}
	x := &Session{r: r, stack: s, repo: repo, Commits: Commits{Name: name, Base: base}}
	if x.Options.Policy, err = ReadPolicy(s.Dir); err != nil {
		return nil, err
	}
	if x.Options.Resolutions, err = ReadResolutions(s.Dir); err != nil {
		return nil, err
	}
	if x.Engine, err = NewEngine(ctx, repo, options...); err != nil {
		return nil, err
	}
	commits, trees, err := Rebuild(ctx, x.Engine.s.Repo, base, s)
	if err == nil && s.Series.Base == "" && r.PinOf(name) != nil {
		err = CheckSteps(s, r.PinOf(name).Lock, trees)
	}
	if err != nil {
		x.Engine.Close()
		return nil, err
	}
	for i, c := range commits {
		x.Commits.Patches = append(x.Commits.Patches, StackCommit{File: s.Patches[i].File, Commit: c})
	}
	return x, nil
}

// BranchSession is a Session on the commits base..tip of a repository, without
// patch files, policy and resolutions.
func BranchSession(ctx context.Context, repo *git.Repo, name string, base, tip git.ID, options ...EngineOption) (*Session, error) {
	commits, err := CommitsOf(ctx, repo, name, base, tip)
	if err != nil {
		return nil, err
	}
	e, err := NewEngine(ctx, repo, options...)
	if err != nil {
		return nil, err
	}
	return &Session{Engine: e, Commits: commits, repo: repo}, nil
}

// Close ends the engine.
func (x *Session) Close() error { return x.Engine.Close() }

// Resolve finds the commit that a revision of the upstream's repository names.
func (x *Session) Resolve(ctx context.Context, revision string) (git.ID, error) {
	c, err := x.repo.CommitInfo(ctx, revision)
	if err != nil {
		return "", verdict.Usagef("%s: fetch it first, with 'dist fetch'", err)
	}
	return c.ID, nil
}

// Lacking returns the files that a rebase onto a commit may have to read and
// that the upstream's repository lacks: of the old base and of the new one, and
// of every version in between of the files that the stack touches, but for what
// the pin excludes. Nothing is fetched here; see fetch.Target.EnsureFiles.
func (x *Session) Lacking(ctx context.Context, onto git.ID) ([]git.Entry, error) {
	e := x.Engine
	var files []git.Entry
	trees := map[git.ID]git.ID{}
	for _, id := range []git.ID{x.Commits.Base, onto} {
		c, err := e.commitAt(id)
		if err != nil {
			return nil, err
		}
		trees[id] = c.Tree
		all, err := e.diffTrees(git.EmptyTree, c.Tree)
		if err != nil {
			return nil, err
		}
		for _, f := range all {
			if f.new.Mode.Kind() == "blob" {
				files = append(files, git.Entry{Mode: f.new.Mode, Path: f.path, ID: f.new.ID})
			}
		}
	}
	commits, err := e.commitsAt(x.Commits.Patches)
	if err != nil {
		return nil, err
	}
	var paths []string
	before := trees[x.Commits.Base]
	for _, c := range commits {
		changes, err := e.diffTrees(before, c.Tree)
		if err != nil {
			return nil, err
		}
		for _, f := range changes {
			paths = append(paths, f.path)
		}
		before = c.Tree
	}
	fork, err := e.s.MergeBase(ctx, x.Commits.Base, onto)
	if err != nil {
		return nil, err
	}
	if fork != "" && len(paths) > 0 {
		between, err := e.history(ctx, fork, onto, sortedSet(paths))
		if err != nil {
			return nil, err
		}
		for _, c := range between {
			files = append(files, c.files...)
		}
	}
	var excluded map[string]bool
	if x.r != nil {
		excluded = x.r.excluded(x.Commits.Name)
	}
	byID := map[git.ID]git.Entry{}
	var ids []git.ID
	for _, f := range files {
		if _, seen := byID[f.ID]; !seen && !excluded[f.Path] {
			byID[f.ID] = f
			ids = append(ids, f.ID)
		}
	}
	missing, err := e.s.Missing(ctx, ids)
	if err != nil {
		return nil, err
	}
	var lacking []git.Entry
	for _, id := range missing {
		lacking = append(lacking, byID[id])
	}
	return lacking, nil
}

// Rebase moves the stack onto a commit, in the engine only.
func (x *Session) Rebase(ctx context.Context, onto git.ID) (*Result, error) {
	return x.Engine.Rebase(ctx, x.Commits, onto, x.Options)
}

// Learn takes over how a person settled conflicts: tip is the person's branch,
// the stack's patches on another base. Each commit there is compared with the
// patch of the same subject. The resolutions count from now on; Write
// stores them.
func (x *Session) Learn(ctx context.Context, repo *git.Repo, base, tip git.ID) ([]*Resolution, error) {
	return x.learn(ctx, repo, base, base, tip)
}

// learn is Learn without the commits up to settled, which nobody touched.
func (x *Session) learn(ctx context.Context, repo *git.Repo, base, settled, tip git.ID) ([]*Resolution, error) {
	theirs, err := CommitsOf(ctx, repo, x.Commits.Name, base, tip)
	if err != nil {
		return nil, err
	}
	for i, p := range theirs.Patches {
		if p.Commit == settled {
			theirs.Patches = theirs.Patches[i+1:]
			break
		}
	}
	if err := x.Engine.s.Borrow(ctx, x.repo, repo); err != nil {
		return nil, err
	}
	if err := x.Engine.reopen(ctx); err != nil {
		return nil, err
	}
	byFile := map[string]git.ID{}
	for _, p := range x.Commits.Patches {
		byFile[p.File] = p.Commit
	}
	var out []*Resolution
	for _, p := range theirs.Patches {
		patch, ok := byFile[p.File]
		if !ok {
			continue
		}
		c, err := x.Engine.commitAt(p.Commit)
		if err != nil {
			return nil, err
		}
		parent, err := x.Engine.commitAt(c.Parents[0])
		if err != nil {
			return nil, err
		}
		list, err := x.Engine.RecordResolution(ctx, patch, parent.Tree, c.Tree)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.File, err)
		}
		out = append(out, list...)
	}
	if x.Options.Resolutions == nil {
		x.Options.Resolutions = Resolutions{}
	}
	for _, r := range out {
		x.Options.Resolutions[r.Key()] = r
	}
	return out, nil
}

// Write stores a rebased stack: patch files, series, resolutions that were used
// and the lock of its pin, together or not at all. lock is the pin's new lock
// when it moves at the same time, with everything but the patched tree; nil
// leaves the pin where it is, and the series says what the stack is for. A
// result that is not a pass is refused: its error is of Result.Err.
//
// The repository must have been opened to be written.
func (x *Session) Write(ctx context.Context, r *Result, lock *pins.Lock) (*Imported, error) {
	if x.r == nil {
		return nil, verdict.Usagef("%s is a branch: only a stack with patch files can be written; see 'dist patches import'", x.Commits.Name)
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	if lock != nil && lock.Commit != string(r.NewBase) {
		return nil, fmt.Errorf("the new lock of stack %s is for %s, the rebase for %s", x.stack.Name, lock.Commit, r.NewBase)
	}
	if err := x.mayMove(r.NewBase, lock); err != nil {
		return nil, err
	}
	im, err := x.export(ctx, r)
	if err != nil {
		return nil, err
	}
	im.lock = lock
	for _, p := range r.Patches {
		for _, s := range p.Settlements {
			if u := x.Options.Resolutions[s.Detail]; u != nil && s.By == "resolution" {
				if err := im.record(u); err != nil {
					return nil, err
				}
			}
		}
	}
	scratch := x.Engine.s.Repo
	if err := proven(ctx, scratch, im); err != nil {
		return nil, err
	}
	return im, x.r.write(ctx, scratch, im)
}

// mayMove refuses to take a stack off the commit whose lock has its trees
// without moving that lock too.
func (x *Session) mayMove(onto git.ID, lock *pins.Lock) error {
	pin := x.r.PinOf(x.stack.Name)
	if lock != nil || pin == nil || pin.Lock == nil || pin.Lock.Patched == nil || pin.Lock.Commit == string(onto) {
		return nil
	}
	return verdict.Usagef("the lock of pin %s has the trees of stack %s, so both move together: leave --git-dir away, and the upstream is asked", pin.Name, x.stack.Name)
}

// record stores a resolution beside the patches.
func (im *Imported) record(r *Resolution) error {
	data, err := r.format()
	if err != nil {
		return err
	}
	if im.extra == nil {
		im.extra = map[string][]byte{}
	}
	im.extra[path.Join(ResolutionsFolder, r.Key()+".yaml")] = data
	return nil
}

// export makes the patch files of a rebased stack.
func (x *Session) export(ctx context.Context, r *Result) (*Imported, error) {
	objects, err := x.Engine.s.Pending(ctx)
	if err != nil {
		return nil, err
	}
	defer objects.Close()
	base, err := objects.Commit(r.NewBase)
	if err != nil {
		return nil, err
	}
	s := &Stack{Name: x.stack.Name, Dir: x.stack.Dir, Base: r.NewBase}
	im := &Imported{Stack: s, Name: s.Name, Base: r.NewBase, Tip: r.Tip}
	var old []string
	before := base.Tree
	for _, p := range r.Patches {
		if !p.Outcome.Kept() {
			im.Dropped = append(im.Dropped, p.File)
			continue
		}
		c, err := objects.Commit(p.New)
		if err != nil {
			return nil, err
		}
		patch, err := FromCommit(objects, c, before, p.Tree)
		if err != nil {
			return nil, err
		}
		if patch == nil {
			return nil, fmt.Errorf("%s: nothing is left of it", p.File) // cannot be: it was kept
		}
		before = p.Tree
		s.Patches = append(s.Patches, patch)
		im.trees = append(im.trees, p.Tree)
		old = append(old, p.File)
	}
	setNames(s.Patches)
	renamed := map[string]string{}
	for i, p := range s.Patches {
		im.Files = append(im.Files, p.File)
		renamed[p.File] = old[i]
		was := x.stack.Patch(old[i])
		if was != nil && p.File == old[i] && bytes.Equal(Render(was), Render(p)) {
			im.Kept = append(im.Kept, p.File)
		} else {
			im.Changed = append(im.Changed, p.File)
		}
	}
	s.Series = x.stack.Series.With("", im.Files, renamed)
	slices.Sort(im.Dropped)
	return im, nil
}
