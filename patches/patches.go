// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package patches is our changes to the upstreams: one folder a stack with a
// series and a file for each patch, and what reads, writes, checks, applies and
// publishes them. It is for the commands and pipelines that build, bump and
// rebase.
//
// A stack is a row of commits on one recorded base; the files are its export.
// Their text is a function of base and commits alone: it is made here, with no
// help from git's diff, so that no version, attribute or setting of git has a
// say. A patch names the blobs before and after in full; it is only ever
// applied to exactly the blobs that it names, and what comes out must have
// exactly the id that it says. Text is never moved to another place: bringing a
// stack to another base is a merge of commits.
//
// Limits: no renames in the text (a moved file is a deletion and a creation),
// messages and names of authors are UTF-8, a patch file has at most 64 MiB.
package patches

import (
	"strings"

	"github.com/1bit-MONSTER/engine/internal/git"
)

// Folder is where the stacks are in the repository.
const Folder = "patches"

// The committer of every rebuilt commit; its date is the author's, so that the
// same base and files give the same ids everywhere.
const (
	CommitterName  = "1bit engine distribution"
	CommitterEmail = "dist@1bit.invalid"
)

// A Stack is our patches on one pin, in order.
type Stack struct {
	Name    string  // also the name of its folder
	Dir     string  // the folder, absolute; empty for a stack that is in no folder yet
	Pin     string  // the pin with this stack; empty when none has it
	Base    git.ID  // the commit that the patches are written for
	Series  *Series // the order, with its comments
	Patches []*Patch
}

// A Patch is one commit as text.
type Patch struct {
	File    string        // its name in the folder, such as add-a-flag.patch
	Author  git.Signature // who wrote it and when, to the second, with the time zone
	Message string        // UTF-8, subject first, one newline at its end; see CleanMessage
	Changes []Change      // by path

	source []byte // the file that it was read from
}

// A Change is what a patch does to one path. A file that becomes a symbolic
// link or a submodule, or the reverse, is two: a deletion and a creation.
type Change struct {
	Path             string
	OldMode, NewMode git.Mode // 0: there is none, before or after
	OldID, NewID     git.ID   // blob, or commit of a submodule; both empty when only the mode changes
	Hunks            []Hunk   // for text
	Binary           []byte   // the whole content after, when IsBinary
	IsBinary         bool
	Line             int // where it starts in the patch file, 0 when it was not read from one
}

// A Hunk is a run of lines with their surroundings. Lines start with ' ', '-'
// or '+' and end with their newline, which only the last line of a file may
// lack.
type Hunk struct {
	OldStart, OldCount int // lines, from 1; the start is 0 when there are none
	NewStart, NewCount int
	Section            string // what stands after the second @@: for people only
	Lines              []string
	Line               int // of its @@ in the patch file
}

// Subject is the first line of the message.
func (p *Patch) Subject() string {
	subject, _, _ := strings.Cut(p.Message, "\n")
	return subject
}

// Body is the message without its subject and the blank line after it.
func (p *Patch) Body() string {
	_, body, _ := strings.Cut(p.Message, "\n")
	return strings.TrimPrefix(body, "\n")
}

// Commit returns the commit that a patch is on a parent, with the fixed
// committer. Its id is a function of the arguments and the patch.
func (p *Patch) Commit(tree, parent git.ID) git.Commit {
	return git.Commit{
		Tree:      tree,
		Parents:   []git.ID{parent},
		Author:    p.Author,
		Committer: git.Signature{Name: CommitterName, Email: CommitterEmail, When: p.Author.When},
		Message:   p.Message,
	}
}

// Paths returns every path that the patch touches, once and in order.
func (p *Patch) Paths() []string {
	var paths []string
	for _, c := range p.Changes {
		if n := len(paths); n == 0 || paths[n-1] != c.Path {
			paths = append(paths, c.Path)
		}
	}
	return paths
}

// Patch returns the patch in that file, or nil.
func (s *Stack) Patch(file string) *Patch {
	for _, p := range s.Patches {
		if p.File == file {
			return p
		}
	}
	return nil
}
