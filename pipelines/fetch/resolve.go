// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// A Resolution is what pins that belong together were found to be at one
// moment. Nothing in it is asked for again, and no pin's file is written.
type Resolution struct {
	Members []*Resolved // in the order of the pins

	in *Engine // of this moment
}

// A Resolved is what one pin was found to be. Beside an error it may say all
// the same which version the error is about.
type Resolved struct {
	Pin       *pins.Pin
	ID        string    // commit, digest or version: what pins.Lock.ID returns; empty: nothing was found
	Version   string    // as the upstream writes it; untrusted
	TagObject git.ID    // the annotated tag behind Version, if it is one
	Via       *pins.Via // gitlink: where it was read
	StandsIn  string    // the repository that a mirror read instead of the upstream
	Date      time.Time // of publication, where it is known before the content is here
	Notes     []string  // for people: what is worth knowing and stops nothing
	Behind    string    // how far the lock is behind, such as "42 commits"; empty where that is not known cheaply
	Err       error     // among others *Moved, *WrongWay, *LeftBranch, *NotAnyMore, *BranchGone, *ChildMoved, *pins.OutsideScheme

	c *Candidate
}

// Moves says whether what was found is another version than the locked one.
func (m *Resolved) Moves() bool { return m.ID != "" && m.ID != m.Pin.Lock.ID() }

// take notes the candidate that was found.
func (m *Resolved) take(c *Candidate) {
	if c == nil {
		return
	}
	m.c, m.ID, m.Version, m.TagObject, m.Via = c, c.id(), c.Version, c.TagObject, c.Via
	m.StandsIn, m.Date, m.Notes = c.StandsIn, c.Date, c.Notes
}

// begin starts the moment in which pins are resolved together.
func (e *Engine) begin(set []*pins.Pin) *Resolution {
	r := &Resolution{in: e.newRound(set...)}
	for _, p := range set {
		r.Members = append(r.Members, &Resolved{Pin: p})
	}
	return r
}

// each does work for the members that have no error yet, side by side, and
// notes its errors with them.
func (r *Resolution) each(ctx context.Context, work func(i int, m *Resolved) error) {
	group := errgroup.Group{}
	group.SetLimit(r.in.contentJobs())
	for i, m := range r.Members {
		if m.Err != nil {
			continue
		}
		group.Go(func() error {
			m.Err = r.in.mending(ctx, func() error { return work(i, m) })
			return nil
		})
	}
	group.Wait()
}

// A Wanted is a version that an earlier Resolve found.
type Wanted struct {
	ID   string // Resolved.ID
	Name string // Resolved.Version
	Via  string // commit of the integration repository, for a gitlink
}

// Resolve asks for the newest version of each pin of a set, at one moment, and
// judges whether it is a successor of the lock. to names versions that are taken
// instead, by pin: what an earlier Resolve of the same set found, which must be
// valid still, or what is locked, for a pin that stays. Holds and rejected
// versions are the caller's business. It touches the network.
func (e *Engine) Resolve(ctx context.Context, set []*pins.Pin, to map[string]Wanted) *Resolution {
	r := e.begin(set)
	for _, m := range r.Members {
		if w, ok := to[m.Pin.Name]; ok {
			m.Err = r.in.want(m.Pin, w)
		}
	}
	r.each(ctx, func(_ int, m *Resolved) error {
		c, err := r.in.newest(ctx, m.Pin)
		if err == nil {
			c, err = r.in.unlessSame(ctx, m.Pin, c)
		}
		if err != nil {
			return err
		}
		err = r.in.direction(ctx, m.Pin, c)
		m.take(c)
		if err == nil && m.Moves() {
			m.Behind = r.in.behind(ctx, m.Pin, c)
		}
		return err
	})
	for _, m := range r.Members {
		m.Err = wrap(m.Pin, m.Err)
	}
	return r
}

// Member returns what the pin of that name was found to be, or nil.
func (r *Resolution) Member(pin string) *Resolved {
	for _, m := range r.Members {
		if m.Pin.Name == pin {
			return m
		}
	}
	return nil
}

