// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// From says where commits come from.
type From struct {
	Where  string // an https address, or a folder of this machine with a repository
	Branch string // its branch; empty is HEAD of a folder
	Base   string // a revision there; empty is what the caller has
	Status *UpstreamStatus
	Allow  []string // further transports, as of git.Remote
	// Near has objects that need not be fetched from an address; it may be nil.
	Near *git.Repo
}

// An Imported is what became of a branch.
type Imported struct {
	Stack   *Stack   `json:"-"`
	Name    string   `json:"stack"`
	Base    git.ID   `json:"base"`
	Tip     git.ID   `json:"tip"` // of the branch that was read
	Files   []string `json:"patches"`
	Empty   []string `json:"empty,omitempty"`
	Merges  []string `json:"merges,omitempty"`
	Locked  bool     `json:"locked"` // the pin's lock has the steps
	Notes   []string `json:"notes,omitempty"`
	Kept    []string `json:"kept,omitempty"`    // of a refresh: files that did not change
	Changed []string `json:"changed,omitempty"` // and those that did
	Added   []string `json:"added,omitempty"`
	Dropped []string `json:"dropped,omitempty"`

	trees []git.ID
	lock  *pins.Lock        // the pin's new lock, when it moves together with the stack
	extra map[string][]byte // further files of the folder
}

// Import makes a new stack of the commits of a branch, and writes its files
// and the lock of its pin.
func (r *Repository) Import(ctx context.Context, name string, from From) (*Imported, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	if _, err := os.Lstat(r.dir(name)); err == nil {
		return nil, verdict.Usagef("stack %s is there already: 'dist patches refresh %s --from DIR' replaces its patches", name, name)
	}
	var base git.ID
	pin := r.PinOf(name)
	if pin != nil && pin.Lock != nil {
		base = git.ID(pin.Lock.Commit)
	}
	repo, im, done, err := read(ctx, name, base, from)
	if err != nil {
		return nil, err
	}
	defer done()
	im.Stack.Series = NewSeries(im.Files...)
	return im, r.write(ctx, repo, im)
}

// read makes a stack of the commits of a branch. done removes the repository,
// which has the commits and what they need.
func read(ctx context.Context, name string, base git.ID, from From) (repo *git.Repo, im *Imported, done func(), err error) {
	if from.Where == "" {
		return nil, nil, nil, verdict.Usagef("where the commits are must be said with --from")
	}
	source, tip, base, release, err := from.open(ctx, base)
	if err != nil {
		return nil, nil, nil, err
	}
	bench, remove, err := newBench(ctx, source)
	if err != nil {
		release()
		return nil, nil, nil, err
	}
	clean := func() { remove(); release() }
	defer func() {
		if err != nil {
			clean()
		}
	}()
	line, err := Linear(ctx, bench, base, tip)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("stack %s: %w", name, err)
	}
	im = &Imported{Name: name, Base: base, Tip: tip, Files: []string{}, Empty: line.Empty, Merges: line.Merges, trees: line.Trees}
	without := 0
	for _, p := range line.Patches {
		if from.Status != nil {
			p.AddStatus(*from.Status)
		}
		if _, err := p.Status(); err != nil {
			without++
		}
		im.Files = append(im.Files, p.File)
	}
	im.Stack = &Stack{Name: name, Base: base, Patches: line.Patches}
	if without > 0 {
		im.Notes = append(im.Notes, fmt.Sprintf("%d of %d patches do not state their %s 'dist patches check' demands it", without, len(line.Patches), statusKey))
	}
	if len(line.Merges) > 0 {
		im.Notes = append(im.Notes, fmt.Sprintf("%d merges were dissolved: see that no commit of the upstream is among the patches", len(line.Merges)))
	}
	if err := proven(ctx, bench, im); err != nil {
		return nil, nil, nil, err
	}
	return bench, im, clean, nil
}

// open finds the repository, the tip and the base.
func (f From) open(ctx context.Context, base git.ID) (repo *git.Repo, tip, at git.ID, release func(), err error) {
	release = func() {}
	revision := "HEAD"
	if f.Branch != "" {
		revision = "refs/heads/" + f.Branch
	}
	if strings.Contains(f.Where, "://") {
		if f.Branch == "" {
			return nil, "", "", nil, verdict.Usagef("the branch of %s must be said with --branch", show(f.Where))
		}
		var near []*git.Repo
		if f.Near != nil {
			near = append(near, f.Near)
		}
		bench, done, err := newBench(ctx, near...)
		if err != nil {
			return nil, "", "", nil, err
		}
		err = bench.Fetch(ctx, git.Remote{URL: f.Where, Allow: f.Allow}, git.FetchSpec{Refs: []git.Refspec{{From: revision, To: revision}}})
		if err != nil {
			done()
			return nil, "", "", nil, err
		}
		repo, release = bench, done
	} else {
		dir, err := filepath.Abs(f.Where)
		if err != nil {
			return nil, "", "", nil, err
		}
		if repo, err = git.Open(ctx, dir); err != nil {
			return nil, "", "", nil, err
		}
	}
	var unknown *git.Unknown
	if tip, err = repo.RevParse(ctx, revision+"^{commit}"); errors.As(err, &unknown) {
		err = verdict.Usagef("%s has no branch %s with commits", show(f.Where), show(strings.TrimPrefix(revision, "refs/heads/")))
	} else if err == nil && f.Base != "" {
		if base, err = repo.RevParse(ctx, f.Base+"^{commit}"); errors.As(err, &unknown) {
			err = verdict.Usagef("--base %s is no commit in %s", show(f.Base), show(f.Where))
		}
	} else if err == nil && base == "" {
		err = verdict.Usagef("the base must be said with --base: no pin with this stack has a locked commit")
	} else if err == nil {
		if _, e := repo.RevParse(ctx, string(base)+"^{commit}"); e != nil {
			err = verdict.Failf("%s does not have the pin's commit %s: say with --base which commit the branch starts from, and rebase the stack then", show(f.Where), base)
		}
	}
	if err != nil {
		release()
		return nil, "", "", nil, err
	}
	return repo, tip, base, release, nil
}

