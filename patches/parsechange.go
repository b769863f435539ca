// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/git"
)

// change reads one change; its first line is taken, names is what followed
// "diff --git ".
func (r *reader) change(names string) (Change, error) {
	c := Change{Line: r.at}
	var err error
	if c.Path, err = samePath(names); err != nil {
		return c, err
	}
	if why := git.UnsafePath(c.Path); why != "" {
		return c, fmt.Errorf("the path %s is refused: %s", show(c.Path), why)
	}
	if err := r.modes(&c); err != nil {
		return c, err
	}
	l, ok := r.peek()
	ids, hasIndex := strings.CutPrefix(l, "index ")
	if !ok || !hasIndex {
		switch {
		case strings.HasPrefix(l, "GIT binary patch"), strings.HasPrefix(l, "Binary files "), strings.HasPrefix(l, "--- "):
			r.at++
			return c, fmt.Errorf("%s has no index line with the ids before and after", show(c.Path))
		case c.OldMode == 0 || c.NewMode == 0 || c.OldMode == c.NewMode:
			return c, fmt.Errorf("the patch is truncated: nothing is said about %s", show(c.Path))
		}
		return c, nil // only the mode changes
	}
	if _, err := r.next(""); err != nil {
		return c, err
	}
	ids, mode, hasMode := strings.Cut(ids, " ")
	if c.OldID, c.NewID, err = fullIndex(ids); err != nil {
		return c, err
	}
	if hasMode {
		if c.OldMode != 0 || c.NewMode != 0 {
			return c, fmt.Errorf("the mode is there twice")
		}
		if c.OldMode, err = fileMode(mode); err != nil {
			return c, err
		}
		c.NewMode = c.OldMode
	}
	switch {
	case c.OldMode == 0 && c.NewMode == 0:
		return c, fmt.Errorf("the mode of %s is missing", show(c.Path))
	case (c.OldMode == 0) != (c.OldID == "") || (c.NewMode == 0) != (c.NewID == "") || c.OldID == c.NewID:
		return c, fmt.Errorf("the ids of %s do not fit: zeros stand for a file that is not there, and equal ones for no change", show(c.Path))
	}
	return c, r.content(&c)
}

// samePath reads the two names of a change, which are the same: renames are
// not used.
func samePath(names string) (string, error) {
	other := fmt.Errorf("both names must be the same, with a/ and b/ in front: patches here have no renames")
	if strings.HasPrefix(names, `"`) {
		from, rest, ok := unquotePath("a/", names)
		to, end, ok2 := unquotePath("b/", strings.TrimPrefix(rest, " "))
		if !ok || !ok2 || end != "" || from != to || from == "" {
			return "", other
		}
		return from, nil
	}
	half := len(names) / 2
	if len(names)%2 == 0 || half < 3 || names[half] != ' ' || names[:2] != "a/" || names[half+1:half+3] != "b/" || names[2:half] != names[half+3:] {
		return "", other
	}
	return names[2:half], nil
}

// modes reads the lines about modes and refuses those about renames.
func (r *reader) modes(c *Change) error {
	for {
		l, ok := r.peek()
		if !ok {
			return nil
		}
		var err error
		switch {
		case strings.HasPrefix(l, "new file mode ") && c.OldMode == 0 && c.NewMode == 0:
			c.NewMode, err = fileMode(l[len("new file mode "):])
		case strings.HasPrefix(l, "deleted file mode ") && c.OldMode == 0 && c.NewMode == 0:
			c.OldMode, err = fileMode(l[len("deleted file mode "):])
		case strings.HasPrefix(l, "old mode ") && c.OldMode == 0 && c.NewMode == 0:
			if c.OldMode, err = fileMode(l[len("old mode "):]); err != nil {
				break
			}
			if _, err = r.next(""); err != nil {
				return err
			}
			var m string
			if m, err = r.field("new mode "); err != nil {
				return err
			}
			if c.NewMode, err = fileMode(m); err == nil && (c.NewMode == c.OldMode || c.NewMode&kindMask != c.OldMode&kindMask) {
				err = fmt.Errorf("a mode changes between 100644 and 100755 only: anything else is a deletion and a creation")
			}
			if err != nil {
				return err
			}
			continue
		case strings.HasPrefix(l, "similarity "), strings.HasPrefix(l, "dissimilarity "), strings.HasPrefix(l, "rename "), strings.HasPrefix(l, "copy "):
			r.at++
			return fmt.Errorf("patches here have no renames and copies: bring commits in with 'dist patches import'")
		default:
			return nil
		}
		r.at++
		if err != nil {
			return err
		}
		if !strings.HasSuffix(r.lines[r.at-1], "\n") {
			return fmt.Errorf("the patch is truncated: its last line does not end")
		}
	}
}

