// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/filelock"
	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/httpget"
	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// A mirrorRepo is our own bare repository of one upstream, locked against other
// processes until it is closed.
type mirrorRepo struct {
	*git.Repo
	upstream string // the address that it is a mirror of
	place    Place  // where it is read
	lock     *filelock.Lock
}

func (r *mirrorRepo) Close() error { return r.lock.Unlock() }

// place returns where an upstream is read. Addresses that upstreams write may
// only be https and outside of this machine and its network, unless a mirror
// maps them.
func (e *Engine) place(address string) (Place, error) {
	p := e.Mirrors.Place(address)
	if p.Mapped {
		return p, nil
	}
	return p, httpget.CheckURL(address)
}

// pinRepo opens the repository of a pin's upstream: git/<name>.git in the cache.
func (e *Engine) pinRepo(ctx context.Context, p *pins.Pin) (*mirrorRepo, error) {
	return e.openRepo(ctx, p.Name+".git", p.Upstream)
}

// repoOf opens the repository of an address: that of the pin with this
// upstream, else git/by-url/<host and path>.git in the cache.
func (e *Engine) repoOf(ctx context.Context, address string) (*mirrorRepo, error) {
	return e.openRepo(ctx, e.repoName(address), address)
}

func (e *Engine) repoName(address string) string {
	if e.Set != nil {
		for _, p := range e.Set.Pins {
			if p.Upstream != "" && sameURL(p.Upstream, address) && commits(p) {
				return p.Name + ".git"
			}
		}
	}
	return byURL(address)
}

// byURL names the repository of an address that is no pin's upstream.
func byURL(address string) string { return filepath.Join("by-url", repoFolder(address)) }

// historySuffix ends the name of a repository that has commits alone.
const historySuffix = ".history.git"

// repoFolder is a folder name that a person recognises and that is this
// address's alone.
func repoFolder(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '.', r == '_':
			return r
		}
		return '+'
	}, strings.TrimSuffix(rest, ".git"))
	if len(name) > 80 {
		name = name[:80]
	}
	sum := sha256.Sum256([]byte(address))
	if name = strings.TrimLeft(name, ".-"); name == "" {
		name = "repository"
	}
	return name + "-" + hex.EncodeToString(sum[:4]) + ".git"
}

func (e *Engine) openRepo(ctx context.Context, name, address string) (*mirrorRepo, error) {
	place, err := e.place(address)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(e.CacheDir, "git", name)
	if _, err := e.cache("git", filepath.Dir(name)); err != nil {
		return nil, err
	}
	lock, err := filelock.Wait(ctx, dir+".lock", func() {
		e.Progress.Step("waiting until nobody else uses %s", name)
	})
	if err != nil {
		return nil, store.Explain(err, e.CacheDir)
	}
	if err := clearLocks(ctx, dir); err != nil {
		lock.Unlock()
		return nil, store.Explain(err, e.CacheDir)
	}
	repo, err := git.Init(ctx, dir)
	if err != nil {
		lock.Unlock()
		return nil, store.Explain(err, e.CacheDir)
	}
	return &mirrorRepo{Repo: repo, upstream: address, place: place, lock: lock}, nil
}

// settle is how old a lock of git must be before it is a dead process's: a
// child of a killed process may live on for a moment.
const settle = 2 * time.Second

// clearLocks removes the locks that a killed git left. Nobody else works on the
// repository: we hold its lock.
func clearLocks(ctx context.Context, dir string) error {
	locks := within(dir, func(name string) bool { return strings.HasSuffix(name, ".lock") })
	err := filepath.WalkDir(filepath.Join(dir, "refs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".lock") {
			locks = append(locks, path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, l := range locks {
		st, err := os.Stat(l)
		if err != nil {
			continue
		}
		if wait := settle - time.Since(st.ModTime()); wait > 0 {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(min(wait, settle)):
			}
		}
		if err := os.Remove(l); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	// Packs and folders that were never finished are of no use to a second try.
	left := within(filepath.Join(dir, "objects", "pack"), func(name string) bool { return strings.HasPrefix(name, "tmp_") })
	left = append(left, within(filepath.Join(dir, "objects"), func(name string) bool {
		return strings.HasPrefix(name, "incoming-") || strings.HasPrefix(name, "tmp_objdir-")
	})...)
	for _, name := range left {
		os.RemoveAll(name)
	}
	return nil
}

// within lists what a folder has of certain names; of a folder that is not
// there, nothing.
func within(dir string, is func(name string) bool) []string {
	entries, _ := os.ReadDir(dir)
	var out []string
	for _, x := range entries {
		if is(x.Name()) {
			out = append(out, filepath.Join(dir, x.Name()))
		}
	}
	return out
}

// says shows what git says on its way, one line a phase.
func (e *Engine) says(name string) git.Progress {
	if e.Progress == nil {
		return nil
	}
	seen := map[string]bool{}
	return func(text string) {
		phase, _, _ := strings.Cut(strings.TrimPrefix(text, "remote: "), ":")
		if strings.Contains(text, "%") && !seen[phase] && len(seen) < 20 {
			seen[phase] = true
			e.Progress.Step("%s: %s", name, strings.ToLower(inert.Line(phase, 60)))
		}
	}
}

// commits reports whether the versions of a pin are commits of its upstream.
func commits(p *pins.Pin) bool {
	switch p.Track.Kind {
	case pins.GitBranch, pins.GitTag, pins.Gitlink, pins.GithubRelease:
		return true
	}
	return false
}

// sameURL compares addresses of repositories: with and without .git and a slash
// at the end they are the same.
func sameURL(a, b string) bool { return plainURL(a) == plainURL(b) }

func plainURL(s string) string {
	return strings.TrimSuffix(strings.TrimSuffix(s, "/"), ".git")
}

// explainGit puts what a user must know about an address into the error.
func explainGit(p *pins.Pin, err error) error {
	var moved *git.Redirected
	if errors.As(err, &moved) {
		return verdict.Failf("%w (in %s)", err, p.File())
	}
	return err
}
