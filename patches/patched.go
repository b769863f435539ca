// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"context"
	"fmt"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/treesum"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// PatchedLock returns what a pin's lock says about a stack: the tree after
// each of its patches, as Rebuild returned them, and the sum of the last one.
// It is nil for a stack without patches. The pin must be verified, because the
// sum has those of its submodules in it.
func PatchedLock(ctx context.Context, repo *git.Repo, pin *pins.Pin, s *Stack, trees []git.ID) (*pins.Patched, error) {
	if len(trees) == 0 {
		return nil, nil
	}
	if pin.State() != pins.Verified {
		return nil, verdict.Failf("pin %s is %s: run 'dist pins update %s' first", pin.Name, pin.State(), pin.Name)
	}
	p := &pins.Patched{Tree: string(trees[len(trees)-1])}
	for i, patch := range s.Patches {
		p.Steps = append(p.Steps, pins.Step{File: patch.File, Tree: string(trees[i])})
	}
	sum, err := sumOf(ctx, repo, pin, trees[len(trees)-1])
	if err != nil {
		return nil, fmt.Errorf("pin %s: patched tree: %w", pin.Name, err)
	}
	p.Sum = sum
	return p, nil
}

// sumOf sums a patched tree with the pin's submodules and exclusions.
func sumOf(ctx context.Context, repo *git.Repo, pin *pins.Pin, tree git.ID) (string, error) {
	entries, err := repo.LsTree(ctx, tree)
	if err != nil {
		return "", err
	}
	o := treesum.Options{Submodules: map[string]string{}}
	locked := map[string]pins.Submodule{}
	for _, m := range pin.Lock.Submodules {
		locked[m.Path] = m
	}
	excluded := map[string]bool{}
	for _, x := range pin.Exclude {
		excluded[x.Path] = true
	}
	for _, e := range entries {
		if excluded[e.Path] {
			o.Exclude = append(o.Exclude, e.Path)
			continue
		}
		if e.Mode != git.ModeSubmodule {
			continue
		}
		m, ok := locked[e.Path]
		if !ok || m.Commit != string(e.ID) {
			return "", verdict.Failf("the stack moves the submodule %s to %s: a submodule that we change is a pin of its own", show(e.Path), e.ID.Short())
		}
		o.Submodules[e.Path] = m.Sum
	}
	r, err := treesum.FromGit(ctx, repo, tree, o)
	if err != nil {
		return "", err
	}
	return r.Sum, nil
}

// CheckSteps compares the trees that a stack's patches lead to with those in
// the lock of its pin. The error is a *StepDiffers at the first that differs.
func CheckSteps(s *Stack, lock *pins.Lock, trees []git.ID) error {
	if lock == nil || lock.Patched == nil {
		if len(s.Patches) == 0 {
			return nil
		}
		return verdict.Failf("pin %s: its lock says nothing about the patched tree: run 'dist patches lock %s'", s.Pin, s.Name)
	}
	steps := lock.Patched.Steps
	for i, p := range s.Patches {
		switch {
		case i == len(steps):
			return verdict.Failf("pin %s: %s is in the series and not in the lock: take the series or the pin file back from the history", s.Pin, p.File)
		case steps[i].File != p.File:
			return verdict.Failf("pin %s: patch %d is %s in the series and %s in the lock: take the series or the pin file back from the history", s.Pin, i+1, p.File, steps[i].File)
		case steps[i].Tree != string(trees[i]):
			return &StepDiffers{s.Pin, p.File, trees[i], git.ID(steps[i].Tree)}
		}
	}
	if n := len(s.Patches); n < len(steps) {
		return verdict.Failf("pin %s: %s is in the lock and not in the series: take the series or the pin file back from the history", s.Pin, steps[n].File)
	}
	if n := len(trees); n > 0 && lock.Patched.Tree != string(trees[n-1]) {
		return &StepDiffers{s.Pin, s.Patches[n-1].File, trees[n-1], git.ID(lock.Patched.Tree)}
	}
	return nil
}
