// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"fmt"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/git"
)

// mailLine begins every patch file, as git's own do; the id of the commit is
// left out, because it depends on the base.
const mailLine = "From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001"

// mailDate is the form of the author's date.
const mailDate = "Mon, 2 Jan 2006 15:04:05 -0700"

const zeroID = "0000000000000000000000000000000000000000"

// Render writes a patch as the text of its file, which git am also reads.
// Names and message are written as UTF-8 without any encoding or folding.
func Render(p *Patch) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nFrom: %s <%s>\nDate: %s\nSubject: %s\n\n", mailLine, p.Author.Name, p.Author.Email, p.Author.When.Format(mailDate), p.Subject())
	for l := range strings.Lines(p.Body()) {
		b.WriteString(quoteLine(l))
	}
	b.WriteString("---\n" + changedFiles(p) + "\n")
	for i := range p.Changes {
		p.Changes[i].render(&b)
	}
	return []byte(b.String())
}

// changedFiles is the line that tells a whole patch from a truncated one.
func changedFiles(p *Patch) string {
	if n := len(p.Paths()); n != 1 {
		return fmt.Sprintf(" %d files changed\n", n)
	}
	return " 1 file changed\n"
}

func (c *Change) render(b *strings.Builder) {
	from, to := quotePath("a/", c.Path), quotePath("b/", c.Path)
	fmt.Fprintf(b, "diff --git %s %s\n", from, to)
	switch {
	case c.OldMode == 0:
		fmt.Fprintf(b, "new file mode %s\n", c.NewMode)
	case c.NewMode == 0:
		fmt.Fprintf(b, "deleted file mode %s\n", c.OldMode)
	case c.OldMode != c.NewMode:
		fmt.Fprintf(b, "old mode %s\nnew mode %s\n", c.OldMode, c.NewMode)
	}
	if c.OldID == c.NewID {
		return
	}
	fmt.Fprintf(b, "index %s..%s", orZero(c.OldID), orZero(c.NewID))
	if c.OldMode == c.NewMode {
		fmt.Fprintf(b, " %s", c.OldMode)
	}
	b.WriteByte('\n')
	if c.IsBinary {
		fmt.Fprintf(b, "GIT binary patch\nliteral %d\n", len(c.Binary))
		binaryLines(b, c.Binary)
		b.WriteByte('\n')
		return
	}
	if len(c.Hunks) == 0 {
		return // an empty file comes or goes
	}
	// A tab ends names with blanks, for readers that stop at the first one.
	end := "\n"
	if strings.Contains(c.Path, " ") {
		end = "\t\n"
	}
	if c.OldMode == 0 {
		b.WriteString("--- /dev/null\n")
	} else {
		b.WriteString("--- " + from + end)
	}
	if c.NewMode == 0 {
		b.WriteString("+++ /dev/null\n")
	} else {
		b.WriteString("+++ " + to + end)
	}
	for i := range c.Hunks {
		h := &c.Hunks[i]
		fmt.Fprintf(b, "@@ -%s +%s @@", span(h.OldStart, h.OldCount), span(h.NewStart, h.NewCount))
		if h.Section != "" {
			b.WriteString(" " + h.Section)
		}
		b.WriteByte('\n')
		for _, l := range h.Lines {
			b.WriteString(l)
			if !strings.HasSuffix(l, "\n") {
				b.WriteString("\n" + noNewline + "\n")
			}
		}
	}
}

const noNewline = `\ No newline at end of file`

func span(start, count int) string {
	if count == 1 {
		return fmt.Sprint(start)
	}
	return fmt.Sprintf("%d,%d", start, count)
}

func orZero(id git.ID) string {
	if id == "" {
		return zeroID
	}
	return string(id)
}
