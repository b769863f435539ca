// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"errors"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/httpget"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// debKind follows Debian packages: those that the track names with everything
// that they need, as apt itself would install them on an empty disk. The
// archive's address is a matter of the machine and in no lock.
type debKind struct{}

var _ kind = debKind{}

// newest asks for the suite's InRelease only; what the packages are now is seen
// by lock. The version is the point release of a stable suite, else the time
// at which the suite was made.
func (k debKind) newest(ctx context.Context, e *Engine, p *pins.Pin) (c *Candidate, err error) {
	if err := e.online("the state of " + p.Track.Suite); err != nil {
		return nil, err
	}
	a, err := e.debArchive()
	if err != nil {
		return nil, err
	}
	r, err := e.debRelease(ctx, a, debSuite(p.Track.Suite, p.Track.Pocket))
	if err != nil {
		return nil, err
	}
	return &Candidate{Version: r.version(p.Track.Pocket), Date: r.date, StandsIn: a.standsIn}, nil
}

// lock solves and downloads. Where every file is as it was the old lock stays.
func (k debKind) lock(ctx context.Context, e *Engine, p *pins.Pin, c *Candidate) (l *pins.Lock, err error) {
	if err := e.online("the state of " + p.Track.Suite); err != nil {
		return nil, err
	}
	a, err := e.debArchive()
	if err != nil {
		return nil, err
	}
	arch, err := debArch(p.Track.Platform)
	if err != nil {
		return nil, err
	}
	sources, err := e.debSources(ctx, a, p.Track.Suite, p.Track.Pocket, arch)
	if err != nil {
		return nil, err
	}
	r := sources[len(sources)-1].release
	if now := r.version(p.Track.Pocket); c.Version != "" && now != c.Version {
		return nil, verdict.Infraf("%s moved from %s to %s while it was resolved: run it again", p.Track.Suite, shown(c.Version), shown(now))
	}
	files, err := e.debSolve(ctx, a, sources, p.Track.Suite, p.Track.Pocket, p.Track.Packages, arch)
	if err != nil {
		return nil, err
	}
	if p.Lock != nil && sameFiles(p.Lock.Files, files) {
		if _, err := k.fetch(ctx, e, p); err != nil {
			return nil, err
		}
		return unchanged(p), nil
	}
	files, _, err = e.lockFiles(ctx, files, a.file)
	if err != nil {
		return nil, err
	}
	return viaMirror(&pins.Lock{Version: r.version(p.Track.Pocket), Date: r.date, Files: files}, a.standsIn), nil
}

// fetch needs to know no archive when all is in the store.
func (k debKind) fetch(ctx context.Context, e *Engine, p *pins.Pin) (entries []*store.Entry, err error) {
	a, missing := e.debPool()
	entries, err = e.fetchFiles(ctx, p, func(f pins.File) download {
		if missing != nil {
			return download{name: f.Name + " " + f.Version, expect: httpget.Expect{SHA256: f.SHA256, Size: f.Size}}
		}
		return a.file(f)
	})
	var gone *httpget.NotFound
	switch {
	case err != nil && missing != nil && !e.Offline:
		return nil, missing
	case errors.As(err, &gone):
		return nil, verdict.Infraf("%w: the archive has that version no more, take the new one with 'dist pins update %s' or name an archive that keeps it under debian: in the mirrors file", err, p.Name)
	}
	return entries, err
}

// SolveDeb returns the packages that apt would install on an empty disk to get
// the named ones: with their dependencies, no recommendations, and with the
// essential packages, on which others need not declare that they depend. The
// files are sorted by name, each with its version, architecture (Platform),
// path below the archive, sha256 and size; nothing of them is downloaded. It
// touches the network.
//
// suite is a code name, arch Debian's word for an architecture, such as amd64.
// With a pocket other than release the suite's release is used besides.
func (e *Engine) SolveDeb(ctx context.Context, suite string, pocket pins.Pocket, packages []string, arch string) ([]pins.File, error) {
	a, err := e.debArchive()
	if err != nil {
		return nil, err
	}
	sources, err := e.debSources(ctx, a, suite, pocket, arch)
	if err != nil {
		return nil, err
	}
	return e.debSolve(ctx, a, sources, suite, pocket, packages, arch)
}

// NamedDeb is SolveDeb without dependencies: the newest version of each package
// by its name alone.
func (e *Engine) NamedDeb(ctx context.Context, suite string, pocket pins.Pocket, packages []string, arch string) ([]pins.File, error) {
	a, err := e.debArchive()
	if err != nil {
		return nil, err
	}
	sources, err := e.debSources(ctx, a, suite, pocket, arch)
	if err != nil {
		return nil, err
	}
	return namedDeb(sources, suite, packages)
}

// debArch turns a platform into Debian's word for it.
func debArch(platform string) (string, error) {
	arch, ok := strings.CutPrefix(platform, "linux-")
	if !ok {
		return "", verdict.Failf("the platform %s is none of Debian's: it begins with linux-", shown(platform))
	}
	if arch == "386" {
		arch = "i386"
	}
	return arch, checkDebWord("architecture", arch)
}

// debSuite is the name of a pocket in the archive.
func debSuite(suite string, pocket pins.Pocket) string {
	if pocket == pins.PocketRelease || pocket == "" {
		return suite
	}
	return suite + "-" + string(pocket)
}

// checkDebWord refuses what is no name of a package, suite or architecture; all
// of them become arguments and parts of paths.
func checkDebWord(what, s string) error {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	if s == "" || !strings.ContainsRune(letters, rune(s[0])) || strings.Trim(s, letters+"+-.") != "" {
		return verdict.Failf("%s is no name of a Debian %s", shown(s), what)
	}
	return nil
}
