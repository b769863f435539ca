// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/httpget"
	"github.com/1bit-MONSTER/engine/internal/treesum"
	"github.com/1bit-MONSTER/engine/pins"
)

// A wish is a commit whose content is wanted, in full but for exclusions.
type wish struct {
	name    string // for progress and errors
	commit  git.ID
	history bool     // all commits behind it too; false: depth 1
	exclude []string // exact paths below its tree
	where   []string // refs to look in when the remote gives out no commit by id
}

// A tree is a checked tree whose blobs are all here but for exclusions.
type tree struct {
	info    *git.Commit
	entries []git.Entry
}

// content makes sure that a commit is here with its tree and blobs. What is
// here already is not asked for again.
//
// Blobs come with the commit where the remote can give it whole. Where it
// lacks some of its own objects, where the pin excludes paths, and with history,
// the commit comes without them first, and then those that are wanted, in one
// batch.
func (e *Engine) content(ctx context.Context, r *mirrorRepo, w wish) (*tree, error) {
	have, err := r.HasCommit(ctx, w.commit)
	if err != nil {
		return nil, err
	}
	if !have || w.history && r.Shallow() {
		if err := e.fetchCommit(ctx, r, w); err != nil {
			return nil, err
		}
	}
	t := &tree{}
	if t.info, err = r.CommitInfo(ctx, string(w.commit)); err != nil {
		return nil, err
	}
	t.entries, err = r.LsTree(ctx, t.info.Tree)
	var missing *git.MissingObject
	if errors.As(err, &missing) {
		err = &git.Damaged{Dir: r.Dir(), Err: err} // a commit comes with its trees
	}
	if err != nil {
		return nil, err
	}
	return t, e.blobs(ctx, r, w, t.entries)
}

func (e *Engine) fetchCommit(ctx context.Context, r *mirrorRepo, w wish) error {
	if err := e.online("commit " + w.commit.Short()); err != nil {
		return err
	}
	e.Progress.Step("%s: fetch %s from %s", w.name, w.commit.Short(), shownPlace(r))
	// A repository that lost what its refs name could not be fetched into.
	refs, err := r.ForEachRef(ctx)
	if err != nil {
		return err
	}
	spec := git.FetchSpec{Commits: []git.ID{w.commit}, Fallback: w.where, Progress: e.says(w.name)}
	if w.history {
		spec.Filter = "blob:none"
		return r.Fetch(ctx, r.place.Remote(), spec)
	}
	// A depth would cut the history of a repository that has one.
	if len(refs) == 0 || r.Shallow() {
		spec.Depth = 1
	}
	if len(w.exclude) > 0 || spec.Depth == 0 {
		spec.Filter = "blob:none"
	}
	err = r.Fetch(ctx, r.place.Remote(), spec)
	var incomplete *git.Incomplete
	if errors.As(err, &incomplete) && spec.Filter == "" {
		spec.Filter = "blob:none"
		err = r.Fetch(ctx, r.place.Remote(), spec)
	}
	return err
}

// blobs gets the blobs of a tree that are not here, in one batch. One that the
// remote lacks is a *treesum.MissingBlob.
func (e *Engine) blobs(ctx context.Context, r *mirrorRepo, w wish, entries []git.Entry) error {
	var ids []git.ID
	path := map[git.ID]string{}
	for _, x := range entries {
		if x.Mode == git.ModeSubmodule || slices.Contains(w.exclude, x.Path) {
			continue
		}
		if _, known := path[x.ID]; !known {
			path[x.ID] = x.Path
			ids = append(ids, x.ID)
		}
	}
	missing, err := r.Missing(ctx, ids)
	if err != nil || len(missing) == 0 {
		return err
	}
	if e.Offline {
		return fmt.Errorf("%w: %w", e.online("a part of it"), &treesum.MissingBlob{Path: path[missing[0]], ID: missing[0]})
	}
	e.Progress.Step("%s: fetch %s from %s", w.name, count(len(missing), "file"), shownPlace(r))
	lacking, err := r.FetchObjects(ctx, r.place.Remote(), missing, e.says(w.name))
	var gone *git.Gone
	if errors.As(err, &gone) && path[gone.Commit] != "" {
		lacking, err = append(lacking, gone.Commit), nil
	}
	if err != nil {
		return err
	}
	if len(lacking) > 0 {
		lack := &Lacking{From: shownPlace(r)}
		for _, id := range lacking {
			lack.Blobs = append(lack.Blobs, treesum.MissingBlob{Path: path[id], ID: id})
		}
		slices.SortFunc(lack.Blobs, func(a, b treesum.MissingBlob) int { return strings.Compare(a.Path, b.Path) })
		return lack
	}
	return nil
}

