// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package fetch finds the newest versions of upstreams, brings their content
// here, verifies it and locks it. It is what 'dist pins check', 'update',
// 'verify' and 'archive', 'dist fetch' and 'dist export' do, and what the
// nightly job resolves with.
//
// The network is touched by a kind's newest and lock, and by fetch when the
// content is not in the store; never by anything else. Nothing that was fetched
// is executed. A pin's file changes only after everything that its new lock
// names is verified and in the store.
//
// Limits: git work trees are not used; Git LFS files are what git has, their
// pointers.
package fetch

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/1bit-MONSTER/engine/internal/clock"
	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/httpget"
	"github.com/1bit-MONSTER/engine/internal/progress"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// An Engine is what all work on pins needs. It may be used by several
// goroutines, and several engines may share a cache and a store.
type Engine struct {
	Set      *pins.Set
	Mirrors  *Mirrors // nil: every upstream is asked itself
	Store    *store.Store
	CacheDir string // an absolute path; git repositories are in its folder git
	HTTP     *httpget.Client
	Offline  bool // nothing touches the network
	Jobs     int  // how many pins are worked on side by side; 0: DefaultJobs
	Progress *progress.Reporter
	Clock    clock.Clock

	round *round   // what was resolved together; nil outside Check and Update
	real  *Mirrors // where upstreams are when no mirror counts; tests have theirs on loopback

	debKeyring string // instead of the distribution's; for tests
	npm        string // the registry, instead of the one that npm names; for tests
}

// DefaultJobs is how many pins are worked on side by side: the work is waiting
// for other hosts, not computing.
const DefaultJobs = 16

// A Candidate is a version that an upstream has.
type Candidate struct {
	Version   string    // tag or version as the upstream writes it; empty for a branch
	Commit    git.ID    // empty for kinds without commits
	Digest    string    // oci: sha256: of the manifest
	TagObject git.ID    // the annotated tag behind Version, if it is one
	Date      time.Time // of publication, where it is known before the content is here
	Via       *pins.Via // gitlink: where it was read
	StandsIn  string    // the repository that a mirror read instead of the upstream
	Files     []pins.File
	Notes     []string // for people: what is worth knowing and stops nothing

	where  []string // refs that have it, for remotes that give out no commit by id
	behind int      // versions that are newer than the locked one, where they were listed
}

// id is what identifies the candidate, as pins.Lock.ID does for a lock.
func (c *Candidate) id() string {
	if c.Commit != "" {
		return string(c.Commit)
	}
	if c.Digest != "" {
		return c.Digest
	}
	return c.Version
}

// A kind is one way of finding and fetching versions.
type kind interface {
	// newest asks the upstream for its newest version, in one request. It
	// touches the network.
	newest(ctx context.Context, e *Engine, p *pins.Pin) (*Candidate, error)
	// lock brings the candidate's content into the store and returns the lock
	// that describes it, sums and all. It touches the network.
	lock(ctx context.Context, e *Engine, p *pins.Pin, c *Candidate) (*pins.Lock, error)
	// fetch brings the content that p.Lock describes into the store, verified
	// against it. It touches the network only for what is not there.
	fetch(ctx context.Context, e *Engine, p *pins.Pin) ([]*store.Entry, error)
}

// A kind that can look for one revision that a person names implements finder.
type finder interface {
	// find returns the version that rev names: a tag, a branch, a full commit
	// or whatever the kind calls a version. It touches the network.
	find(ctx context.Context, e *Engine, p *pins.Pin, rev string) (*Candidate, error)
}

// kindOf returns what handles a pin's track.
func kindOf(p *pins.Pin) kind {
	switch p.Track.Kind {
	case pins.GitBranch:
		return branchKind{}
	case pins.GitTag:
		return tagKind{}
	case pins.Gitlink:
		return gitlinkKind{}
	case pins.Field:
		return fieldKind{}
	case pins.GithubRelease:
		if len(p.Track.Assets) == 0 {
			return releasedSource{}
		}
		return releaseKind{}
	case pins.Index:
		return indexKind{}
	case pins.HuggingFace:
		return huggingFaceKind{}
	case pins.GoModule:
		return goModuleKind{}
	case pins.Deb:
		return debKind{}
	case pins.OCI:
		return ociKind{}
	}
	return manualKind{} // no other kind loads
}

func (e *Engine) now() time.Time {
	if e.Clock == nil {
		return clock.System()
	}
	return e.Clock()
}

func (e *Engine) jobs() int {
	if e.Jobs > 0 {
		return e.Jobs
	}
	return DefaultJobs
}

// contentJobs is how many pins' contents are brought here side by side: each
// takes several git processes, and the disk is one.
func (e *Engine) contentJobs() int { return min(e.jobs(), 4) }

// online is asked before anything touches the network.
func (e *Engine) online(what string) error {
	if e.Offline {
		return verdict.Infraf("%s is not here and --offline forbids to ask for it: run the same once without --offline", what)
	}
	return nil
}

// cache makes a folder of the cache and returns its path.
func (e *Engine) cache(elem ...string) (string, error) {
	dir := filepath.Join(append([]string{e.CacheDir}, elem...)...)
	return dir, store.Explain(os.MkdirAll(dir, 0o777), e.CacheDir)
}
