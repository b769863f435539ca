// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"slices"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/inert"
)

const (
	// mostCommon is how often upstream may have had a line before, for a
	// further one to mean something.
	mostCommon = 2
	// blockShare is the share of a block's telling lines that makes it a copy.
	blockShare = 0.5
	// elsewhereLines is how many telling lines a block must have to be looked
	// for in other files, and elsewhereShare how many of them one of those
	// files must have gained.
	elsewhereLines = 4
	elsewhereShare = 0.8
	// mostDuplicates bounds the list of one patch.
	mostDuplicates = 50
	// largestSearched is the size in bytes up to which other files are looked
	// at.
	largestSearched = 1 << 20
)

// A block is a run of lines that a patch adds.
type block struct {
	p       *rebased
	path    string
	oldPath string
	first   int // line in the file after the merge, from 0
	lines   []string
	post    []string
	found   map[string]map[string]int // other file → line → row
}

// findDuplicates looks for lines that the stack adds and upstream has gained by
// itself since the old base: in the same file, and in other ones for whole
// blocks.
func (r *rebasing) findDuplicates() error {
	if len(r.drift) == 0 {
		return nil
	}
	blocks, err := r.blocks()
	if err != nil {
		return err
	}
	for _, b := range blocks {
		if err := r.sameFile(b); err != nil {
			return err
		}
	}
	return r.otherFiles(blocks)
}

// blocks are what the merged stack adds, patch by patch.
func (r *rebasing) blocks() ([]*block, error) {
	var out []*block
	for _, p := range r.patches {
		if len(p.after) == 0 {
			continue
		}
		// Lines that the patch itself takes away elsewhere are only moved.
		taken := bag{}
		var mine []*block
		for _, c := range p.after {
			old, err := r.e.text(c.old)
			if err != nil {
				return nil, err
			}
			new, err := r.e.text(c.new)
			if err != nil {
				return nil, err
			}
			if old.binary || new.binary {
				continue
			}
			for _, g := range regions(old.lines, new.lines) {
				for _, l := range old.lines[g.aLo:g.aHi] {
					taken[strings.TrimSpace(l)]++
				}
				if g.bLo < g.bHi {
					mine = append(mine, &block{p: p, path: c.path, oldPath: r.oldPath(p, c.path), first: g.bLo,
						lines: new.lines[g.bLo:g.bHi], post: new.lines})
				}
			}
		}
		for _, b := range mine {
			kept := make([]string, len(b.lines))
			for i, l := range b.lines {
				l = strings.TrimSpace(l)
				if taken[l] > 0 {
					taken[l]--
				} else if telling(l) {
					kept[i] = l
				}
			}
			b.lines = kept // trimmed; empty where a line does not count
			if slices.ContainsFunc(kept, func(l string) bool { return l != "" }) {
				out = append(out, b)
			}
		}
	}
	return out, nil
}

func (r *rebasing) oldPath(p *rebased, path string) string {
	for _, f := range p.Followed {
		if f.To == path {
			return f.From
		}
	}
	return path
}

// telling is how many lines of a block count.
func (b *block) telling() int {
	n := 0
	for _, l := range b.lines {
		if l != "" {
			n++
		}
	}
	return n
}

// sameFile compares a block with what upstream did to its file.
func (r *rebasing) sameFile(b *block) error {
	if d, ok := r.drift[b.path]; !ok || d.deleted() {
		return nil
	}
	was, err := r.bagAt(r.base.Tree, b.oldPath)
	if err != nil {
		return err
	}
	is, err := r.bagAt(r.onto.Tree, b.path)
	if err != nil {
		return err
	}
	var found []Duplicate
	for i, l := range b.lines {
		if l == "" || is[l] <= was[l] || was[l] > mostCommon {
			continue
		}
		row := -1
		for k, o := range b.post {
			if (k < b.first || k >= b.first+len(b.lines)) && strings.TrimSpace(o) == l {
				row = k
				break
			}
		}
		if row < 0 {
			continue // a later commit of upstream's took it out again
		}
		found = append(found, Duplicate{Text: l, Path: b.path, Line: b.first + i + 1, Other: b.path, OtherRow: row + 1})
	}
	r.add(b, found, float64(len(found)) >= blockShare*float64(b.telling()))
	return nil
}

