// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/patches"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

// Between returns what moved between two sets of pins, as one round a group,
// in the order of the groups: for a bump that a person made by hand. Whether
// the whole group moved as it was found at one moment cannot be seen from that.
func Between(base, next *pins.Set, at time.Time) []*round.Round {
	orders := map[string]int{}
	var rounds []*round.Round
	for _, p := range next.Pins {
		name, members, order := p.Name, []string{p.Name}, math.MaxInt // pins alone come last
		if g := next.GroupOf(p.Name); g != nil {
			name, members, order = g.Name, g.Members, g.Order
		}
		if _, seen := orders[name]; seen {
			continue
		}
		orders[name] = order
		r := &round.Round{Schema: round.Schema, Group: name, Mode: round.DryRun, At: at, Try: 1}
		for _, m := range members {
			q := next.Pin(m)
			var from round.Version
			if old := base.Pin(m); old != nil {
				from = round.VersionOf(old.Lock)
			}
			r.Members = append(r.Members, round.Member{Pin: m, Stack: q.Stack, From: from, To: round.VersionOf(q.Lock), Lock: q.Lock})
		}
		r.ID = r.Identify()
		rounds = append(rounds, r)
	}
	slices.SortStableFunc(rounds, func(a, b *round.Round) int { return cmp.Compare(orders[a.Group], orders[b.Group]) })
	return rounds
}

// Present is what gates look at in a work tree before it is committed.
type Present struct {
	Repo   string // the work tree
	Base   string // its folders pins, patches and ci as committed; see Checkout
	Engine *fetch.Engine
	Now    time.Time
	// Groups are those to look at, by name or by a member's; none: all that
	// moved.
	Groups []string
}

// Subjects returns what gates look at for each group that moved, or that is
// named. The workshop is for the caller to give.
func (o Present) Subjects(ctx context.Context) ([]*Subject, error) {
	base, err := pins.Load(filepath.Join(o.Base, "pins"))
	if err != nil {
		return nil, fmt.Errorf("the pins as committed: %w", err)
	}
	next := o.Engine.Set
	remotes, err := fetch.LoadArchive(o.Base)
	if err != nil {
		return nil, err
	}
	rounds := Between(base, next, o.Now)
	wanted := map[string]bool{}
	for _, name := range o.Groups {
		at := slices.IndexFunc(rounds, func(r *round.Round) bool {
			return r.Group == name || slices.ContainsFunc(r.Members, func(m round.Member) bool { return m.Pin == name })
		})
		if at < 0 {
			return nil, verdict.Usagef("there is no group or pin %q; 'dist pins list' shows all", name)
		}
		wanted[rounds[at].Group] = true
	}
	var list []*Subject
	for _, r := range rounds {
		if !wanted[r.Group] && (len(wanted) > 0 || len(r.Moves()) == 0) {
			continue
		}
		s := &Subject{Round: r, Base: base, Next: next, BaseDir: o.Base, NextDir: o.Repo, Engine: o.Engine, Now: o.Now}
		if err := o.stacks(ctx, s); err != nil {
			return nil, err
		}
		if len(remotes) > 0 {
			for _, m := range r.Moves() {
				s.Receipts = append(s.Receipts, fetch.Archived{Name: m.Pin, Verdict: verdict.Skipped, Why: "the archive was not asked: 'dist pins archive " + m.Pin + "' does"})
			}
		}
		list = append(list, s)
	}
	return list, nil
}

// stacks rebuilds the stacks of the group where they are now, from scratch: a
// patch that does not lead to the tree in the lock is an error of its stack.
func (o Present) stacks(ctx context.Context, s *Subject) error {
	names := s.stacks()
	if len(names) == 0 {
		return nil
	}
	r, err := patches.Open(ctx, o.Repo)
	if err != nil {
		return err
	}
	s.Stacks, s.StackErrors = map[string]*patches.Result{}, map[string]error{}
	for _, name := range names {
		if _, err := os.Lstat(filepath.Join(o.Repo, patches.Folder, name, patches.SeriesFile)); errors.Is(err, fs.ErrNotExist) {
			if _, err := os.Lstat(filepath.Join(o.Base, patches.Folder, name, patches.SeriesFile)); err == nil {
				s.StackErrors[name] = verdict.Failf("its folder %s/%s is gone", patches.Folder, name)
			}
			continue
		}
		result, err := rebuilt(ctx, r, o.Engine, name)
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			s.StackErrors[name] = err
			continue
		}
		s.Stacks[name] = result
	}
	return nil
}

func rebuilt(ctx context.Context, r *patches.Repository, e *fetch.Engine, name string) (*patches.Result, error) {
	if pin := r.PinOf(name); pin != nil && pin.Lock != nil {
		if err := e.EnsureBlobs(ctx, pin.Name, []git.ID{git.ID(pin.Lock.Commit)}, nil); err != nil {
			return nil, err
		}
	}
	x, err := r.Session(ctx, name, func(ctx context.Context, pin *pins.Pin, stack string) (*git.Repo, error) {
		if pin == nil {
			return nil, verdict.Failf("no pin names the stack %s", stack)
		}
		return e.Repository(ctx, pin.Name)
	})
	if err != nil {
		return nil, err
	}
	defer x.Close()
	return x.Rebase(ctx, x.Commits.Base)
}

// checkedOut are the folders that decide over a round, or are a part of it.
var checkedOut = []string{"pins", "patches", "ci"}

// Checkout writes the folders pins, patches and ci of a commit of a repository,
// HEAD or a full id, into the folder dir, as they are stored, and returns that
// commit.
func Checkout(ctx context.Context, repo, commit, dir string) (git.ID, error) {
	r, err := git.Open(ctx, repo)
	if err != nil {
		return "", verdict.Usagef("the pins are compared with a commit: %s", err)
	}
	head, err := r.CommitInfo(ctx, commit)
	if err != nil {
		return "", verdict.Usagef("the pins are compared with the commit %s, which %s does not have", commit, repo)
	}
	entries, err := r.LsTree(ctx, head.Tree)
	if err != nil {
		return "", err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	ours := slices.DeleteFunc(entries, func(e git.Entry) bool {
		top, _, _ := strings.Cut(e.Path, "/")
		return !slices.Contains(checkedOut, top) || e.Mode != git.ModeFile && e.Mode != git.ModeExecutable
	})
	return head.ID, r.WriteFiles(ctx, root, ours)
}
