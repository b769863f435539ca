// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/1bit-MONSTER/engine/internal/git"
)

// A Misplaced hunk is one that git merged without a conflict into another
// function than the one it was written for.
type Misplaced struct {
	Path   string `json:"path"`
	Line   int    `json:"line"`   // of the hunk's first line after the merge, from 1
	Before string `json:"before"` // where the patch puts it; empty: in no function
	After  string `json:"after"`
}

// A heading is a line that opens a function, a class or the like.
type heading struct {
	line int // in the text before the patch, from 0; -1 when the patch adds it
	text string
	name string
}

// misplaced compares where a patch puts its lines with where they came to be.
// Lines inside of nothing (at the left margin) have no function to compare.
func misplaced(path string, oldPre, oldPost, newPre, newPost []string) []Misplaced {
	oldHunks, newHunks := regions(oldPre, oldPost), regions(newPre, newPost)
	upstream := regions(oldPre, newPre)
	var names map[string]int // made when it is needed, which is rare
	count := func(name string) int {
		if names == nil {
			names = headingNames(newPre)
		}
		return names[name]
	}
	var out []Misplaced
	for i, h := range newHunks {
		after := enclosing(newPre, newPost, newHunks, h)
		// The hunks of both diffs are the same in number and order as a rule.
		// Where the merge joined or split some, one of the old ones must fit.
		candidates := oldHunks
		if len(oldHunks) == len(newHunks) {
			candidates = oldHunks[i : i+1]
		}
		fits := len(oldHunks) == 0
		var before []heading
		for _, o := range candidates {
			before = enclosing(oldPre, oldPost, oldHunks, o)
			if sameFunction(before, after, upstream, count) {
				fits = true
				break
			}
		}
		if !fits {
			out = append(out, Misplaced{path, h.bLo + 1, describe(before), describe(after)})
		}
	}
	return out
}

func describe(chain []heading) string {
	var words []string
	for _, h := range slices.Backward(chain) {
		words = append(words, strings.TrimSpace(h.text))
	}
	return strings.Join(words, " > ")
}

// sameFunction compares two chains of headings, innermost first. upstream are
// the differences between the texts that both refer to, count tells how many
// headings of a name the second has.
func sameFunction(before, after []heading, upstream []region, count func(name string) int) bool {
	if len(before) != len(after) {
		// Upstream may have put everything into one more scope, or taken one
		// away: the innermost one decides, unless there is none on one side.
		if len(before) == 0 || len(after) == 0 {
			return false
		}
		before, after = before[:1], after[:1]
	}
	for i := range before {
		if !sameHeading(before[i], after[i], upstream, count) {
			return false
		}
	}
	return true
}

func sameHeading(b, a heading, upstream []region, count func(name string) int) bool {
	if b.line < 0 || a.line < 0 {
		return b.name == a.name // the patch brings its own function
	}
	line, same, in := across(upstream, b.line)
	switch {
	case same && line == a.line:
		return true
	case b.name == a.name:
		// It was moved or its head was changed; with several of that name only
		// the one at the same place is meant.
		return count(b.name) <= 1 || !same && a.line >= in.bLo && a.line < in.bHi
	case same || count(b.name) > 0:
		return false // the function is still there, and this is another one
	}
	// Its name is gone. Where its head was, another one is now: renamed.
	return a.line >= in.bLo && a.line < in.bHi
}

// enclosing returns what is around the first telling line of a hunk, innermost
// first.
func enclosing(pre, post []string, hunks []region, h region) []heading {
	lines, lo, hi, inPost := post, h.bLo, h.bHi, true
	if lo == hi {
		lines, lo, hi, inPost = pre, h.aLo, h.aHi, false
	}
	at := lo
	for at < hi-1 && !hasWord(lines[at]) {
		at++
	}
	indent := indentation(lines[at])
	if !hasWord(lines[at]) {
		// Only braces or blank lines: what is around says where it is.
		for k := lo - 1; k >= 0; k-- {
			if hasWord(lines[k]) {
				at, indent = k, indentation(lines[k])
				break
			}
		}
	}
	back := reversed(hunks)
	var out []heading
	for k := at - 1; k >= 0 && indent > 0; k-- {
		l := lines[k]
		if !hasWord(l) || indentation(l) >= indent || notAScope(l) {
			continue
		}
		indent = indentation(l)
		if control.MatchString(l) {
			continue
		}
		n := k
		if inPost {
			if line, same, _ := across(back, k); same {
				n = line
			} else {
				n = -1
			}
		}
		out = append(out, heading{n, l, headingName(l)})
	}
	return out
}