func (r *rebasing) bagAt(tree git.ID, path string) (bag, error) {
	entry, err := r.e.entryAt(tree, path)
	if err != nil {
		return nil, err
	}
	t, err := r.e.text(entry)
	if err != nil {
		return nil, err
	}
	return t.bag(), nil
}

// add notes duplicates; a block of them makes the patch red.
func (r *rebasing) add(b *block, found []Duplicate, whole bool) {
	if len(found) == 0 {
		return
	}
	p := b.p
	for _, d := range found {
		d.Block = whole
		d.Text, d.Path, d.Other = inert.Line(d.Text, 160), inert.Line(d.Path, 200), inert.Line(d.Other, 200)
		if len(p.Duplicates) < mostDuplicates {
			p.Duplicates = append(p.Duplicates, d)
		}
	}
	if whole && (p.Outcome == Moved || p.Outcome == Unchanged) {
		p.Outcome = ProbablyUpstream
	}
}

// otherFiles looks for whole blocks in what upstream did to other files.
func (r *rebasing) otherFiles(blocks []*block) error {
	wanted := map[string][]*block{}
	for _, b := range blocks {
		if b.telling() < elsewhereLines || len(b.p.Duplicates) > 0 {
			continue
		}
		b.found = map[string]map[string]int{}
		for _, l := range b.lines {
			if l != "" {
				wanted[l] = append(wanted[l], b)
			}
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	for _, path := range sortedKeys(r.drift) {
		if err := r.search(r.drift[path], wanted); err != nil {
			return err
		}
	}
	for _, b := range blocks {
		var found []Duplicate
		for _, other := range sortedKeys(b.found) {
			rows := b.found[other]
			var here []Duplicate
			for i, l := range b.lines {
				if row, ok := rows[l]; ok && l != "" {
					here = append(here, Duplicate{Text: l, Path: b.path, Line: b.first + i + 1, Other: other, OtherRow: row + 1})
				}
			}
			if len(here) > len(found) && float64(len(here)) >= elsewhereShare*float64(b.telling()) {
				found = here
			}
		}
		r.add(b, found, true)
	}
	return nil
}

// search notes the wanted lines that upstream added to one file.
func (r *rebasing) search(d change, wanted map[string][]*block) error {
	if d.deleted() || d.new.Mode.Kind() != "blob" || d.new.Mode == git.ModeSymlink {
		return nil
	}
	for _, entry := range []git.TreeEntry{d.new, d.old} {
		if entry.Mode == 0 {
			continue
		}
		// What an excluded file has is not known, and need not be.
		if h, err := r.e.cat.Header(entry.ID); err != nil || h.Kind != "blob" || h.Size > largestSearched {
			return err
		}
	}
	content, err := r.e.cat.Read(d.new.ID, "blob")
	if err != nil {
		return err
	}
	if isBinary(content) {
		return nil
	}
	type hit struct{ count, row int }
	hits := map[string]hit{}
	row := 0
	for l := range strings.Lines(string(content)) {
		if l = strings.TrimSpace(l); wanted[l] != nil {
			h := hits[l]
			if h.count == 0 {
				h.row = row
			}
			h.count++
			hits[l] = h
		}
		row++
	}
	if len(hits) < 2 {
		return nil
	}
	var old bag
	if !d.added() {
		t, err := r.e.text(d.old)
		if err != nil {
			return err
		}
		old = t.bag()
	}
	for l, h := range hits {
		if h.count <= old[l] {
			continue
		}
		for _, b := range wanted[l] {
			if b.path == d.path || b.oldPath == d.path {
				continue
			}
			if b.found[d.path] == nil {
				b.found[d.path] = map[string]int{}
			}
			b.found[d.path][l] = h.row
		}
	}
	return nil
}
