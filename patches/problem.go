// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"fmt"
	"sort"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// A Problem is one thing that is wrong with the files of a stack.
type Problem struct {
	File string `json:"file"` // relative to the repository, or as it was given
	Line int    `json:"line"` // from 1
	Text string `json:"text"`
}

func (p Problem) String() string { return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text) }

// Problems is everything that is wrong, by file and line. Nothing was touched.
type Problems []Problem

func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, x := range p {
		lines[i] = x.String()
	}
	return strings.Join(lines, "\n")
}

// err returns p in order, or nil as an error when there is none.
func (p Problems) err() error {
	if len(p) == 0 {
		return nil
	}
	sort.SliceStable(p, func(i, j int) bool {
		if p[i].File != p[j].File {
			return p[i].File < p[j].File
		}
		return p[i].Line < p[j].Line
	})
	return p
}

// A Mismatch says that a patch was not written for what it is applied to.
type Mismatch struct {
	File string // the patch file
	Line int
	Path string // in the upstream's tree
	Text string
}

func (e *Mismatch) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Text) }

// Verdict is Conflict: a patch that does not apply.
func (e *Mismatch) Verdict() verdict.Verdict { return verdict.Conflict }

// A StepDiffers says that a patch leads to another tree than the lock has.
type StepDiffers struct {
	Pin, Patch string
	Have, Want git.ID // the tree that the patch leads to, and the one in the lock
}

func (e *StepDiffers) Error() string {
	return fmt.Sprintf("pin %s: after %s the tree is %s, but the lock says %s: take the patch or the pin file back from the history", e.Pin, e.Patch, e.Have, e.Want)
}
