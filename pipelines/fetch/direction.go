// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"errors"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// direction returns nil when a candidate is a successor of the lock, or the
// first lock, and a *Moved or *WrongWay otherwise.
//
// Where versions are ordered by schemes, their order decides; the commits of a
// branch must have the lock in their history; a gitlink is judged in the
// repository that integrates it, because its own history may go sideways.
func (e *Engine) direction(ctx context.Context, p *pins.Pin, c *Candidate) error {
	l := p.Lock
	if l == nil || l.ID() == c.id() && p.Track.Kind != pins.Gitlink {
		return nil
	}
	if ordered, err := byVersion(p, c); ordered || err != nil {
		return err
	}
	switch p.Track.Kind {
	case pins.GitBranch, pins.GitTag, pins.GithubRelease:
		if l.Commit == "" || c.Commit == "" {
			return nil
		}
		return e.byHistory(ctx, ancestry{pin: p, address: p.Upstream, old: git.ID(l.Commit), new: c.Commit})
	case pins.Gitlink:
		switch {
		case l.Via == nil || c.Via == nil:
			c.Notes = append(c.Notes, "the lock does not say where it was read: its direction cannot be judged")
			return nil
		case l.Via.Commit == c.Via.Commit:
			return nil
		case p.Track.OfPin() != "":
			return nil // that pin is judged by itself
		}
		return e.byHistory(ctx, ancestry{address: p.Track.Of, old: git.ID(l.Via.Commit), new: git.ID(c.Via.Commit), what: p.Track.Of})
	}
	return nil
}

// byVersion judges by the order of versions, where both have one.
func byVersion(p *pins.Pin, c *Candidate) (ordered bool, err error) {
	l := p.Lock
	if len(p.Track.Schemes) == 0 || l.Version == "" || c.Version == "" {
		return false, nil
	}
	schemes, err := pins.NewSchemes(&p.Track)
	if err != nil {
		return true, err
	}
	if l.Version == c.Version {
		if l.Commit != "" && c.Commit != "" {
			return true, &Moved{Tag: c.Version, Old: git.ID(l.Commit), New: c.Commit}
		}
		return true, nil
	}
	switch order, err := schemes.Compare(l.Version, c.Version); {
	case err != nil:
		return false, nil // one of them is outside: history decides
	case order > 0:
		return true, &WrongWay{Direction: DirectionBackwards, Old: l.Version, New: c.Version}
	}
	return true, nil
}

// An ancestry is a question about two commits of one repository.
type ancestry struct {
	pin      *pins.Pin // nil: address is no pin's upstream
	address  string
	old, new git.ID
	what     string
}

// byHistory fetches commits alone, without files, unless the pin's own
// repository has its history anyway.
func (e *Engine) byHistory(ctx context.Context, a ancestry) error {
	r, err := e.historyRepo(ctx, a)
	if err != nil {
		return err
	}
	defer r.Close()
	spec := git.FetchSpec{Filter: "tree:0", Progress: e.says("history of " + a.address)}
	if a.pin != nil && a.pin.Stack != "" {
		spec.Filter = "blob:none"
	}
	get := func(id git.ID) (bool, error) {
		have, err := r.HasCommit(ctx, id)
		if err != nil || have && !r.Shallow() {
			return have, err
		}
		if err := e.online("the history of " + a.address); err != nil {
			return false, err
		}
		spec.Commits = []git.ID{id}
		err = r.Fetch(ctx, r.place.Remote(), spec)
		var gone *git.Gone
		if errors.As(err, &gone) {
			return r.HasCommit(ctx, id)
		}
		return err == nil, err
	}
	if ok, err := get(a.new); err != nil || !ok {
		if err == nil {
			err = &git.Gone{URL: a.address, Commit: a.new}
		}
		return err
	}
	wrong := &WrongWay{Direction: DirectionSideways, Old: string(a.old), New: string(a.new), What: a.what}
	ok, err := get(a.old)
	if err != nil || !ok {
		if err == nil {
			err = wrong // a commit that is nowhere is in no history
		}
		return err
	}
	if forward, err := r.IsAncestor(ctx, a.old, a.new); err != nil || forward {
		return err
	}
	if back, err := r.IsAncestor(ctx, a.new, a.old); err != nil {
		return err
	} else if back {
		wrong.Direction = DirectionBackwards
	}
	return wrong
}

func (e *Engine) historyRepo(ctx context.Context, a ancestry) (*mirrorRepo, error) {
	if a.pin != nil && a.pin.Stack != "" {
		return e.pinRepo(ctx, a.pin)
	}
	name := byURL(a.address)
	if a.pin != nil {
		name = a.pin.Name + ".git"
	}
	return e.openRepo(ctx, strings.TrimSuffix(name, ".git")+historySuffix, a.address)
}

// directionOf returns the direction that an error is about.
func directionOf(err error) (Direction, bool) {
	var moved *Moved
	var wrong *WrongWay
	switch {
	case errors.As(err, &moved):
		return DirectionMoved, true
	case errors.As(err, &wrong):
		return wrong.Direction, true
	}
	return "", false
}

// ParseDirection reads what a person accepts.
func ParseDirection(s string) (Direction, error) {
	switch d := Direction(s); d {
	case "", DirectionMoved, DirectionBackwards, DirectionSideways:
		return d, nil
	}
	return "", verdict.Usagef("--accept %s: it is one of moved, backwards, sideways", quoted(s))
}
