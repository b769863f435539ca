// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"fmt"
	"net/mail"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/1bit-MONSTER/engine/internal/git"
)

// MaxFile is the most bytes that a patch file may have.
const MaxFile = 64 << 20

// Parse reads the text of a patch file; shown is its name in problems, and
// what stands after its last slash becomes File. It reads what Render writes and refuses
// everything else with the line: other tools' files become patches by an
// import of commits. The error is Problems.
func Parse(shown string, data []byte) (*Patch, error) {
	r := &reader{lines: splitLines(string(data))}
	p := &Patch{File: shown[strings.LastIndexByte(shown, '/')+1:], source: data}
	err := func() error {
		if len(data) > MaxFile {
			return fmt.Errorf("the file has more than %d MiB", MaxFile>>20)
		}
		if err := r.header(p); err != nil {
			return err
		}
		return r.changes(p)
	}()
	if err != nil {
		return nil, Problems{{shown, max(r.at, 1), err.Error()}}
	}
	return p, nil
}

// A reader goes through the lines of a patch file.
type reader struct {
	lines []string
	at    int // how many are read: the number of the last one
	files int // as the file says
}

// peek returns the next line without its newline; ok is false at the end.
func (r *reader) peek() (string, bool) {
	if r.at == len(r.lines) {
		return "", false
	}
	return strings.TrimSuffix(r.lines[r.at], "\n"), true
}

// next takes a line that has to be there, and to be whole.
func (r *reader) next(what string) (string, error) {
	l, ok := r.peek()
	if !ok {
		return "", fmt.Errorf("the patch is truncated: %s is missing", what)
	}
	r.at++
	if !strings.HasSuffix(r.lines[r.at-1], "\n") {
		return "", fmt.Errorf("the patch is truncated: its last line does not end")
	}
	return l, nil
}

// field takes a line with a given start and returns the rest.
func (r *reader) field(prefix string) (string, error) {
	l, err := r.next(fmt.Sprintf("the line %q", strings.TrimSpace(prefix)))
	if err != nil {
		return "", err
	}
	value, ok := strings.CutPrefix(l, prefix)
	if !ok {
		return "", fmt.Errorf("a line %q should be here, not %q", strings.TrimSpace(prefix), show(l))
	}
	return value, nil
}

func (r *reader) header(p *Patch) error {
	l, err := r.next("everything")
	if err != nil {
		return err
	}
	if strings.HasSuffix(l, "\r") {
		return fmt.Errorf("the file was saved with CRLF line ends: take it back from the history and keep its bytes")
	}
	if l != mailLine {
		return fmt.Errorf("this does not start as a patch of ours does: bring commits in with 'dist patches import'")
	}
	who, err := r.field("From: ")
	if err != nil {
		return err
	}
	open := strings.LastIndexByte(who, '<')
	if open < 0 || !strings.HasSuffix(who, ">") || strings.ContainsAny(who[open+1:len(who)-1], "<>\x00") {
		return fmt.Errorf("the author must be: name <address>")
	}
	p.Author.Name, p.Author.Email = strings.TrimSuffix(who[:open], " "), who[open+1:len(who)-1]
	if strings.ContainsAny(p.Author.Name, "<>\x00\r") || strings.TrimSpace(p.Author.Name) != p.Author.Name || !utf8.ValidString(who) {
		return fmt.Errorf("the author's name has characters that a commit cannot hold, or is not UTF-8")
	}
	date, err := r.field("Date: ")
	if err != nil {
		return err
	}
	if p.Author.When, err = parseDate(date); err != nil {
		return err
	}
	subject, err := r.field("Subject: ")
	if err != nil {
		return err
	}
	if l, err = r.next("the blank line after the subject"); err != nil {
		return err
	}
	if l != "" {
		return fmt.Errorf("a blank line should be here: a subject has one line")
	}
	var body strings.Builder
	for {
		if l, err = r.next("the line --- after the message"); err != nil {
			return err
		}
		if l == "---" {
			break
		}
		if needsQuote(l) && !strings.HasPrefix(l, ">") {
			return fmt.Errorf("a message's line that starts like a patch needs a '>' in front")
		}
		body.WriteString(unquoteLine(l) + "\n")
	}
	if p.Message, err = CleanMessage(subject+"\n\n"+body.String(), ""); err != nil {
		return fmt.Errorf("the commit cannot be made: %w", err)
	}
	return r.count()
}

// parseDate reads an RFC 5322 date and keeps its zone without a name.
func parseDate(s string) (time.Time, error) {
	t, err := mail.ParseDate(s)
	if err != nil || t.Unix() < 0 || t.Year() > 9999 {
		return t, fmt.Errorf("%q is not a date such as Thu, 1 Oct 2026 12:00:00 +0200", show(s))
	}
	_, offset := t.Zone()
	if offset == 0 {
		return t.UTC(), nil
	}
	return t.In(time.FixedZone("", offset)), nil
}

// count reads how many files the patch says it changes.
func (r *reader) count() error {
	l, err := r.next("the number of changed files")
	if err != nil {
		return err
	}
	number, _, _ := strings.Cut(strings.TrimPrefix(l, " "), " ")
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 {
		return fmt.Errorf("the number of changed files should be here, such as %q", " 2 files changed")
	}
	r.files = n
	if l, err = r.next("the blank line before the changes"); err == nil && l != "" {
		err = fmt.Errorf("a blank line should be here")
	}
	return err
}

// changes reads the changes, which must be in the order of their paths.
func (r *reader) changes(p *Patch) error {
	seen := map[string]bool{}
	for {
		l, ok := r.peek()
		if !ok {
			break
		}
		rest, ok := strings.CutPrefix(l, "diff --git ")
		if !ok {
			r.at++
			if strings.HasSuffix(l, "\r") {
				return fmt.Errorf("the file was saved with CRLF line ends: take it back from the history and keep its bytes")
			}
			if strings.HasPrefix(l, "-- ") || l == "--" {
				return fmt.Errorf("a patch of ours has no signature: bring commits in with 'dist patches import'")
			}
			return fmt.Errorf("the next change, or the end, should be here, not %q", show(l))
		}
		if _, err := r.next(""); err != nil {
			return err
		}
		c, err := r.change(rest)
		if err != nil {
			return err
		}
		if n := len(p.Changes); n > 0 {
			last := &p.Changes[n-1]
			replaces := last.Path == c.Path && last.NewMode == 0 && c.OldMode == 0
			if c.Path < last.Path || c.Path == last.Path && !replaces {
				r.at = c.Line
				return fmt.Errorf("%s is out of order or there twice", show(c.Path))
			}
		}
		seen[c.Path] = true
		p.Changes = append(p.Changes, c)
	}
	if len(seen) != r.files {
		return fmt.Errorf("the patch is truncated: it says that it changes %d files and has %d", r.files, len(seen))
	}
	return nil
}

// fullIndex reads the two ids of an index line; zeros become empty.
func fullIndex(s string) (old, now git.ID, err error) {
	a, b, ok := strings.Cut(s, "..")
	if !ok || len(a) != 40 || len(b) != 40 {
		return "", "", fmt.Errorf("the index line must have both ids in full: bring commits in with 'dist patches import'")
	}
	ids := [2]git.ID{}
	for i, text := range []string{a, b} {
		if text == zeroID {
			continue
		}
		if ids[i], err = git.ParseID(text); err != nil {
			return "", "", err
		}
	}
	return ids[0], ids[1], nil
}
