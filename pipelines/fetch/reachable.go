// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"slices"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// Reachable returns nil when what is locked is where the pin's track says: a
// commit on its branch, at its tag, or in the tree of the integration
// repository's commit that it was read from, at an allowed address. The
// upstream is asked, which asked reports; offline only that tree is looked at.
func (e *Engine) Reachable(ctx context.Context, p *pins.Pin) (asked bool, err error) {
	if !commits(p) || p.Lock == nil || p.Lock.Commit == "" {
		return false, nil
	}
	err = e.mending(ctx, func() (err error) {
		asked, err = e.reachable(ctx, p)
		return err
	})
	return asked, wrap(p, err)
}

func (e *Engine) reachable(ctx context.Context, p *pins.Pin) (asked bool, err error) {
	l := p.Lock
	if p.Track.Kind == pins.Gitlink {
		if err := e.namesChild(ctx, p); err != nil {
			return false, err
		}
	}
	if e.Offline {
		return false, nil
	}
	switch {
	case p.Track.Kind == pins.GitBranch:
		return true, e.onBranch(ctx, ancestry{pin: p, address: p.Upstream}, p.Track.Branch, git.ID(l.Commit))
	case p.Track.Kind == pins.Gitlink && p.Track.OfPin() == "":
		return true, e.onBranch(ctx, ancestry{address: p.Track.Of}, p.Track.Branch, git.ID(l.Via.Commit))
	case p.Track.Kind == pins.Gitlink:
		return true, nil // the other pin is looked at by itself
	case l.Version == "":
		return true, verdict.Failf("the lock of a %s pin names no version", p.Track.Kind)
	}
	refs, _, err := e.refs(ctx, p.Upstream, "refs/tags/"+l.Version)
	if err != nil {
		return true, explainGit(p, err)
	}
	ref, ok := refs.Find("refs/tags/" + l.Version)
	switch {
	case !ok:
		return true, verdict.Failf("%s has no tag %s any more", p.Upstream, quoted(l.Version))
	case string(ref.Commit()) != l.Commit:
		return true, &Moved{Tag: l.Version, Old: git.ID(l.Commit), New: ref.Commit()}
	}
	return true, nil
}

// namesChild looks whether the commit that a gitlink was read from has it, and
// at an address that the pin allows.
func (e *Engine) namesChild(ctx context.Context, p *pins.Pin) error {
	via := p.Lock.Via
	if via == nil {
		return verdict.Failf("the lock does not say where it was read")
	}
	if via.Path != p.Track.Path {
		return &Differs{"path of the submodule", via.Path, p.Track.Path}
	}
	in := e.newRound()
	if of := e.Set.Pin(p.Track.OfPin()); of != nil {
		in.round.members[of.Name] = true
		in.round.settle(of, &Candidate{Commit: git.ID(via.Commit)})
	} else {
		in.round.forced[plainURL(p.Track.Of)] = git.ID(via.Commit)
	}
	parent, err := in.parentTree(ctx, p)
	if err != nil {
		return err
	}
	child, ok, err := in.lookup(ctx, parent, via.Path)
	if err != nil {
		return err
	}
	if !ok || child.Mode != git.ModeSubmodule || string(child.ID) != p.Lock.Commit {
		return &Differs{"submodule " + shown(via.Path) + " at " + parent.commit.Short(), p.Lock.Commit, string(child.ID)}
	}
	written, err := in.submoduleURL(ctx, parent, via.Path)
	if err != nil {
		return err
	}
	if written != via.URL {
		return &Differs{"address of the submodule " + shown(via.Path), via.URL, written}
	}
	u, err := resolveURL(parent.address, written)
	if err != nil {
		return &BadSubmodule{via.Path, err}
	}
	if !sameURL(u, p.Upstream) && !slices.ContainsFunc(p.Track.AllowedURLs, func(a string) bool { return sameURL(a, u) }) {
		return &ChildMoved{Path: via.Path, Old: p.Upstream, New: u}
	}
	return nil
}
