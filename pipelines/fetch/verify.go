// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// A VerifiedPin is what verifying found.
type VerifiedPin struct {
	Name    string          `json:"name"`
	Sum     string          `json:"sum,omitempty"`
	Online  bool            `json:"online"`            // the upstream itself was asked
	Cleared bool            `json:"cleared,omitempty"` // via-mirror was taken out of the lock
	Verdict verdict.Verdict `json:"verdict"`
	Why     string          `json:"why,omitempty"` // of a verdict that is not pass
}

// VerifyOptions say how far verifying goes.
type VerifyOptions struct {
	PinsDir string
	Online  bool // ask the real upstreams, without mirrors
}

// Verify reads the content of locks again and compares it with their sums.
// Online it also asks each real upstream whether it has what is locked under
// the locked names; if so, the lock is no longer marked via-mirror.
func (e *Engine) Verify(ctx context.Context, list []*pins.Pin, o VerifyOptions) ([]VerifiedPin, error) {
	if o.Online && e.Offline {
		return nil, verdict.Usagef("--online and --offline do not go together")
	}
	rows := make([]VerifiedPin, len(list))
	group := errgroup.Group{}
	group.SetLimit(e.contentJobs())
	for i, p := range list {
		group.Go(func() error {
			row := &rows[i]
			*row = VerifiedPin{Name: p.Name, Online: o.Online, Verdict: verdict.Pass}
			if p.Lock != nil {
				row.Sum = p.Lock.Sum
			}
			err := e.verify(ctx, p)
			if err == nil && o.Online {
				row.Cleared, err = e.verifyOnline(ctx, p, o.PinsDir)
			}
			if err != nil {
				row.Verdict, row.Why = verdict.Of(err), err.Error()
			}
			return nil
		})
	}
	group.Wait()
	return rows, ctx.Err()
}

// verify compares the content with the lock: what is in the store, read anew,
// and for sources the git objects where they are here.
func (e *Engine) verify(ctx context.Context, p *pins.Pin) error {
	entries, err := e.Content(ctx, p)
	if err != nil {
		return err
	}
	for _, x := range entries {
		if d := e.Store.Verify(x.Key); d != nil {
			return wrap(p, verdict.Failf("its content in the store was changed (%s): run 'dist store verify --repair', then 'dist fetch %s'", shown(strings.Join(d.Why, ", ")), p.Name))
		}
	}
	if !commits(p) || p.Lock.Sum == "" || len(entries) != 1 {
		return nil
	}
	return wrap(p, CheckFolder(entries[0].Path, p.Lock.Sum, p.Lock.Submodules, p.Lock.Excluded))
}

// A confirmer is a kind that can ask the real upstream for what is locked.
type confirmer interface {
	// confirm returns nil when the upstream has what p.Lock says. e has no
	// mirrors.
	confirm(ctx context.Context, e *Engine, p *pins.Pin) error
}

// verifyOnline asks the upstream itself and clears the lock's via-mirror.
func (e *Engine) verifyOnline(ctx context.Context, p *pins.Pin, dir string) (cleared bool, err error) {
	c, ok := kindOf(p).(confirmer)
	if !ok {
		return false, wrap(p, verdict.Skippedf("a %s pin has nothing to confirm online", p.Track.Kind))
	}
	own := *e
	own.Mirrors = e.real
	if err := c.confirm(ctx, &own, p); err != nil {
		return false, wrap(p, err)
	}
	if !p.ViaMirror() {
		return false, nil
	}
	lock := *p.Lock
	lock.ViaMirror = nil
	_, err = pins.Edit(dir, p.Name, func(file []byte) ([]byte, error) {
		if err := p.StillIs(file, &lock); err != nil {
			return nil, err
		}
		return pins.WriteLock(file, lock)
	})
	if err == nil {
		p.Lock = &lock
	}
	return err == nil, err
}

// confirm asks for the locked names, and fetches the locked commit and those of
// the submodules without files: a commit's id says all about its content, which
// was verified against it.
func (sources) confirm(ctx context.Context, e *Engine, p *pins.Pin) error {
	l := p.Lock
	if p.Track.Kind == pins.GitTag || p.Track.Kind == pins.GithubRelease && l.Version != "" {
		refs, _, err := e.refs(ctx, p.Upstream, "refs/tags/"+l.Version)
		if err != nil {
			return explainGit(p, err)
		}
		ref, ok := refs.Find("refs/tags/" + l.Version)
		switch {
		case l.Version == "":
		case !ok:
			return verdict.Failf("%s has no tag %s", p.Upstream, quoted(l.Version))
		case string(ref.Commit()) != l.Commit:
			return &Moved{Tag: l.Version, Old: git.ID(l.Commit), New: ref.Commit()}
		case l.Tag != "" && string(ref.ID) != l.Tag:
			return &Differs{"tag object of " + l.Version, l.Tag, string(ref.ID)}
		}
	}
	if err := e.has(ctx, e.address(p, l.Via), git.ID(l.Commit)); err != nil {
		return err
	}
	for _, s := range l.Submodules {
		if err := e.has(ctx, s.URL, git.ID(s.Commit)); err != nil {
			return &BadSubmodule{s.Path, err}
		}
	}
	if l.Via != nil {
		parent := p.Track.Of
		if pin := e.Set.Pin(p.Track.OfPin()); pin != nil {
			parent = pin.Upstream
		}
		return e.has(ctx, parent, git.ID(l.Via.Commit))
	}
	return nil
}

// has fetches a commit into a repository that is made for it and thrown away:
// what our own mirror has proves nothing about the upstream.
func (e *Engine) has(ctx context.Context, address string, id git.ID) error {
	place, err := e.place(address)
	if err != nil {
		return err
	}
	if err := e.online(address); err != nil {
		return err
	}
	dir, err := e.cache("git")
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp(dir, ".confirm-*")
	if err != nil {
		return store.Explain(err, e.CacheDir)
	}
	defer os.RemoveAll(work)
	r, err := git.Init(ctx, filepath.Join(work, "r.git"))
	if err != nil {
		return err
	}
	err = r.Fetch(ctx, place.Remote(), git.FetchSpec{Commits: []git.ID{id}, Depth: 1, Filter: "blob:none"})
	var gone *git.Gone
	if errors.As(err, &gone) {
		return verdict.Failf("what is locked cannot be confirmed: %w", err)
	}
	if err != nil {
		return err
	}
	if ok, err := r.HasCommit(ctx, id); err != nil || !ok {
		return fmt.Errorf("%s did not send the commit %s: %w", address, id, errors.Join(err))
	}
	return nil
}
