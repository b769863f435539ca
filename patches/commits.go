// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"fmt"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/git"
)

// FromCommit makes the patch that leads from a tree to another one, with
// author and message of a commit. It has no file name yet. A patch without
// changes is returned as nil.
func FromCommit(objects *git.Pending, c *git.Commit, before, after git.ID) (*Patch, error) {
	if before == after {
		return nil, nil
	}
	p := &Patch{}
	var err error
	refuse := func(err error) error { return fmt.Errorf("commit %s (%s): %w", c.ID.Short(), show(c.Subject()), err) }
	if p.Message, err = CleanMessage(c.Message, c.Encoding); err != nil {
		return nil, refuse(err)
	}
	if p.Author, err = cleanAuthor(c.Author, c.Encoding); err != nil {
		return nil, refuse(err)
	}
	if p.Changes, err = DiffTrees(objects, before, after); err != nil {
		return nil, refuse(err)
	}
	if len(p.Changes) == 0 {
		return nil, nil
	}
	for _, change := range p.Changes {
		if why := git.UnsafePath(change.Path); why != "" {
			return nil, refuse(fmt.Errorf("the path %s is refused: %s", show(change.Path), why))
		}
	}
	return p, nil
}

// cleanAuthor keeps what a patch file can hold and give back.
func cleanAuthor(a git.Signature, encoding string) (git.Signature, error) {
	for _, s := range []*string{&a.Name, &a.Email} {
		text, err := toUTF8(*s, encoding)
		if err != nil {
			return a, err
		}
		if strings.ContainsAny(text, "<>\n\r\x00") {
			return a, fmt.Errorf("its author has characters that a patch cannot hold")
		}
		*s = text
	}
	a.Name = strings.TrimSpace(a.Name)
	if a.When.Unix() < 0 || a.When.Year() > 9999 {
		return a, fmt.Errorf("its author's date cannot be read")
	}
	// Zones that no clock has are written by broken programs.
	if _, offset := a.When.Zone(); offset <= -24*3600 || offset >= 24*3600 || offset%60 != 0 {
		a.When = a.When.In(time.UTC)
	}
	return a, nil
}
