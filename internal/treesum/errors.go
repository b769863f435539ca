// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package treesum

import (
	"fmt"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/git"
)

// A MissingBlob says that a file's content is not in the object store.
type MissingBlob struct {
	Path string
	ID   git.ID
}

func (e *MissingBlob) Error() string {
	return fmt.Sprintf("the content of %+q (%s) is missing: fetch it from another remote, or exclude the path and say why", e.Path, e.ID)
}

// Unwrap lets callers that know only git's errors find it.
func (e *MissingBlob) Unwrap() error { return &git.MissingObject{ID: e.ID} }

// A MissingSubmodule says that a tree has a submodule whose sum was not given.
type MissingSubmodule struct {
	Path   string
	Commit git.ID
}

func (e *MissingSubmodule) Error() string {
	return fmt.Sprintf("the submodule %+q at %s has no sum: fetch it, or exclude the path and say why", e.Path, e.Commit)
}

// An Unused error names excluded paths and submodules that a tree does not
// have: a list that outlived its reason.
type Unused struct{ Paths []string }

func (e *Unused) Error() string {
	q := make([]string, len(e.Paths))
	for i, p := range e.Paths {
		q[i] = fmt.Sprintf("%+q", p)
	}
	return fmt.Sprintf("the tree has no %s: take it off the list of exclusions or submodules", strings.Join(q, ", "))
}
