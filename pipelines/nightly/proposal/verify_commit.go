// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package proposal

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/patches"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/check"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

const (
	inBundle   = "proposal.bundle"
	maxChanged = 256 << 20 // bytes of all files that a round changes
)

// bundle checks a commit that was handed on and stores it. It is unpacked
// aside, where nothing of it counts, until everything was looked at.
func (x *verifier) bundle(ctx context.Context, p *Proposal, data []byte) (err error) {
	b, err := git.ReadBundle(bytes.NewReader(data))
	if err != nil {
		return tampered(inBundle, "%s", err)
	}
	ref := "refs/heads/" + p.Branch
	switch {
	case len(b.Needs) != 1 || b.Needs[0] != p.Base:
		return tampered(inBundle, "it does not stand on the one commit %s", p.Base)
	case len(b.Refs) != 1 || b.Refs[0].Name != ref || b.Refs[0].ID != p.Commit:
		return tampered(inBundle, "it has something else than %s as %s", p.Commit, ref)
	}
	s, done, err := scratch(ctx, x.repo)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	if err := s.AddPack(ctx, b.Pack, maxBundle); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return tampered(inBundle, "git refuses its objects: %s", err)
	}
	if err := x.commit(ctx, s, p.Commit); err != nil {
		return err
	}
	again, err := git.ReadBundle(bytes.NewReader(data))
	if err != nil {
		return err
	}
	return x.repo.AddPack(ctx, again.Pack, maxBundle)
}

// commit checks one commit, whose objects are in s.
func (x *verifier) commit(ctx context.Context, s *git.Repo, id git.ID) error {
	c, err := s.CommitInfo(ctx, string(id))
	if err != nil || c.ID != id {
		return tampered(inBundle, "the commit %s is not in it", id)
	}
	if len(c.Parents) != 1 || c.Parents[0] != x.round.Base {
		return tampered(inBundle, "the commit does not stand on %s alone", x.round.Base)
	}
	report, err := s.CheckTree(ctx, c.Tree, git.Limits{Entries: 2*len(x.entries) + 10_000})
	if err != nil {
		return tampered(inBundle, "%s", err)
	}
	if err := x.sizes(ctx, s, report.Entries); err != nil {
		return err
	}
	cat, err := s.CatFile(ctx)
	if err != nil {
		return err
	}
	defer cat.Close()
	changed, err := between(x.round, x.entries, report.Entries, func(e git.Entry) ([]byte, error) { return cat.Read(e.ID, "blob") })
	if err != nil {
		return tampered(inBundle, "%s", err)
	}
	if len(changed) == 0 {
		return tampered(inBundle, "the commit changes nothing")
	}
	if err := writeTree(ctx, s, report.Entries, x.nextDir, ours); err != nil {
		return tampered(inBundle, "%s", err)
	}
	next, err := pins.Load(filepath.Join(x.nextDir, "pins"))
	if err != nil {
		return tampered(inBundle, "%s", err)
	}
	dropped := map[string][]string{}
	for _, m := range x.round.Moves() {
		if dropped[m.Stack], err = x.member(m, next.Pin(m.Pin)); err != nil {
			return err
		}
	}
	if err := x.notice(next); err != nil {
		return err
	}
	want, err := git.FormatCommit(commitOf(x.round, c.Tree, dropped))
	if err != nil {
		return err
	}
	if git.HashObject("commit", want) != id {
		return tampered(inBundle, "the commit has another author, date or message")
	}
	return nil
}

// sizes bounds what is about to be read into memory.
func (x *verifier) sizes(ctx context.Context, s *git.Repo, entries []git.Entry) error {
	was := map[git.ID]bool{}
	for _, e := range x.entries {
		was[e.ID] = true
	}
	var ids []git.ID
	for _, e := range entries {
		if !was[e.ID] && e.Mode != git.ModeSubmodule {
			ids = append(ids, e.ID)
		}
	}
	var all int64
	return s.Headers(ctx, ids, func(i int, h git.Header) error {
		if all += h.Size; h.Kind != "blob" || h.Size > patches.MaxFile || all > maxChanged {
			return tampered(inBundle, "its files have too many bytes, or are none")
		}
		return nil
	})
}