// EnsureBlobs brings the content of paths at several commits of a pin's
// upstream here, and the commits where they are not, all in one batch for the
// blobs: what a rebase needs before it starts. Paths that a commit does not
// have are left out; no paths are all of them.
func (e *Engine) EnsureBlobs(ctx context.Context, pin string, commits []git.ID, paths []string) error {
	p, err := e.Set.Named(pin)
	if err != nil {
		return err
	}
	return wrap(p, e.mending(ctx, func() error { return e.ensureBlobs(ctx, p, commits, paths) }))
}

func (e *Engine) ensureBlobs(ctx context.Context, p *pins.Pin, commits []git.ID, paths []string) error {
	r, err := e.pinRepo(ctx, p)
	if err != nil {
		return err
	}
	defer r.Close()
	var all []git.Entry
	for _, id := range commits {
		have, err := r.HasCommit(ctx, id)
		if err == nil && (!have || p.Stack != "" && r.Shallow()) {
			err = e.fetchCommit(ctx, r, wish{name: p.Name, commit: id, history: p.Stack != "", exclude: leftOut(p)})
		}
		if err != nil {
			return err
		}
		info, err := r.CommitInfo(ctx, string(id))
		if err != nil {
			return err
		}
		entries, err := r.LsTree(ctx, info.Tree)
		if err != nil {
			return err
		}
		for _, x := range entries {
			if len(paths) == 0 || slices.ContainsFunc(paths, func(p string) bool { return x.Path == p || strings.HasPrefix(x.Path, p+"/") }) {
				all = append(all, x)
			}
		}
	}
	return e.blobs(ctx, r, wish{name: p.Name, exclude: leftOut(p)}, all)
}

// Repository opens our own mirror of a pin's upstream. It holds the commits
// that were fetched, each under refs/pins/<name>/<commit>.
func (e *Engine) Repository(ctx context.Context, pin string) (*git.Repo, error) {
	p, err := e.Set.Named(pin)
	if err != nil {
		return nil, err
	}
	r, err := e.pinRepo(ctx, p)
	if err != nil {
		return nil, wrap(p, err)
	}
	defer r.Close()
	return r.Repo, nil
}

// KeptRef is the ref under which a locked commit is kept.
func KeptRef(pin string, commit git.ID) string { return "refs/pins/" + pin + "/" + string(commit) }

func excluded(p *pins.Pin) []string {
	var paths []string
	for _, x := range p.Exclude {
		paths = append(paths, x.Path)
	}
	return paths
}

// leftOut is excluded with what the lock left out: a person may have taken a path
// off the list that the new version no longer has, and the old one still lacks.
func leftOut(p *pins.Pin) []string {
	paths := excluded(p)
	if p.Lock != nil {
		for _, x := range p.Lock.Excluded {
			paths = append(paths, x.Path)
		}
	}
	return paths
}

// shownPlace is where a repository is read, for people: the upstream's address,
// and that a mirror stands in for it.
func shownPlace(r *mirrorRepo) string {
	if r.place.Mapped {
		return "the mirror of " + httpget.Mask(r.upstream)
	}
	return httpget.Mask(r.upstream)
}
