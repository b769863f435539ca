// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/1bit-MONSTER/engine/internal/git"
)

// An upstreamScan reads what upstream did to the stack's files since the fork,
// while the merges go on.
type upstreamScan struct {
	cancel  context.CancelFunc
	done    sync.WaitGroup
	commits []touching
	texts   map[git.ID]*patchText
	err     error
	used    bool
}

func (s *upstreamScan) stop() {
	s.cancel()
	s.done.Wait()
}

// startScan starts to read the upstream commits that touch a file of a patch
// near which upstream has changed anything. What upstream has, it has changed:
// for the other patches there is nothing to find.
func (r *rebasing) startScan(ctx context.Context) *upstreamScan {
	ctx, cancel := context.WithCancel(ctx)
	s := &upstreamScan{cancel: cancel}
	var paths []string
	var own []git.ID
	sets := map[string]bool{}
	for _, p := range r.patches {
		if !slices.ContainsFunc(p.before, func(c change) bool { _, ok := r.drift[c.path]; return ok }) {
			continue
		}
		own = append(own, p.commit.ID)
		sets[p.paths()] = true
		for _, c := range p.before {
			paths = append(paths, c.path)
		}
	}
	if r.fork == "" || len(own) == 0 {
		return s
	}
	bare, from, to := r.o.Bare, r.fork, r.onto.ID
	paths = sortedSet(paths)
	s.done.Go(func() {
		if s.commits, s.err = r.e.history(ctx, from, to, paths); s.err != nil || len(s.commits) == 0 {
			return
		}
		var wanted []touching
		for _, c := range s.commits {
			if !bare || sets[strings.Join(c.paths, "\x00")] {
				wanted = append(wanted, c)
			}
		}
		s.texts, s.err = r.e.textsOf(ctx, own, wanted, paths)
	})
	return s
}

// textsOf reads the patches of the stack and of upstream's commits. A commit
// whose blobs are not all in the object store is left out: it explains nothing,
// but nothing is wrong with the stack.
func (e *Engine) textsOf(ctx context.Context, own []git.ID, upstream []touching, paths []string) (map[git.ID]*patchText, error) {
	if len(upstream) == 0 {
		return nil, nil
	}
	ids := slices.Clone(own)
	for _, c := range upstream {
		ids = append(ids, c.id)
	}
	texts, err := e.patchTexts(ctx, ids, paths)
	if err == nil || ctx.Err() != nil {
		return texts, err
	}
	var blobs []git.ID
	for _, c := range upstream {
		for _, f := range c.files {
			blobs = append(blobs, f.ID)
		}
	}
	missing, e2 := e.s.Missing(ctx, blobs)
	if e2 != nil || len(missing) == 0 {
		return nil, err
	}
	slices.Sort(missing)
	ids = slices.Clone(own)
	for _, c := range upstream {
		if !slices.ContainsFunc(c.files, func(f git.Entry) bool { _, gone := slices.BinarySearch(missing, f.ID); return gone }) {
			ids = append(ids, c.id)
		}
	}
	return e.patchTexts(ctx, ids, paths)
}

// paths identifies the files that a patch touches.
func (p *rebased) paths() string {
	list := make([]string, len(p.before))
	for i, c := range p.before {
		list[i] = c.path
	}
	return strings.Join(sortedSet(list), "\x00")
}

// wait waits for the scan and notes the upstream commits that are the same
// change as one of the patches. Newest first: what upstream took and then took
// back, it does not have.
func (r *rebasing) wait() error {
	s := r.scan
	s.done.Wait()
	if s.err != nil || s.used {
		return s.err
	}
	s.used = true
	byPaths := map[string][]*rebased{}
	for _, p := range r.patches {
		byPaths[p.paths()] = append(byPaths[p.paths()], p)
	}
	reverted := map[*rebased]git.ID{}
	for _, c := range s.commits {
		for _, p := range byPaths[strings.Join(c.paths, "\x00")] {
			theirs, mine := s.texts[c.id], s.texts[p.commit.ID]
			switch {
			case theirs == nil || mine == nil || p.exact != "" || p.Reverted != nil:
			case theirs.sum == mine.sum && reverted[p] != "":
				u, err := r.e.upstreamCommit(reverted[p])
				if err != nil {
					return err
				}
				p.Reverted = u
			case theirs.sum == mine.sum:
				p.exact = c.id
			case reverted[p] == "" && theirs.lines.undoes(mine.lines):
				reverted[p] = c.id
			}
		}
	}
	return nil
}
