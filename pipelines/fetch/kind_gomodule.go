// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/toolchain"
)

// goModuleKind follows a Go module through the machine's own go client, which
// knows where modules come from; no address of a proxy is known here.
type goModuleKind struct{}

var _ kind = goModuleKind{}

func (k goModuleKind) newest(ctx context.Context, e *Engine, p *pins.Pin) (c *Candidate, err error) {
	if err := e.online("the list of its versions"); err != nil {
		return nil, err
	}
	versions, err := toolchain.ModuleVersions(ctx, p.Track.Module)
	if err != nil {
		return nil, err
	}
	version, err := newestModule(p, versions)
	if err != nil {
		return nil, err
	}
	return &Candidate{Version: version}, nil
}

// newestModule picks a version: by the schemes, else by the order of Go itself.
func newestModule(p *pins.Pin, versions []string) (string, error) {
	if platform := p.Track.Platform; platform != "" {
		versions = slices.DeleteFunc(slices.Clone(versions), func(v string) bool { return !strings.HasSuffix(v, "."+platform) })
	}
	if len(p.Track.Schemes) == 0 {
		best := ""
		for _, v := range versions {
			if before := semver.Prerelease(v) != ""; before && (p.Track.Prerelease == "" || p.Track.Prerelease == pins.PrereleaseNo) {
				continue
			}
			if semver.Compare(v, best) > 0 {
				best = v
			}
		}
		if best == "" {
			return "", verdict.Failf("the module %s has none of %d versions that counts", p.Track.Module, len(versions))
		}
		return best, nil
	}
	schemes, err := pins.NewSchemes(&p.Track)
	if err != nil {
		return "", err
	}
	// A list of versions is not one of tags: what is older than a scheme's
	// since stays in it for ever.
	var known []string
	for _, v := range versions {
		if _, err := schemes.Parse(v); err == nil || schemes.Ignored(v) {
			known = append(known, v)
		}
	}
	best, _, err := schemes.Newest(known)
	return best, err
}

func (k goModuleKind) lock(ctx context.Context, e *Engine, p *pins.Pin, c *Candidate) (l *pins.Lock, err error) {
	if err := e.online(p.Track.Module + "@" + c.Version); err != nil {
		return nil, err
	}
	m, err := toolchain.LockModule(ctx, e.Store, p.Track.Module, c.Version, e.Progress)
	if err != nil {
		return nil, err
	}
	if p.Lock != nil && p.Lock.Version == c.Version && p.Lock.Sum != "" {
		if p.Lock.Sum != m.Sum {
			return nil, &Differs{What: "sum of " + p.Track.Module + "@" + c.Version, Locked: p.Lock.Sum, Found: m.Sum}
		}
		return unchanged(p), nil
	}
	return viaMirror(&pins.Lock{Version: c.Version, Sum: m.Sum, Date: m.Time}, ""), nil
}

func (k goModuleKind) fetch(ctx context.Context, e *Engine, p *pins.Pin) (entries []*store.Entry, err error) {
	l := p.Lock
	if l == nil || l.Sum == "" {
		return nil, notLocked(p)
	}
	if e.Offline {
		key, err := store.KeyOf(l.Sum)
		if err != nil {
			return nil, err
		}
		entry, err := e.Store.Get(key)
		if err != nil {
			return nil, e.online(p.Track.Module + "@" + l.Version)
		}
		return []*store.Entry{entry}, nil
	}
	entry, err := toolchain.FetchModule(ctx, e.Store, p.Track.Module, l.Version, l.Sum, e.Progress)
	if err != nil {
		return nil, err
	}
	return []*store.Entry{entry}, nil
}
