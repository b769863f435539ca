// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// sources is what all kinds whose versions are commits do alike once the commit
// is known.
type sources struct{}

// lock brings a commit's source into the store and describes it.
func (sources) lock(ctx context.Context, e *Engine, p *pins.Pin, c *Candidate) (*pins.Lock, error) {
	q := *p
	q.Upstream = e.address(p, c.Via)
	s, err := e.source(ctx, &q, c.Commit, c.where)
	if err != nil {
		return nil, err
	}
	if _, err := e.put(ctx, sourceName(p, c.Version, c.Commit), s); err != nil {
		return nil, err
	}
	if err := s.keep(ctx, p); err != nil {
		return nil, err
	}
	if len(p.Keys) > 0 && c.TagObject != "" {
		if err := e.keepTag(ctx, &q, c); err != nil {
			return nil, err
		}
	}
	l := &pins.Lock{
		Version: c.Version, Tag: string(c.TagObject), Commit: string(c.Commit), Tree: string(s.info.Tree), Sum: s.sum,
		Date: s.info.Committer.When.UTC(), Via: c.Via,
		Submodules: s.modules, Excluded: s.excluded, Licenses: s.licenses,
	}
	from := s.standIns
	if c.StandsIn != "" && !slices.Contains(from, c.StandsIn) {
		from = append([]string{c.StandsIn}, from...)
	}
	if len(from) > 0 {
		l.ViaMirror = &pins.ViaMirror{StandsIn: strings.Join(from, ", ")}
	}
	return l, nil
}

// fetch brings the locked source into the store.
func (sources) fetch(ctx context.Context, e *Engine, p *pins.Pin) ([]*store.Entry, error) {
	key, err := store.KeyOf(p.Lock.Sum)
	if err != nil {
		return nil, err
	}
	entry, err := e.Store.Get(key)
	var absent *store.Absent
	if errors.As(err, &absent) {
		entry, err = sources{}.fetchNew(ctx, e, p)
	}
	if err != nil {
		return nil, err
	}
	return []*store.Entry{entry}, nil
}

func (sources) fetchNew(ctx context.Context, e *Engine, p *pins.Pin) (*store.Entry, error) {
	s, err := e.locked(ctx, p)
	if err != nil {
		return nil, err
	}
	return e.put(ctx, sourceName(p, p.Lock.Version, git.ID(p.Lock.Commit)), s)
}

// locked brings the locked commit's objects here and compares them with the
// lock.
func (e *Engine) locked(ctx context.Context, p *pins.Pin) (*source, error) {
	commit, err := git.ParseID(p.Lock.Commit)
	if err != nil {
		return nil, err
	}
	q := *p
	q.Upstream = e.address(p, p.Lock.Via)
	s, err := e.source(ctx, &q, commit, nil)
	if err != nil {
		return nil, err
	}
	if err := s.compare(p.Lock); err != nil {
		return nil, err
	}
	return s, s.keep(ctx, p)
}

// compare returns the first difference between a source and its lock.
func (s *source) compare(l *pins.Lock) error {
	if string(s.info.Tree) != l.Tree {
		return &Differs{"tree", l.Tree, string(s.info.Tree)}
	}
	for i := range max(len(s.modules), len(l.Submodules)) {
		var found, want pins.Submodule
		if i < len(s.modules) {
			found = s.modules[i]
		}
		if i < len(l.Submodules) {
			want = l.Submodules[i]
		}
		if found.Path != want.Path || found.Commit != want.Commit || found.Sum != want.Sum {
			return &Differs{"submodule", strings.TrimSpace(want.Path + " " + want.Commit + " " + want.Sum), strings.TrimSpace(found.Path + " " + found.Commit + " " + found.Sum)}
		}
	}
	if s.sum != l.Sum {
		return &Differs{"sum", l.Sum, s.sum}
	}
	return nil
}

// keep holds the commits of a source by refs of the pin, in its own repository
// and in those of its submodules.
func (s *source) keep(ctx context.Context, p *pins.Pin) error {
	for _, one := range s.parts {
		if err := one.repo.SetRef(ctx, KeptRef(p.Name, one.commit), one.commit); err != nil {
			return err
		}
	}
	return nil
}

func sourceName(p *pins.Pin, version string, commit git.ID) string {
	if version == "" {
		version = commit.Short()
	}
	return p.Name + " " + version
}

// address returns where the commits of a pin are: its upstream, or the other
// address that its integration repository names and that the pin allows.
func (e *Engine) address(p *pins.Pin, via *pins.Via) string {
	if via == nil {
		return p.Upstream
	}
	base := p.Track.Of
	if parent := e.Set.Pin(p.Track.OfPin()); parent != nil {
		base = parent.Upstream
	}
	u, err := resolveURL(base, via.URL)
	if err != nil || sameURL(u, p.Upstream) || !slices.ContainsFunc(p.Track.AllowedURLs, func(a string) bool { return sameURL(a, u) }) {
		return p.Upstream
	}
	return u
}

// refs asks a repository for its refs, in one request.
func (e *Engine) refs(ctx context.Context, address string, patterns ...string) (git.Refs, Place, error) {
	place, err := e.place(address)
	if err != nil {
		return git.Refs{}, place, err
	}
	if err := e.online("what " + address + " has"); err != nil {
		return git.Refs{}, place, err
	}
	refs, err := git.LsRemote(ctx, place.Remote(), patterns...)
	return refs, place, err
}

// askHead asks for the commit of a branch.
func (e *Engine) askHead(ctx context.Context, address, branch string) (git.ID, error) {
	refs, _, err := e.refs(ctx, address, "refs/heads/"+branch)
	if err != nil {
		return "", err
	}
	ref, ok := refs.Find("refs/heads/" + branch)
	if !ok {
		return "", &BranchGone{URL: address, Branch: branch, Default: strings.TrimPrefix(refs.Head, "refs/heads/")}
	}
	return ref.ID, nil
}

// revision returns what a person's revision names: a tag, a branch or a full
// commit of that repository.
func (e *Engine) revision(ctx context.Context, address, rev string) (*Candidate, error) {
	if id, err := git.ParseID(rev); err == nil {
		place, err := e.place(address)
		return &Candidate{Commit: id, StandsIn: place.StandsIn}, err
	}
	if git.CheckRefName("refs/tags/"+rev) != nil {
		return nil, verdict.Usagef("--to %s is neither a tag, a branch nor a full commit", quoted(rev))
	}
	refs, place, err := e.refs(ctx, address, "refs/tags/"+rev, "refs/heads/"+rev)
	if err != nil {
		return nil, err
	}
	if ref, ok := refs.Find("refs/tags/" + rev); ok {
		c := tagged(ref)
		c.StandsIn = place.StandsIn
		return c, nil
	}
	if ref, ok := refs.Find("refs/heads/" + rev); ok {
		return &Candidate{Commit: ref.ID, StandsIn: place.StandsIn, where: []string{ref.Name}}, nil
	}
	return nil, verdict.Usagef("%s has no tag or branch %s; a commit is given with all its 40 digits", address, quoted(rev))
}

// tagged is the candidate that a tag is.
func tagged(ref git.Ref) *Candidate {
	c := &Candidate{Version: strings.TrimPrefix(ref.Name, "refs/tags/"), Commit: ref.Commit(), where: []string{ref.Name}}
	if ref.Peeled != "" {
		c.TagObject = ref.ID
	}
	return c
}
