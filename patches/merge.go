// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"context"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/git"
)

// An Engine merges in the object store of one repository, without a work tree
// and without changing that repository. It is not safe for use by several
// goroutines at once. It must be closed.
type Engine struct {
	ctx    context.Context // the life of its processes
	source *git.Repo
	s      *scratch
	cat    *git.CatFile
	m      *merger
	trees  map[git.ID][]git.TreeEntry
	blobs  map[git.ID]*text
	held   int // bytes in blobs
	done   map[mergeKey]*merged
}

// An EngineOption changes how an Engine works, never what comes out.
type EngineOption func(*engineConfig)

type engineConfig struct{ spawn bool }

// SpawnEach starts one git process a merge, as is done by itself where a
// long-lived one does not answer before the end of its input.
func SpawnEach() EngineOption { return func(c *engineConfig) { c.spawn = true } }

// NewEngine starts an engine on a repository that has all commits, trees and
// blobs that will be merged; nothing is ever fetched. Its processes die with
// ctx.
func NewEngine(ctx context.Context, repo *git.Repo, options ...EngineOption) (*Engine, error) {
	var c engineConfig
	for _, o := range options {
		o(&c)
	}
	s, err := newScratch(ctx, repo)
	if err != nil {
		return nil, err
	}
	e := &Engine{ctx: ctx, source: repo, s: s, trees: map[git.ID][]git.TreeEntry{}, blobs: map[git.ID]*text{}, done: map[mergeKey]*merged{}}
	if e.m, err = newMerger(ctx, s, c.spawn); err == nil {
		e.cat, err = s.CatFile(ctx)
	}
	if err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

// Close ends the processes and removes everything that was not kept.
func (e *Engine) Close() error {
	var first error
	if e.m != nil {
		first = e.m.close()
	}
	if e.cat != nil {
		if err := e.cat.Close(); first == nil {
			first = err
		}
	}
	if err := e.s.remove(); first == nil {
		first = err
	}
	return first
}

// Merges is how many merges git has done so far.
func (e *Engine) Merges() int { return e.m.count }

// Spawns tells whether each merge takes a process of its own.
func (e *Engine) Spawns() bool { return e.m.p == nil }

type mergeKey struct{ base, ours, theirs git.ID }

// side is a tree that is merged, with the commit that holds it if there is
// one with the base as its only parent.
type side struct{ tree, commit git.ID }

// merge does a three-way merge over a stated base. baseTree is the tree of the
// commit base.
//
// merge-tree of git 2.39 cannot be told a base. It is given two commits with
// base as their only parent, whose merge base can be nothing else.
func (e *Engine) merge(ctx context.Context, base, baseTree git.ID, ours, theirs side) (*merged, error) {
	// What git would answer as well, without asking it.
	switch {
	case ours.tree == baseTree, ours.tree == theirs.tree:
		return &merged{tree: theirs.tree}, nil
	case theirs.tree == baseTree:
		return &merged{tree: ours.tree}, nil
	}
	key := mergeKey{base, ours.tree, theirs.tree}
	if m, ok := e.done[key]; ok {
		return m, nil
	}
	for _, s := range []*side{&ours, &theirs} {
		if s.commit == "" {
			var err error
			if s.commit, err = e.s.commit(synthetic(s.tree, base)); err != nil {
				return nil, err
			}
		}
	}
	m, err := e.m.merge(ctx, ours.commit, theirs.commit)
	if err != nil && ctx.Err() == nil {
		if m, err = e.withoutLacking(ctx, err, baseTree, ours, theirs); err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, err
	}
	e.done[key] = m
	return m, nil
}

func synthetic(tree, parent git.ID) git.Commit {
	who := git.Signature{Name: "dist", Email: "dist@localhost", When: time.Unix(0, 0).UTC()}
	return git.Commit{Tree: tree, Parents: []git.ID{parent}, Author: who, Committer: who, Message: "merged\n"}
}

// commitAt reads a commit.
func (e *Engine) commitAt(id git.ID) (*git.Commit, error) { return e.cat.Commit(id) }

// git runs a git command on the scratch repository, which has everything.
func (e *Engine) git(ctx context.Context, stdin string, args ...string) ([]byte, error) {
	c := e.s.Command(args...)
	c.Stdin = strings.NewReader(stdin)
	r, err := c.Run(ctx)
	return r.Stdout, err
}
