// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// ArchiveFile lists the remotes that keep every commit that was ever locked,
// relative to the repository:
//
//	remotes:
//	  - url: https://github.com/example/archive.git
//	    token-env: ARCHIVE_TOKEN   # the variable that holds the password, if any
const ArchiveFile = "ci/archive.yaml"

// An ArchiveRemote is one place that keeps commits.
type ArchiveRemote struct {
	URL      string `yaml:"url"`
	TokenEnv string `yaml:"token-env"`
}

// LoadArchive reads the list of remotes; a missing file is an empty list.
func LoadArchive(repo string) ([]ArchiveRemote, error) {
	path := filepath.Join(repo, filepath.FromSlash(ArchiveFile))
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var file struct {
		Remotes []ArchiveRemote `yaml:"remotes"`
	}
	if err := decodeStrict(data, &file); err != nil {
		return nil, verdict.Usagef("%s: %s", ArchiveFile, err)
	}
	for i, r := range file.Remotes {
		if r.URL == "" {
			return nil, verdict.Usagef("%s: remote %d has no url", ArchiveFile, i+1)
		}
	}
	return file.Remotes, nil
}

// NoArchive is what archiving is skipped for.
const NoArchive = "no archive configured"

// An Archived says where a locked commit is kept.
type Archived struct {
	Name    string          `json:"name"`
	Ref     string          `json:"ref"`
	Held    []string        `json:"held,omitempty"` // remotes that have it now
	Verdict verdict.Verdict `json:"verdict"`
	Why     string          `json:"why,omitempty"` // of a verdict that is not pass
}

// Archive pushes the locked commits of pins, and those of their submodules, to
// all remotes, and asks each remote afterwards whether it holds them. What has
// no commit is skipped.
func (e *Engine) Archive(ctx context.Context, list []*pins.Pin, remotes []ArchiveRemote) ([]Archived, error) {
	if len(remotes) == 0 {
		return nil, verdict.Skippedf("skipped: %s: list remotes in %s", NoArchive, ArchiveFile)
	}
	var rows []Archived
	for _, p := range list {
		if !commits(p) {
			continue
		}
		row := Archived{Name: p.Name, Verdict: verdict.Pass}
		if p.State() != pins.Verified {
			row.Verdict, row.Why = verdict.Skipped, "it is "+string(p.State())
			rows = append(rows, row)
			continue
		}
		row.Ref = KeptRef(p.Name, git.ID(p.Lock.Commit))
		var all []error
		for _, remote := range remotes {
			if err := e.mending(ctx, func() error { return e.archive(ctx, p, remote) }); err != nil {
				all = append(all, err)
				continue
			}
			row.Held = append(row.Held, git.Mask(remote.URL))
		}
		if err := errors.Join(all...); err != nil {
			row.Verdict, row.Why = Problems(all).Verdict(), Problems(all).Error()
		}
		rows = append(rows, row)
		if ctx.Err() != nil {
			return rows, ctx.Err()
		}
	}
	return rows, nil
}

// archive pushes one pin's commits to one remote and checks that it holds them.
func (e *Engine) archive(ctx context.Context, p *pins.Pin, remote ArchiveRemote) error {
	to, err := e.archiveRemote(remote)
	if err != nil {
		return err
	}
	s, err := e.locked(ctx, p)
	if err != nil {
		return err
	}
	refs, err := git.LsRemote(ctx, to, "refs/pins/"+p.Name+"/*")
	if err != nil {
		return err
	}
	for _, one := range s.parts {
		ref := KeptRef(p.Name, one.commit)
		if have, ok := refs.Find(ref); ok && have.ID == one.commit {
			continue
		}
		if err := e.push(ctx, p, one, to, ref); err != nil {
			return err
		}
	}
	if refs, err = git.LsRemote(ctx, to, "refs/pins/"+p.Name+"/*"); err != nil {
		return err
	}
	for _, one := range s.parts {
		ref := KeptRef(p.Name, one.commit)
		if have, ok := refs.Find(ref); !ok || have.ID != one.commit {
			return verdict.Failf("%s does not hold %s after the push: look what it does with refs/pins/", git.Mask(remote.URL), ref)
		}
	}
	return nil
}

// push sends a commit. A remote takes none whose history ends somewhere, so a
// commit that was fetched at depth 1 is fetched whole first, into a repository
// of its own.
func (e *Engine) push(ctx context.Context, p *pins.Pin, one part, to git.Remote, ref string) error {
	repo := one.repo
	if repo.Shallow() || p.Stack != "" || len(p.Lock.Excluded) > 0 {
		whole, err := e.whole(ctx, p, one)
		if err != nil {
			return err
		}
		repo = whole
	}
	e.Progress.Step("%s: push %s to %s", p.Name, one.commit.Short(), git.Mask(to.URL))
	err := repo.Push(ctx, to, git.PushRef{Ref: ref, ID: one.commit})
	var moved *git.RefMoved
	if errors.As(err, &moved) {
		return nil // another process was faster; the check afterwards decides
	}
	return err
}

func (e *Engine) whole(ctx context.Context, p *pins.Pin, one part) (*git.Repo, error) {
	name := p.Name + ".archive.git"
	if one.path != "" {
		name = filepath.Join("by-url", strings.TrimSuffix(repoFolder(one.address), ".git")+".archive.git")
	}
	r, err := e.openRepo(ctx, name, one.address)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if have, err := r.HasCommit(ctx, one.commit); err != nil || have {
		return r.Repo, err
	}
	if err := e.online("the whole history of " + one.address); err != nil {
		return nil, err
	}
	e.Progress.Step("%s: fetch the whole history of %s from %s", p.Name, one.commit.Short(), shownPlace(r))
	err = r.Fetch(ctx, r.place.Remote(), git.FetchSpec{Commits: []git.ID{one.commit}, Progress: e.says(p.Name)})
	return r.Repo, err
}

func (e *Engine) archiveRemote(a ArchiveRemote) (git.Remote, error) {
	place := e.Mirrors.Place(a.URL)
	to := place.Remote()
	if a.TokenEnv != "" {
		token := os.Getenv(a.TokenEnv)
		if token == "" {
			return to, verdict.Usagef("%s wants the password in %s, which is not set", git.Mask(a.URL), a.TokenEnv)
		}
		to.Credential = git.Credential{User: "x-access-token", Password: token}
	}
	if e.Offline {
		return to, fmt.Errorf("%s: %w", git.Mask(a.URL), e.online("an archive"))
	}
	return to, nil
}

// Archivable reports whether a pin has commits that an archive keeps.
func Archivable(p *pins.Pin) bool { return commits(p) }