// member checks the pin file and the stack of a pin that moves: the file must
// be, byte for byte, main's with the round's lock in it. It returns the patches
// that went.
func (x *verifier) member(m *round.Member, now *pins.Pin) (dropped []string, err error) {
	if now == nil || now.Lock == nil {
		return nil, tampered(inBundle, "pin %s has no lock", m.Pin)
	}
	file := pinPath(m.Pin)
	lock := *m.Lock
	if m.Stack != "" {
		_, err := os.Stat(filepath.Join(x.baseDir, stackPath(m.Stack), patches.SeriesFile))
		if err == nil {
			lock.Patched = now.Lock.Patched
			dropped, err = x.stack(m, lock.Patched)
		} else if errors.Is(err, fs.ErrNotExist) {
			err = nil // a stack that nobody has made yet
		}
		if err != nil {
			return nil, err
		}
	}
	before, err := os.ReadFile(filepath.Join(x.baseDir, file))
	if err != nil {
		return nil, err
	}
	after, err := os.ReadFile(filepath.Join(x.nextDir, file))
	if err != nil {
		return nil, tampered(inBundle, "%s", err)
	}
	want, err := pins.WriteLock(before, lock)
	if err != nil {
		return nil, tampered(inBundle, "pin %s: %s", m.Pin, err)
	}
	if !bytes.Equal(want, after) {
		return nil, tampered(inBundle, "%s is not main's with the round's lock", file)
	}
	return dropped, nil
}

// stack checks the files of a stack and what the lock says of them. That the
// patches lead to these trees needs the upstream's objects.
func (x *verifier) stack(m *round.Member, patched *pins.Patched) (dropped []string, err error) {
	s, problems, err := patches.ReadFolder(filepath.Join(x.nextDir, stackPath(m.Stack)), m.Stack)
	if err != nil {
		return nil, tampered(inBundle, "stack %s: %s", m.Stack, err)
	}
	if len(problems) > 0 {
		return nil, tampered(inBundle, "stack %s: %s", m.Stack, problems)
	}
	dir := filepath.Join(x.nextDir, stackPath(m.Stack))
	if _, err := patches.ReadResolutions(dir); err != nil {
		return nil, tampered(inBundle, "stack %s: %s", m.Stack, err)
	}
	files := s.Series.Files()
	switch {
	case s.Series.Base != "":
		return nil, tampered(inBundle, "the series of %s is for %s", m.Stack, s.Series.Base)
	case len(files) != len(s.Patches):
		return nil, tampered(inBundle, "the series of %s has %d patches, the folder %d", m.Stack, len(files), len(s.Patches))
	case (patched == nil) != (len(files) == 0):
		return nil, tampered(inBundle, "the lock of pin %s does not fit its %d patches", m.Pin, len(files))
	case patched == nil:
	case len(patched.Steps) != len(files) || patched.Steps[len(files)-1].Tree != patched.Tree:
		return nil, tampered(inBundle, "the lock of pin %s has %d steps for %d patches", m.Pin, len(patched.Steps), len(files))
	}
	for i, p := range s.Patches {
		if patched.Steps[i].File != files[i] {
			return nil, tampered(inBundle, "step %d of pin %s is %q, not %s", i+1, m.Pin, patched.Steps[i].File, files[i])
		}
		data, err := os.ReadFile(filepath.Join(dir, files[i]))
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(data, patches.Render(p)) {
			return nil, tampered(inBundle, "%s is not written as patches are", s.Shown(files[i]))
		}
	}
	before, err := readSeries(x.baseDir, m.Stack)
	if err != nil {
		return nil, err
	}
	return droppedFiles(before, s.Series), nil
}

// notice compares NOTICE with what the pins make of main's.
func (x *verifier) notice(next *pins.Set) error {
	before, err := os.ReadFile(filepath.Join(x.baseDir, Notice))
	after, errAfter := os.ReadFile(filepath.Join(x.nextDir, Notice))
	if errors.Is(err, os.ErrNotExist) && errors.Is(errAfter, os.ErrNotExist) {
		return nil
	}
	if err != nil || errAfter != nil {
		return tampered(inBundle, "%s is on one side only", Notice)
	}
	want, err := check.MoveNotice(before, x.base, next)
	if err != nil {
		return tampered(inBundle, "%s", err)
	}
	if !bytes.Equal(want, after) {
		return tampered(inBundle, "%s is not what the pins make it", Notice)
	}
	return nil
}
