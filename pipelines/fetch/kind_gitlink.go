// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// gitlinkKind follows the submodule of an integration repository.
type gitlinkKind struct{ sources }

var (
	_ kind   = gitlinkKind{}
	_ finder = gitlinkKind{}
)

func (gitlinkKind) newest(ctx context.Context, e *Engine, p *pins.Pin) (*Candidate, error) {
	parent, err := e.parentTree(ctx, p)
	if err != nil {
		return nil, err
	}
	if l := p.Lock; l != nil && l.Via != nil && l.Via.Commit == string(parent.commit) && p.State() == pins.Verified {
		return &Candidate{Commit: git.ID(l.Commit), Via: l.Via}, nil // the same tree names the same child
	}
	child, ok, err := e.lookup(ctx, parent, p.Track.Path)
	if err != nil {
		return nil, err
	}
	if !ok || child.Mode != git.ModeSubmodule {
		return nil, verdict.Failf("%s at %s has no submodule %s: look where it is now and change track.path", parent.address, parent.commit.Short(), quoted(p.Track.Path))
	}
	written, err := e.submoduleURL(ctx, parent, p.Track.Path)
	if err != nil {
		return nil, err
	}
	u, err := resolveURL(parent.address, written)
	if err != nil {
		return nil, &BadSubmodule{p.Track.Path, err}
	}
	if !sameURL(u, p.Upstream) && !slices.ContainsFunc(p.Track.AllowedURLs, func(a string) bool { return sameURL(a, u) }) {
		return nil, &ChildMoved{Path: p.Track.Path, Old: p.Upstream, New: u}
	}
	return &Candidate{
		Commit:   child.ID,
		Via:      &pins.Via{Commit: string(parent.commit), Path: p.Track.Path, URL: written, Branch: p.Track.Branch},
		StandsIn: parent.place.StandsIn,
	}, nil
}

// find takes a revision of the integration repository, not of the submodule.
func (gitlinkKind) find(ctx context.Context, e *Engine, p *pins.Pin, rev string) (*Candidate, error) {
	if err := e.forceParent(ctx, p, rev); err != nil {
		return nil, err
	}
	return e.newest(ctx, p)
}

// forceParent makes a revision of the repository that a pin is read from the
// one of this round, for all pins that are read from it.
func (e *Engine) forceParent(ctx context.Context, p *pins.Pin, rev string) error {
	if of := p.Track.OfPin(); of != "" {
		return verdict.Usagef("%s is read from the pin %s: move that one with --to", p.Name, of)
	}
	c, err := e.revision(ctx, p.Track.Of, rev)
	if err != nil {
		return err
	}
	e.round.mu.Lock()
	defer e.round.mu.Unlock()
	e.round.forced[plainURL(p.Track.Of)] = c.Commit
	return nil
}

// A readTree is a commit of a repository from which something is read.
type readTree struct {
	repo    *git.Repo
	pin     *pins.Pin // nil: no pin but a bare address
	address string
	place   Place
	commit  git.ID
	root    git.ID
}

// parentTree brings the trees of what a pin is read from here: of the pin that
// it names, or of the branch of the repository.
func (e *Engine) parentTree(ctx context.Context, p *pins.Pin) (*readTree, error) {
	t := &readTree{address: p.Track.Of}
	var err error
	if of := p.Track.OfPin(); of != "" {
		if t.pin, t.commit, err = e.parent(ctx, of); err != nil {
			return nil, err
		}
		t.address = t.pin.Upstream
	} else if t.commit, err = e.head(ctx, t.address, p.Track.Branch); err != nil {
		return nil, err
	}
	r, err := e.openParent(ctx, t)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	t.repo, t.place = r.Repo, r.place
	have, err := r.HasCommit(ctx, t.commit)
	if err == nil && !have {
		// Without blobs: a few files of it are all that is read.
		w := wish{name: p.Name, commit: t.commit, exclude: []string{""}}
		if t.pin != nil {
			w.history = t.pin.Stack != ""
		} else if p.Track.Branch != "" {
			w.where = []string{"refs/heads/" + p.Track.Branch}
		}
		err = e.fetchCommit(ctx, r, w)
	}
	if err != nil {
		return nil, err
	}
	info, err := r.CommitInfo(ctx, string(t.commit))
	if err != nil {
		return nil, err
	}
	t.root = info.Tree
	return t, nil
}

func (e *Engine) openParent(ctx context.Context, t *readTree) (*mirrorRepo, error) {
	if t.pin != nil {
		return e.pinRepo(ctx, t.pin)
	}
	return e.repoOf(ctx, t.address)
}

func (e *Engine) lookup(ctx context.Context, t *readTree, path string) (git.Entry, bool, error) {
	cat, err := t.repo.CatFile(ctx)
	if err != nil {
		return git.Entry{}, false, err
	}
	defer cat.Close()
	return cat.Lookup(t.root, path)
}

// submoduleURL returns the address of a submodule as .gitmodules has it.
func (e *Engine) submoduleURL(ctx context.Context, t *readTree, path string) (string, error) {
	x, ok, err := e.lookup(ctx, t, ".gitmodules")
	if err != nil {
		return "", err
	}
	if !ok {
		return "", &BadSubmodule{path, errors.New("there is no .gitmodules")}
	}
	if _, err := e.readBlob(ctx, t, x); err != nil {
		return "", err
	}
	urls, err := submoduleURLs(ctx, t.repo, []git.Entry{x})
	if err != nil {
		return "", err
	}
	if urls[path] == "" {
		return "", &BadSubmodule{path, errors.New("no .gitmodules says where it is")}
	}
	return urls[path], nil
}

// mostRead bounds a file that is read for one value, in bytes.
const mostRead = 4 << 20

// readBlob returns the content of an entry, which it fetches where it is not
// here.
func (e *Engine) readBlob(ctx context.Context, t *readTree, x git.Entry) ([]byte, error) {
	if x.Mode.Kind() != "blob" || x.Mode == git.ModeSymlink {
		return nil, fmt.Errorf("%s is no file", quoted(x.Path))
	}
	missing, err := t.repo.Missing(ctx, []git.ID{x.ID})
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		r, err := e.openParent(ctx, t)
		if err != nil {
			return nil, err
		}
		err = e.blobs(ctx, r, wish{name: t.address}, []git.Entry{x})
		r.Close()
		if err != nil {
			return nil, err
		}
	}
	cat, err := t.repo.CatFile(ctx)
	if err != nil {
		return nil, err
	}
	defer cat.Close()
	h, err := cat.Header(x.ID)
	if err == nil && h.Size > mostRead {
		err = fmt.Errorf("%s has %d bytes, too many for what is read from it", quoted(x.Path), h.Size)
	}
	if err != nil {
		return nil, err
	}
	return cat.Read(x.ID, "blob")
}