// Lock brings the content of what a pin was found to be into the store, with
// submodules and inputs, and returns the lock that describes it, verified, as
// Update would write it. Nothing is written. What the patches of a stack make
// of it is for whoever moves the stack.
func (r *Resolution) Lock(ctx context.Context, pin string) (*pins.Lock, error) {
	m := r.Member(pin)
	switch {
	case m == nil:
		return nil, fmt.Errorf("pin %s was not resolved", pin)
	case m.Err != nil:
		return nil, m.Err
	case !m.Moves() || current(m.Pin, m.c):
		return m.Pin.Lock, nil
	}
	var lock *pins.Lock
	err := r.in.mending(ctx, func() (err error) {
		lock, err = r.in.newLock(ctx, m.Pin, m.c, UpdateOptions{})
		return err
	})
	m.Notes = m.c.Notes
	return lock, wrap(m.Pin, err)
}

// Target returns what a pin was found to be as the target of its stack.
func (r *Resolution) Target(pin string) (*Target, error) {
	m := r.Member(pin)
	switch {
	case m == nil:
		return nil, fmt.Errorf("pin %s was not resolved", pin)
	case m.Err != nil:
		return nil, m.Err
	}
	return r.in.targetAt(m.Pin, m.c, UpdateOptions{}), nil
}

// Successor says whether a lock is a successor of what is locked: nil, a *Moved
// or a *WrongWay. Of commits it asks the histories that are here, and the
// network only for what is not.
func (e *Engine) Successor(ctx context.Context, p *pins.Pin, next *pins.Lock) error {
	return wrap(p, e.mending(ctx, func() error { return e.direction(ctx, p, lockedCandidate(next)) }))
}

// lockedCandidate is what a lock says, as the version to take.
func lockedCandidate(l *pins.Lock) *Candidate {
	return &Candidate{Version: l.Version, Commit: git.ID(l.Commit), TagObject: git.ID(l.Tag), Digest: l.Digest, Date: l.Date, Via: l.Via, Files: l.Files}
}

// A samer is a kind whose versions may differ while their content does not.
type samer interface {
	// same reports whether a candidate has the content of p.Lock. It touches
	// the network.
	same(ctx context.Context, e *Engine, p *pins.Pin, c *Candidate) (bool, error)
}

// unlessSame returns the candidate, or what is locked where that has the same
// content under another name: no version that one moves to.
func (e *Engine) unlessSame(ctx context.Context, p *pins.Pin, c *Candidate) (*Candidate, error) {
	k, ok := kindOf(p).(samer)
	if !ok || p.State() != pins.Verified || c.id() == p.Lock.ID() {
		return c, nil
	}
	same, err := k.same(ctx, e, p, c)
	if same {
		c = lockedCandidate(p.Lock)
	}
	return c, err
}

// want makes an earlier version what the pin is in this round, without asking
// anybody yet.
func (e *Engine) want(p *pins.Pin, w Wanted) error {
	if w.ID == "" {
		return verdict.Failf("the version to take has no commit and no name")
	}
	if w.ID == p.Lock.ID() {
		e.round.settle(p, lockedCandidate(p.Lock))
		return nil
	}
	e.round.wanted[p.Name] = w
	if p.Track.Kind != pins.Gitlink || p.Track.OfPin() != "" {
		return nil
	}
	via, err := git.ParseID(w.Via)
	if err != nil {
		return verdict.Failf("the version to take does not say at which commit of %s it was read", p.Track.Of)
	}
	key := plainURL(p.Track.Of)
	if have, ok := e.round.forced[key]; ok && have != via {
		return verdict.Failf("the versions to take were not found at one moment: %s is to be read at %s and at %s", p.Track.Of, have.Short(), via.Short())
	}
	e.round.forced[key] = via
	return nil
}