// control begins lines that open a block but no function.
var control = regexp.MustCompile(`^\s*(\}\s*)?(if|else|elif|for|foreach|while|switch|do|try|catch|except|finally|with|match|case|default|return|elseif|endif|select|loop|unsafe)\b`)

// notAScope are lines to the left of a body that are not its head: closing
// brackets, preprocessor lines, comments, labels.
func notAScope(l string) bool {
	t := strings.TrimSpace(l)
	switch t[0] {
	case '}', ')', ']', '#', '*', '/', '@', '"', '\'':
		return true
	}
	return label.MatchString(t)
}

var label = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*\s*:$`)

func indentation(l string) int {
	n := 0
	for _, r := range l {
		switch r {
		case ' ':
			n++
		case '\t':
			n += 8
		default:
			return n
		}
	}
	return n
}

func hasWord(l string) bool {
	return strings.ContainsFunc(l, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

var beforeBracket = regexp.MustCompile(`([A-Za-z_~][A-Za-z0-9_:~]*)\s*(?:<[^()]*>)?\(`)

// headingName is the name of a function's head, or the head itself for what
// has no brackets.
func headingName(l string) string {
	if m := beforeBracket.FindStringSubmatch(l); m != nil {
		return m[1]
	}
	return strings.TrimRight(strings.TrimSpace(l), " {:")
}

// headingNames counts the names of all lines that could be heads.
func headingNames(lines []string) map[string]int {
	names := map[string]int{}
	for i, l := range lines {
		if !hasWord(l) || notAScope(l) || control.MatchString(l) || strings.HasSuffix(strings.TrimSpace(l), ";") {
			continue
		}
		// A head has something to the right of it below.
		for _, below := range lines[i+1:] {
			if hasWord(below) && !strings.HasPrefix(strings.TrimSpace(below), "#") {
				if indentation(below) > indentation(l) {
					names[headingName(l)]++
				}
				break
			}
		}
	}
	return names
}

// places finds the misplaced hunks of one merged patch. pairs are what it
// changes before and after the merge, by file.
func (e *Engine) places(pairs []pair) ([]Misplaced, error) {
	var out []Misplaced
	for _, p := range pairs {
		if p.before.old.ID == p.after.old.ID || p.before.added() || p.after.added() || p.after.deleted() || p.before.deleted() {
			continue // the same text before, so the same place; or no place at all
		}
		var t [4]*text
		for i, entry := range []git.TreeEntry{p.before.old, p.before.new, p.after.old, p.after.new} {
			var err error
			if t[i], err = e.text(entry); err != nil {
				return nil, err
			}
		}
		if t[0].binary || t[1].binary || t[2].binary || t[3].binary {
			continue
		}
		out = append(out, misplaced(p.after.path, t[0].lines, t[1].lines, t[2].lines, t[3].lines)...)
	}
	return out, nil
}

// A pair is one file of a patch before and after the merge. The paths differ
// where upstream renamed it.
type pair struct{ before, after change }

// pairUp finds for every file that the merged patch changes the one of the
// original patch: of the same path, or else, for a file that upstream renamed,
// one that the merged patch does not touch and whose text is closest.
func (e *Engine) pairUp(before, after []change) ([]pair, error) {
	left := map[string]change{}
	for _, b := range before {
		left[b.path] = b
	}
	var out []pair
	var open []change
	for _, a := range after {
		if b, ok := left[a.path]; ok {
			out = append(out, pair{b, a})
			delete(left, a.path)
		} else {
			open = append(open, a)
		}
	}
	for _, a := range open {
		best, bestPath := 0.0, ""
		mine, err := e.lines(a)
		if err != nil {
			return nil, err
		}
		for _, path := range sortedKeys(left) {
			theirs, err := e.lines(left[path])
			if err != nil {
				return nil, err
			}
			s := mine.similarity(theirs)
			if a.old.Mode != 0 && left[path].old.Mode != 0 && s == 0 && len(mine) == 0 && len(theirs) == 0 {
				s = 0.1 // mode changes and the like
			}
			if s > best {
				best, bestPath = s, path
			}
		}
		if bestPath != "" {
			out = append(out, pair{left[bestPath], a})
			delete(left, bestPath)
		}
	}
	return out, nil
}

// lines are the lines that a change takes and adds.
func (e *Engine) lines(c change) (changedLines, error) {
	old, err := e.text(c.old)
	if err != nil {
		return nil, err
	}
	new, err := e.text(c.new)
	if err != nil {
		return nil, err
	}
	out := changedLines{}
	for _, r := range regions(old.lines, new.lines) {
		for _, l := range old.lines[r.aLo:r.aHi] {
			out.add('-', l)
		}
		for _, l := range new.lines[r.bLo:r.bHi] {
			out.add('+', l)
		}
	}
	return out, nil
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
