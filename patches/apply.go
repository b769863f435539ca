// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"errors"
	"fmt"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/git"
)

// ApplyTo returns the tree that a patch makes of another one. Every change must
// find exactly the blob and mode that it names and lead to exactly the blob
// that it names; nothing is searched for elsewhere. New blobs and trees are
// added to objects. shown is the file's name in errors.
//
// Errors: *Mismatch when the patch was written for something else, Problems
// when it does not do what it says.
func (p *Patch) ApplyTo(objects *git.Pending, tree git.ID, shown string) (git.ID, error) {
	edits := map[string]edit{}
	goes := map[string]bool{} // paths that this patch deletes
	for i := range p.Changes {
		c := &p.Changes[i]
		if c.NewMode == 0 {
			goes[c.Path] = true
		}
	}
	for i := range p.Changes {
		c := &p.Changes[i]
		mismatch := func(format string, args ...any) error {
			return &Mismatch{shown, max(c.Line, 1), c.Path, fmt.Sprintf(format, args...)}
		}
		have, through, err := lookup(objects, tree, c.Path)
		if err != nil {
			return "", err
		}
		name := show(c.Path)
		mode := plainMode(have.Mode)
		switch {
		case through != "" && !goes[through]:
			e, _, err := lookup(objects, tree, through)
			if err != nil {
				return "", err
			}
			return "", mismatch("%s would be inside of %s, which is %s", name, show(through), kindName(e.Mode))
		case c.OldMode == 0 && have.Mode != 0 && have.Mode != git.ModeTree && !goes[c.Path]:
			return "", mismatch("%s is to be created and is there already: the patch is for another base", name)
		case c.OldMode != 0 && have.Mode == 0:
			return "", mismatch("%s is not there: the patch is for another base", name)
		case c.OldMode != 0 && mode != c.OldMode:
			return "", mismatch("%s has the mode %s, the patch says %s: it is for another base", name, mode, c.OldMode)
		case c.OldMode != 0 && c.OldID != "" && have.ID != c.OldID:
			return "", mismatch("%s is %s, the patch is for %s: it is for another base", name, have.ID.Short(), c.OldID.Short())
		}
		e := edit{c.NewMode, c.NewID}
		switch {
		case c.NewMode == 0:
			if err := c.checkDeletion(objects, shown); err != nil {
				return "", err
			}
			if _, created := edits[c.Path]; !created {
				edits[c.Path] = edit{}
			}
			continue
		case c.OldID == c.NewID:
			e.id = have.ID
		case c.NewMode == git.ModeSubmodule:
			if err := c.checkSubmodule(objects, shown); err != nil {
				return "", err
			}
		default:
			content, err := c.result(objects, shown)
			if err != nil {
				return "", err
			}
			if got := git.HashObject("blob", content); got != c.NewID {
				return "", Problems{{shown, max(c.Line, 1), fmt.Sprintf("the change of %s leads to %s and not to %s, which it names: its lines were changed, or blanks at their ends stripped", name, got.Short(), c.NewID.Short())}}
			}
			objects.AddBlob(content)
		}
		edits[c.Path] = e
	}
	id, err := editTree(objects, tree, edits)
	var way *inTheWay
	if errors.As(err, &way) {
		return "", &Mismatch{shown, 1, way.path, way.Error() + ": the patch is for another base"}
	}
	return id, err
}

// result makes the content after a change from the one before.
func (c *Change) result(objects *git.Pending, shown string) ([]byte, error) {
	if c.IsBinary {
		return c.Binary, nil
	}
	old, err := contentOf(objects, c.Path, c.OldMode, c.OldID)
	if err != nil {
		return nil, err
	}
	return applyHunks(old, c.Hunks, shown)
}

// checkDeletion demands that a deletion shows exactly what it deletes.
func (c *Change) checkDeletion(objects *git.Pending, shown string) error {
	if c.OldMode == git.ModeSubmodule {
		return c.checkSubmodule(objects, shown)
	}
	content, err := c.result(objects, shown)
	if err == nil && len(content) > 0 {
		err = Problems{{shown, max(c.Line, 1), fmt.Sprintf("%s is deleted, but its content is not", show(c.Path))}}
	}
	return err
}

// checkSubmodule demands that the lines about a submodule say what its ids do.
func (c *Change) checkSubmodule(objects *git.Pending, shown string) error {
	content, err := c.result(objects, shown)
	if err != nil {
		return err
	}
	want := ""
	if c.NewMode != 0 {
		want = submoduleText(c.NewID)
	}
	if string(content) != want {
		return Problems{{shown, max(c.Line, 1), fmt.Sprintf("the lines about the submodule %s do not say what its ids do", show(c.Path))}}
	}
	return nil
}

// applyHunks puts hunks exactly where they say.
func applyHunks(old []byte, hunks []Hunk, shown string) ([]byte, error) {
	lines := splitLines(string(old))
	var out strings.Builder
	at := 0 // lines of old that are dealt with
	made := 0
	for i := range hunks {
		h := &hunks[i]
		bad := func(line int, format string, args ...any) error {
			return Problems{{shown, max(line, 1), fmt.Sprintf(format, args...)}}
		}
		start := h.OldStart - 1
		if h.OldCount == 0 {
			start = h.OldStart
		}
		if start < at || start > len(lines) {
			return nil, bad(h.Line, "the hunk starts at line %d, where it cannot be", h.OldStart)
		}
		for ; at < start; at++ {
			out.WriteString(lines[at])
			made++
		}
		if begins := made + 1; h.NewCount > 0 && h.NewStart != begins || h.NewCount == 0 && h.NewStart != made {
			return nil, bad(h.Line, "the hunk says that it goes to line %d, but it goes to line %d", h.NewStart, begins)
		}
		for n, l := range h.Lines {
			text := l[1:]
			if l[0] != '+' {
				if at == len(lines) || lines[at] != text {
					has := "the file ends before it"
					if at < len(lines) {
						has = fmt.Sprintf("the file has %+q", shorten(lines[at]))
					}
					return nil, bad(h.lineOf(n), "line %d should be %+q: %s; the patch was changed after it was written", at+1, shorten(text), has)
				}
				at++
			}
			if l[0] != '-' {
				out.WriteString(text)
				made++
			}
		}
	}
	for ; at < len(lines); at++ {
		out.WriteString(lines[at])
	}
	return []byte(out.String()), nil
}

// lineOf returns the line in the patch file of a line of the hunk.
func (h *Hunk) lineOf(n int) int {
	if h.Line == 0 {
		return 0
	}
	line := h.Line + 1
	for _, l := range h.Lines[:n] {
		line++
		if !strings.HasSuffix(l, "\n") {
			line++ // the mark that its newline is missing
		}
	}
	return line
}
