// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"context"
	"errors"
	"fmt"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// A Checked is what Check found out about one stack.
type Checked struct {
	Stack   string          `json:"stack"`
	Pin     string          `json:"pin,omitempty"`
	Base    git.ID          `json:"base,omitempty"`
	Patches int             `json:"patches"`
	Tip     git.ID          `json:"tip,omitempty"`  // the last rebuilt commit
	Tree    git.ID          `json:"tree,omitempty"` // the patched tree
	Verdict verdict.Verdict `json:"verdict"`
	Why     string          `json:"why,omitempty"` // everything that is wrong, a line each
}

// Check looks at everything about a stack: the form of its files, that the
// patches apply to their base, that they lead to the trees in the lock of the
// pin and the last of these has its sum, that exporting the rebuilt commits
// gives the same files, that each patch states its upstream status, and that
// policy and resolutions can be read. Where
// there is no repository with the base, the rest is skipped, which is no pass.
func (r *Repository) Check(ctx context.Context, name string, source Source) *Checked {
	c := &Checked{Stack: name, Verdict: verdict.Pass}
	var errs []error
	s, err := r.Load(name)
	if err == nil {
		c.Pin, c.Base, c.Patches = s.Pin, s.Base, len(s.Patches)
		errs = append(errs, checkStatus(s))
		_, policy := ReadPolicy(s.Dir)
		_, resolutions := ReadResolutions(s.Dir)
		errs = append(errs, policy, resolutions)
		err = r.checkTrees(ctx, s, source, c)
	}
	errs = append(errs, err)
	var seen []verdict.Verdict
	for _, err := range errs {
		if err == nil {
			continue
		}
		seen = append(seen, verdict.Of(err))
		if c.Why != "" {
			c.Why += "\n"
		}
		c.Why += err.Error()
	}
	c.Verdict = verdict.Worst(seen...)
	return c
}

// checkStatus demands that every patch says how it stands with the upstream.
func checkStatus(s *Stack) error {
	var problems Problems
	for _, p := range s.Patches {
		if _, err := p.Status(); err != nil {
			problems = append(problems, Problem{s.Shown(p.File), 4, err.Error()}) // the subject
		}
	}
	return problems.err()
}

func (r *Repository) checkTrees(ctx context.Context, s *Stack, source Source, c *Checked) error {
	pin := r.PinOf(s.Name)
	if _, err := s.NeedBase(); err != nil {
		return err
	}
	if pin != nil && pin.Lock != nil && s.Base != git.ID(pin.Lock.Commit) {
		return verdict.Failf("stack %s is written for %s, and pin %s is locked at %s: run 'dist patches rebase %s'", s.Name, s.Base.Short(), pin.Name, pin.Lock.ID(), s.Name)
	}
	repo, done, err := r.bench(ctx, s, source)
	if err != nil {
		return verdict.Skippedf("stack %s: %w", s.Name, err)
	}
	defer done()
	commits, trees, err := Rebuild(ctx, repo, s.Base, s)
	if err != nil {
		return err
	}
	if n := len(commits); n > 0 {
		c.Tip, c.Tree = commits[n-1], trees[n-1]
	}
	if pin != nil {
		if err := CheckSteps(s, pin.Lock, trees); err != nil {
			return err
		}
		if err := r.checkSum(ctx, repo, pin, trees); err != nil {
			return err
		}
	}
	return sameFiles(ctx, repo, s, commits, trees)
}

// checkSum compares the content of the patched tree with its sum in the lock.
func (r *Repository) checkSum(ctx context.Context, repo *git.Repo, pin *pins.Pin, trees []git.ID) error {
	if len(trees) == 0 || pin.Lock.Patched == nil || pin.State() != pins.Verified {
		return nil
	}
	sum, err := sumOf(ctx, repo, pin, trees[len(trees)-1])
	if err != nil {
		return fmt.Errorf("pin %s: patched tree: %w", pin.Name, err)
	}
	if sum != pin.Lock.Patched.Sum {
		return verdict.Failf("pin %s: the patched tree has the sum %s, the lock says %s: take the pin file back from the history", pin.Name, sum, pin.Lock.Patched.Sum)
	}
	return nil
}

// bench makes a temporary repository in which the stack can be rebuilt.
func (r *Repository) bench(ctx context.Context, s *Stack, source Source) (*git.Repo, func(), error) {
	base, err := s.NeedBase()
	if err != nil {
		return nil, nil, err
	}
	from, err := source(ctx, r.PinOf(s.Name), s.Name)
	if err != nil {
		return nil, nil, err
	}
	repo, done, err := newBench(ctx, from)
	if err != nil {
		return nil, nil, err
	}
	if _, err := repo.CommitInfo(ctx, string(base)); err != nil {
		done()
		var unknown *git.Unknown
		if errors.As(err, &unknown) {
			return nil, nil, verdict.Failf("%s does not have the base %s of stack %s: fetch it", from.Dir(), base, s.Name)
		}
		return nil, nil, err
	}
	return repo, done, nil
}

// rebuilt loads a stack, makes its commits in a temporary repository and
// compares the trees with the lock, where there is one.
func (r *Repository) rebuilt(ctx context.Context, name string, source Source) (s *Stack, repo *git.Repo, commits, trees []git.ID, done func(), err error) {
	if s, err = r.Load(name); err != nil {
		return
	}
	if repo, done, err = r.bench(ctx, s, source); err != nil {
		return
	}
	if commits, trees, err = Rebuild(ctx, repo, s.Base, s); err == nil {
		if pin := r.PinOf(name); pin != nil && pin.Lock != nil && pin.Lock.Patched != nil && s.Series.Base == "" {
			err = CheckSteps(s, pin.Lock, trees)
		}
	}
	if err != nil {
		done()
	}
	return
}