// earlier returns the version that an earlier Resolve found, if it may be taken
// still: its tag is where it was, its branch has it, and where only the newest
// can be had it is the newest.
func (e *Engine) earlier(ctx context.Context, p *pins.Pin, w Wanted) (*Candidate, error) {
	var c *Candidate
	var err error
	switch p.Track.Kind {
	case pins.GitBranch:
		c, err = e.earlierCommit(ctx, p, git.ID(w.ID))
	case pins.GitTag:
		c, err = e.earlierTag(ctx, p, w)
	case pins.GithubRelease:
		if c, err = (releaseKind{}.find(ctx, e, p, w.Name)); err == nil && c.id() != w.ID {
			return nil, &Moved{Tag: w.Name, Old: git.ID(w.ID), New: c.Commit}
		}
	case pins.OCI:
		c, err = e.find(ctx, p, w.Name)
	case pins.Gitlink:
		if p.Track.OfPin() == "" {
			if err = e.onBranch(ctx, ancestry{address: p.Track.Of}, p.Track.Branch, git.ID(w.Via)); err != nil {
				return nil, err
			}
		}
		c, err = kindOf(p).newest(ctx, e, p)
	default:
		c, err = kindOf(p).newest(ctx, e, p)
	}
	if err != nil {
		return nil, err
	}
	if c.id() != w.ID || c.Version != w.Name {
		return nil, &NotAnyMore{Wanted: nameOr(w.Name, w.ID), Now: nameOr(c.Version, c.id())}
	}
	return c, nil
}

func nameOr(name, id string) string {
	if name != "" {
		return name
	}
	return id
}

func (e *Engine) earlierCommit(ctx context.Context, p *pins.Pin, id git.ID) (*Candidate, error) {
	if _, err := git.ParseID(string(id)); err != nil {
		return nil, err
	}
	if err := e.onBranch(ctx, ancestry{pin: p, address: p.Upstream}, p.Track.Branch, id); err != nil {
		return nil, explainGit(p, err)
	}
	place, err := e.place(p.Upstream)
	return &Candidate{Commit: id, StandsIn: place.StandsIn, where: []string{"refs/heads/" + p.Track.Branch}}, err
}

func (e *Engine) earlierTag(ctx context.Context, p *pins.Pin, w Wanted) (*Candidate, error) {
	name := "refs/tags/" + w.Name
	if err := git.CheckRefName(name); err != nil {
		return nil, err
	}
	patterns := []string{name}
	if p.Lock != nil && p.Lock.Version != "" {
		patterns = append(patterns, "refs/tags/"+p.Lock.Version)
	}
	refs, place, err := e.refs(ctx, p.Upstream, patterns...)
	if err != nil {
		return nil, explainGit(p, err)
	}
	if err := lockedTag(p, refs); err != nil {
		return nil, err
	}
	ref, ok := refs.Find(name)
	if !ok || string(ref.Commit()) != w.ID {
		return nil, &Moved{Tag: w.Name, Old: git.ID(w.ID), New: ref.Commit()}
	}
	c := tagged(ref)
	c.StandsIn = place.StandsIn
	return c, nil
}

// onBranch returns a *LeftBranch unless the commit is in a branch's history.
func (e *Engine) onBranch(ctx context.Context, a ancestry, branch string, id git.ID) error {
	head, err := e.tip(ctx, a.address, branch)
	if err != nil || head == id {
		return err
	}
	a.old, a.new = id, head
	var wrong *WrongWay
	if err = e.byHistory(ctx, a); errors.As(err, &wrong) {
		return &LeftBranch{URL: a.address, Branch: branch, Commit: id, Head: head}
	}
	return err
}

// behind says how far the lock is behind a candidate, of what direction has
// brought here; nothing is fetched for it.
func (e *Engine) behind(ctx context.Context, p *pins.Pin, c *Candidate) string {
	l := p.Lock
	if c.behind > 0 {
		return count(c.behind, "version")
	}
	a := ancestry{pin: p, address: p.Upstream}
	of := ""
	switch {
	case l == nil:
		return ""
	case p.Track.Kind == pins.GitBranch && l.Commit != "":
		a.old, a.new = git.ID(l.Commit), c.Commit
	case p.Track.Kind == pins.Gitlink && p.Track.OfPin() == "" && l.Via != nil && c.Via != nil:
		a = ancestry{address: p.Track.Of, old: git.ID(l.Via.Commit), new: git.ID(c.Via.Commit)}
		of = " of its integration repository"
	default:
		return ""
	}
	r, err := e.historyRepo(ctx, a)
	if err != nil {
		return "" // it is said where it matters
	}
	defer r.Close()
	if r.Shallow() {
		return ""
	}
	ids, err := r.RevList(ctx, git.Range{From: []git.ID{a.old}, To: a.new})
	if err != nil || len(ids) == 0 {
		return ""
	}
	return count(len(ids), "commit") + of
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
