// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"errors"
	"fmt"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/treesum"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// wrap says which pin an error is about.
func wrap(p *pins.Pin, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("pin %s: %w", p.Name, err)
}

// shown is a text of an upstream, safe for a terminal.
func shown(s string) string { return inert.Line(s, 200) }

// Moved says that a tag is at another commit than it was: its name was used
// again, by mistake or by somebody who should not.
type Moved struct {
	Tag      string
	Old, New git.ID // New is empty for a tag that is gone
}

func (e *Moved) Error() string {
	if e.New == "" {
		return fmt.Sprintf("the tag %s, which was at %s, is gone: find out why", shown(e.Tag), e.Old)
	}
	return fmt.Sprintf("the tag %s moved from %s to %s: find out why; if it is right, update with --to %s --accept moved --reason TEXT",
		shown(e.Tag), e.Old, e.New, e.New)
}

// Verdict is Fail: never a bump.
func (e *Moved) Verdict() verdict.Verdict { return verdict.Fail }

// A Direction is how a candidate lies to what is locked.
type Direction string

// The directions other than forwards; each must be accepted by a person.
const (
	DirectionMoved     Direction = "moved"     // the same tag at another commit
	DirectionBackwards Direction = "backwards" // the candidate is in the lock's history
	DirectionSideways  Direction = "sideways"  // neither has the other in its history
)

// WrongWay says that a candidate is no successor of what is locked.
type WrongWay struct {
	Direction Direction
	Old, New  string // commits, or versions for kinds without
	What      string // of what the ids are, for a gitlink its parent's
}

func (e *WrongWay) Error() string {
	how := "the history does not contain what is locked"
	if e.Direction == DirectionBackwards {
		how = "that is older than what is locked"
	}
	what := e.What
	if what == "" {
		what = "the upstream"
	}
	return fmt.Sprintf("%s moved from %s to %s: %s; if it is right, add --accept %s --reason TEXT", what, e.Old, e.New, how, e.Direction)
}

// Verdict is Held.
func (e *WrongWay) Verdict() verdict.Verdict { return verdict.Held }

// BranchGone says that a branch does not exist any more.
type BranchGone struct {
	URL, Branch string
	Default     string // the default branch now; empty when there is none
}

func (e *BranchGone) Error() string {
	if e.Default == "" {
		return fmt.Sprintf("%s has no branch %s and no default branch: look there and change track.branch", e.URL, shown(e.Branch))
	}
	return fmt.Sprintf("%s has no branch %s any more, its default branch is %s: change track.branch", e.URL, shown(e.Branch), shown(e.Default))
}

// LeftBranch says that a commit that was on a branch is not in its history any
// more: somebody moved the branch by force.
type LeftBranch struct {
	URL, Branch  string
	Commit, Head git.ID
}

func (e *LeftBranch) Error() string {
	return fmt.Sprintf("the branch %s of %s is at %s, whose history does not contain %s, which was found there before", shown(e.Branch), e.URL, e.Head, e.Commit)
}

// Verdict is Held.
func (e *LeftBranch) Verdict() verdict.Verdict { return verdict.Held }

// NotAnyMore says that a version that was found before can not be had any
// more: only the newest can, and that is another one now.
type NotAnyMore struct{ Wanted, Now string }

func (e *NotAnyMore) Error() string {
	return fmt.Sprintf("%s, which was found before, is not the newest any more: that is %s", shown(e.Wanted), orNone(e.Now))
}

// Verdict is Held.
func (e *NotAnyMore) Verdict() verdict.Verdict { return verdict.Held }

// ChildMoved says that a submodule is at an address that was not agreed to.
type ChildMoved struct{ Path, Old, New string }

func (e *ChildMoved) Error() string {
	return fmt.Sprintf("the submodule %s is at %s now, not at %s: check that address, then change upstream or add it to track.allowed-urls", shown(e.Path), shown(e.New), shown(e.Old))
}

// Verdict is Held.
func (e *ChildMoved) Verdict() verdict.Verdict { return verdict.Held }

// Lacking says that a remote does not have all files of a commit.
type Lacking struct {
	From  string
	Blobs []treesum.MissingBlob // sorted by path
}

func (e *Lacking) Error() string {
	return e.short() + ": fetch from another mirror, or exclude these paths in the pin and say why"
}

// short is the fact without the advice, which Problems gives once for all.
func (e *Lacking) short() string {
	var paths []string
	for i, b := range e.Blobs {
		if i == 20 {
			paths = append(paths, fmt.Sprintf("and %d more", len(e.Blobs)-i))
			break
		}
		paths = append(paths, fmt.Sprintf("%+q (%s)", b.Path, b.ID.Short()))
	}
	return fmt.Sprintf("%s lacks %s", e.From, strings.Join(paths, ", "))
}

// Unwrap returns the first missing file.
func (e *Lacking) Unwrap() error { return &e.Blobs[0] }

// BadSubmodule says why a submodule is not fetched.
type BadSubmodule struct {
	Path string
	Err  error
}

func (e *BadSubmodule) Error() string {
	return e.short() + "; exclude it in the pin if it is not needed, and say why"
}

func (e *BadSubmodule) short() string {
	var unreachable *git.Unreachable
	if errors.As(e.Err, &unreachable) {
		return fmt.Sprintf("the submodule %s: %s cannot be reached now (%s)", shown(e.Path), unreachable.URL, unreachable.Why)
	}
	return fmt.Sprintf("the submodule %s: %s", shown(e.Path), e.Err)
}

func (e *BadSubmodule) Unwrap() error { return e.Err }

// Differs says that content is not what its lock says.
type Differs struct{ What, Locked, Found string }

func (e *Differs) Error() string {
	return fmt.Sprintf("the %s is %s, the lock says %s: do not use it; find out which of both is wrong", e.What, orNone(e.Found), orNone(e.Locked))
}

func orNone(s string) string {
	if s == "" {
		return "not there"
	}
	return shown(s)
}