// proven demands that the files of a new stack give back the trees of its
// commits, and the same files again.
func proven(ctx context.Context, repo *git.Repo, im *Imported) error {
	check := &Stack{Name: im.Name, Base: im.Base}
	for _, p := range im.Stack.Patches {
		q, err := Parse(im.Stack.Shown(p.File), Render(p))
		if err != nil {
			return fmt.Errorf("the patch of %q cannot be read back: %w", show(p.Subject()), err)
		}
		check.Patches = append(check.Patches, q)
	}
	commits, trees, err := Rebuild(ctx, repo, im.Base, check)
	if err == nil {
		err = sameFiles(ctx, repo, check, commits, trees)
	}
	if err != nil {
		return err
	}
	for i, p := range im.Stack.Patches {
		if trees[i] != im.trees[i] {
			return fmt.Errorf("the patch of %q gives the tree %s and not %s", show(p.Subject()), trees[i], im.trees[i])
		}
	}
	return nil
}

// sameFiles demands that the rebuilt commits of a stack give its files again.
func sameFiles(ctx context.Context, repo *git.Repo, s *Stack, commits, trees []git.ID) error {
	objects, err := repo.Pending(ctx)
	if err != nil {
		return err
	}
	defer objects.Close()
	base, err := objects.Commit(s.Base)
	if err != nil {
		return err
	}
	before := base.Tree
	var again []*Patch
	for i, id := range commits {
		c, err := objects.Commit(id)
		if err != nil {
			return err
		}
		p, err := FromCommit(objects, c, before, trees[i])
		if err != nil {
			return err
		}
		before = trees[i]
		again = append(again, p)
	}
	setNames(again)
	var problems Problems
	for i, p := range s.Patches {
		if again[i].File != p.File {
			problems = append(problems, Problem{s.Shown(SeriesFile), lineIn(s, p.File), fmt.Sprintf("the file of %q is called %s: by its subject it is %s", show(p.Subject()), p.File, again[i].File)})
		}
		have, want := p.source, Render(again[i])
		if have == nil {
			have = Render(p)
		}
		if line, differs := firstDifference(have, want); differs {
			problems = append(problems, Problem{s.Shown(p.File), line, "this is not how the patch is written: 'dist patches lock " + s.Name + "' writes it anew"})
		}
	}
	return problems.err()
}

func lineIn(s *Stack, file string) int {
	if s.Series == nil {
		return 1
	}
	return s.Series.Line(file)
}

// firstDifference returns the line, from 1, at which two texts differ.
func firstDifference(a, b []byte) (line int, differs bool) {
	if bytes.Equal(a, b) {
		return 0, false
	}
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return bytes.Count(a[:n], []byte("\n")) + 1, true
}

// write saves an imported stack, with the lock where the pin is ready for it.
func (r *Repository) write(ctx context.Context, repo *git.Repo, im *Imported) error {
	s := im.Stack
	pin := r.PinOf(s.Name)
	u := Update{Stack: s, Extra: im.extra}
	if pin != nil && im.lock != nil {
		moved := *pin
		moved.Lock = im.lock
		pin = &moved
	}
	switch {
	case pin == nil:
		s.Series.Base = s.Base
		im.Notes = append(im.Notes, fmt.Sprintf("no pin names this stack with 'stack: %s': the series says its base", s.Name))
	case pin.Lock == nil || pin.Lock.Commit != string(s.Base):
		s.Pin, s.Series.Base = pin.Name, s.Base
		im.Notes = append(im.Notes, fmt.Sprintf("pin %s is locked at another commit: run 'dist patches rebase %s --onto <its commit>'", pin.Name, s.Name))
	default:
		s.Pin, s.Series.Base = pin.Name, ""
		if pin.State() != pins.Verified {
			im.Notes = append(im.Notes, fmt.Sprintf("pin %s is %s: run 'dist pins update %s' and then 'dist patches lock %s'", pin.Name, pin.State(), pin.Name, s.Name))
			break
		}
		lock := *pin.Lock
		var err error
		if lock.Patched, err = PatchedLock(ctx, repo, pin, s, im.trees); err != nil {
			return err
		}
		u.Lock, im.Locked = &lock, true
	}
	return r.Save(u)
}
