// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"fmt"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// An Outcome is what became of one patch on a new base.
type Outcome string

// The outcomes. The first four are fine; the others need a person.
const (
	Unchanged        Outcome = "unchanged"               // the same blobs before and after: the same text
	Moved            Outcome = "moved"                   // merged cleanly, the text is another one
	Upstreamed       Outcome = "upstreamed"              // upstream has it; dropped
	Empty            Outcome = "empty"                   // nothing is left of it, and no commit can be named; dropped
	ProbablyUpstream Outcome = "probably upstreamed"     // kept, though upstream seems to have it elsewhere
	WrongPlace       Outcome = "wrong place"             // merged cleanly, into another function
	LostLines        Outcome = "lost lines"              // settled without a person, and lines of upstream's are gone
	Conflicting      Outcome = "conflict"                // left out
	NeedsConflicting Outcome = "needs a conflicting one" // left out, as an earlier patch was
)

// Verdict is what an outcome means for the whole.
func (o Outcome) Verdict() verdict.Verdict {
	switch o {
	case Unchanged, Moved, Upstreamed, Empty:
		return verdict.Pass
	case Conflicting, NeedsConflicting, WrongPlace:
		return verdict.Conflict
	}
	return verdict.Fail
}

// Kept tells whether the patch is in the new stack.
func (o Outcome) Kept() bool {
	switch o {
	case Unchanged, Moved, ProbablyUpstream, WrongPlace, LostLines:
		return true
	}
	return false
}

// A Commits stack is our patches as commits, whether they came from patch files
// or from a branch.
type Commits struct {
	Name    string
	Base    git.ID
	Patches []StackCommit // in order, each the only child of the one before
}

// A StackCommit is one patch of a stack.
type StackCommit struct {
	File   string // its patch file; a name made of its subject where it has none
	Commit git.ID
}

// A Result is what a rebase would do, or did.
type Result struct {
	Stack string `json:"stack"`
	// OldBase and NewBase are commits; Tip is the last patch's new commit, or
	// NewBase when none is left. The new commits are in the engine's object
	// store only; Session.Write makes patch files of them.
	OldBase git.ID `json:"old-base"`
	NewBase git.ID `json:"new-base"`
	Tip     git.ID `json:"tip"`
	Tree    git.ID `json:"tree"`
	// Rewritten are commits in the old base's history that the new base does
	// not have: upstream rewrote them. At most 20, of RewrittenCount.
	Rewritten      []UpstreamCommit `json:"rewritten,omitempty"`
	RewrittenCount int              `json:"rewritten-count,omitempty"`
	Patches        []PatchResult    `json:"patches"`
	Merges         int              `json:"merges"` // what git was asked
}

// A PatchResult is the verdict on one patch.
type PatchResult struct {
	File    string  `json:"file"`
	Subject string  `json:"subject"`
	Old     git.ID  `json:"old"`
	Outcome Outcome `json:"outcome"`
	New     git.ID  `json:"new,omitempty"`  // the commit on the new base, for a patch that is kept
	Tree    git.ID  `json:"tree,omitempty"` // after this patch
	// Accepted: a person looked at what would be red, and said so.
	Accepted Outcome `json:"accepted,omitempty"`

	Upstream    *UpstreamCommit `json:"upstream,omitempty"`     // what took it, or seems to have
	Exact       bool            `json:"exact,omitempty"`        // the same change, to the byte
	Reverted    *UpstreamCommit `json:"reverted,omitempty"`     // took it back, after upstream had taken exactly this
	SideBySide  string          `json:"side-by-side,omitempty"` // git's range-diff of the two
	Duplicates  []Duplicate     `json:"duplicates,omitempty"`
	Misplaced   []Misplaced     `json:"misplaced,omitempty"`
	Followed    []Followed      `json:"followed,omitempty"`
	Settlements []Settlement    `json:"settled,omitempty"`
	Lost        []LostLine      `json:"lost-lines,omitempty"`

	Files    []string `json:"files,omitempty"` // in conflict
	Messages []string `json:"messages,omitempty"`
	Hunks    string   `json:"hunks,omitempty"` // the conflicts with all three sides
	Needs    []string `json:"needs,omitempty"` // files of the patches it needs
	Guilty   *Guilty  `json:"guilty,omitempty"`
}

// A Followed file is one that upstream renamed, with the patch behind it.
type Followed struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// A Duplicate is a line that the patch adds and upstream has gained by itself.
type Duplicate struct {
	Text     string `json:"text"`
	Path     string `json:"path"` // of the patch's line, after the merge
	Line     int    `json:"line"`
	Other    string `json:"other"` // where upstream has it
	OtherRow int    `json:"other-line"`
	// Block: most of the lines around it are there twice as well, which is what
	// makes the patch red.
	Block bool `json:"block"`
}

// Verdict is the worst of all patches.
func (r *Result) Verdict() verdict.Verdict {
	all := make([]verdict.Verdict, len(r.Patches))
	for i, p := range r.Patches {
		all[i] = p.Verdict()
	}
	return verdict.Worst(all...)
}

// Verdict is the outcome's, or Pass where a person accepted it.
func (p *PatchResult) Verdict() verdict.Verdict {
	if p.Accepted != "" {
		return verdict.Pass
	}
	return p.Outcome.Verdict()
}

// Count is how many patches have an outcome.
func (r *Result) Count(o Outcome) int {
	n := 0
	for _, p := range r.Patches {
		if p.Outcome == o {
			n++
		}
	}
	return n
}

// Err is nil for a stack that may move, else a *Conflict for the first patch
// that does not apply, or an error for the first that needs a look.
func (r *Result) Err() error {
	for i := range r.Patches {
		if p := &r.Patches[i]; p.Outcome == Conflicting || p.Outcome == NeedsConflicting {
			return &Conflict{Patch: p.File, Files: p.Files}
		}
	}
	return r.found()
}

// found is an error for the first patch that applies and needs a look.
func (r *Result) found() error {
	for i := range r.Patches {
		if p := &r.Patches[i]; p.Outcome.Kept() && p.Verdict() != verdict.Pass {
			return verdict.New(p.Outcome.Verdict(), fmt.Sprintf("%s: %s: look at it, then say --accept %s, or change the patch", p.File, p.Outcome, p.File))
		}
	}
	return nil
}

// A Conflict says that a patch no longer applies.
type Conflict struct {
	Patch string   // the patch file
	Files []string // the upstream's files in conflict
}

func (c *Conflict) Error() string {
	files := make([]string, len(c.Files))
	for i, f := range c.Files {
		files[i] = show(f)
	}
	return fmt.Sprintf("%s no longer applies (%s): settle it in a work tree of 'dist patches edit … --onto …'", c.Patch, strings.Join(files, ", "))
}

// Verdict is Conflict.
func (c *Conflict) Verdict() verdict.Verdict { return verdict.Conflict }