func fileMode(s string) (git.Mode, error) {
	switch m, err := git.ParseMode(s); {
	case err == nil && len(s) == 6 && (m == git.ModeFile || m == git.ModeExecutable || m == git.ModeSymlink || m == git.ModeSubmodule):
		return m, nil
	}
	return 0, fmt.Errorf("%q is none of the modes 100644, 100755, 120000, 160000", show(s))
}

// emptyBlob is the id of a file without content.
var emptyBlob = git.HashObject("blob", nil)

// content reads what changes inside a file.
func (r *reader) content(c *Change) error {
	l, _ := r.peek()
	switch {
	case l == "GIT binary patch":
		r.at++
		return r.binary(c)
	case strings.HasPrefix(l, "Binary files "):
		r.at++
		return fmt.Errorf("the content of the binary file is missing")
	case !strings.HasPrefix(l, "--- "):
		if c.OldMode == 0 && c.NewID == emptyBlob || c.NewMode == 0 && c.OldID == emptyBlob {
			return nil
		}
		return fmt.Errorf("the patch is truncated: the change of %s is missing", show(c.Path))
	}
	end := ""
	if strings.Contains(c.Path, " ") {
		end = "\t"
	}
	from, to := "--- "+quotePath("a/", c.Path)+end, "+++ "+quotePath("b/", c.Path)+end
	if c.OldMode == 0 {
		from = "--- /dev/null"
	}
	if c.NewMode == 0 {
		to = "+++ /dev/null"
	}
	for _, want := range []string{from, to} {
		l, err := r.next("the name of the file")
		if err != nil {
			return err
		}
		if l != want {
			return fmt.Errorf("the line %q should be here, not %q", show(want), show(l))
		}
	}
	for {
		if l, ok := r.peek(); !ok || !strings.HasPrefix(l, "@@ ") {
			break
		}
		h, err := r.hunk()
		if err != nil {
			return err
		}
		c.Hunks = append(c.Hunks, h)
	}
	if len(c.Hunks) == 0 {
		return fmt.Errorf("the patch is truncated: %s has no hunk", show(c.Path))
	}
	return nil
}

var hunkLine = regexp.MustCompile(`^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@(?: (.*))?$`)

func (r *reader) hunk() (Hunk, error) {
	l, err := r.next("a hunk")
	if err != nil {
		return Hunk{}, err
	}
	m := hunkLine.FindStringSubmatch(l)
	if m == nil {
		return Hunk{}, fmt.Errorf("this is no start of a hunk: %q", show(l))
	}
	number := func(s string) int {
		if s == "" {
			return 1
		}
		n, _ := strconv.Atoi(s) // at most nine digits
		return n
	}
	h := Hunk{OldStart: number(m[1]), OldCount: number(m[2]), NewStart: number(m[3]), NewCount: number(m[4]), Section: m[5], Line: r.at}
	old, now := 0, 0
	for old < h.OldCount || now < h.NewCount {
		l, err := r.next("the rest of the hunk")
		if err != nil {
			return h, err
		}
		if l == "" {
			return h, fmt.Errorf("a line of a hunk has no first character: blanks at the ends of lines were stripped; take the file back from the history")
		}
		switch l[0] {
		case ' ':
			old, now = old+1, now+1
		case '-':
			old++
		case '+':
			now++
		default:
			return h, fmt.Errorf("the hunk is truncated or longer than it says: a line with ' ', '-' or '+' should be here, not %q", show(l))
		}
		if old > h.OldCount || now > h.NewCount {
			return h, fmt.Errorf("the hunk has other lines than its first line says")
		}
		h.Lines = append(h.Lines, l+"\n")
		if mark, ok := r.peek(); ok && mark == noNewline {
			if _, err := r.next(""); err != nil {
				return h, err
			}
			h.Lines[len(h.Lines)-1] = l
		}
	}
	if l, ok := r.peek(); ok && l != "" && strings.ContainsRune(" +", rune(l[0])) {
		r.at++
		return h, fmt.Errorf("the hunk has more lines than its first line says")
	}
	return h, nil
}

// binary reads the content after the change; there is nothing about the one
// before.
func (r *reader) binary(c *Change) error {
	c.IsBinary = true
	c.Binary = []byte{}
	text, err := r.field("literal ")
	if err != nil {
		return err
	}
	size, err := strconv.Atoi(text)
	if err != nil || size < 0 || size > MaxFile {
		return fmt.Errorf("%q is not a size", show(text))
	}
	var data []byte
	for {
		l, err := r.next("the rest of the binary hunk")
		if err != nil {
			return err
		}
		if l == "" {
			break
		}
		part, err := decodeBinaryLine(l)
		if err != nil {
			return err
		}
		data = append(data, part...)
	}
	if c.Binary, err = inflate(data, size); err != nil {
		return err
	}
	return nil
}
