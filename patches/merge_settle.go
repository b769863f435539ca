// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"fmt"
	"slices"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/git"
)

// A Settlement is one file's conflict that no person looked at this time.
type Settlement struct {
	Path string `json:"path"`
	// By is "policy" or "resolution".
	By string `json:"by"`
	// Detail is the policy's entry or the resolution's key.
	Detail string `json:"detail"`
}

// A LostLine is one that upstream added and that is not there after a
// settlement.
type LostLine struct {
	Path string `json:"path"`
	Line int    `json:"line"` // in upstream's file, from 1
	Text string `json:"text"` // without its line end
	// Elsewhere: the same text is in the outcome, but at another place in the
	// order, or fewer times.
	Elsewhere bool `json:"elsewhere,omitempty"`
}

// settled is the outcome of settle.
type settled struct {
	tree  git.ID   // the merged tree, when nothing is open
	open  []string // paths that need a person
	by    []Settlement
	lost  []LostLine
	fails bool // lost lines make it red
}

// settle tries to settle a merge's conflicts by recorded resolutions and, where
// there is none, by policy.
func (e *Engine) settle(m *merged, policy *Policy, resolutions Resolutions) (*settled, error) {
	out := &settled{}
	edits := map[string]git.TreeEntry{}
	for _, path := range m.files() {
		entry, by, accepted, err := e.settleFile(m, path, policy, resolutions)
		if err != nil {
			return nil, err
		}
		if by == nil {
			out.open = append(out.open, path)
			continue
		}
		edits[path] = entry
		out.by = append(out.by, *by)
		lost, err := e.lostLines(m, path, entry)
		if err != nil {
			return nil, err
		}
		out.lost = append(out.lost, withoutAccepted(lost, accepted)...)
	}
	if len(edits) == 0 && len(out.open) == 0 {
		// A conflict of no file in particular, such as a folder that was
		// renamed to two places.
		out.open = []string{}
		return out, nil
	}
	if len(out.open) > 0 {
		return out, nil
	}
	var err error
	out.tree, err = e.editTree(m.tree, edits)
	out.fails = len(out.lost) > 0 && policy.lostLinesFail()
	return out, err
}

// settleFile returns what a file becomes, and by what; by is nil when nothing
// settles it. accepted are lines that a person let go before.
func (e *Engine) settleFile(m *merged, path string, policy *Policy, resolutions Resolutions) (entry git.TreeEntry, by *Settlement, accepted []string, err error) {
	segments, whole, err := e.conflictOf(m, path)
	if err != nil {
		return entry, nil, nil, err
	}
	if segments != nil {
		key := hunksKey(path, segments)
		if r := resolutions[key]; r != nil && r.Whole == nil {
			n := 0
			content := joined(segments, func(segment) string {
				n++
				return r.Hunks[n-1].Resolved
			})
			entry, err = e.textEntry(m, path, content)
			return entry, &Settlement{path, "resolution", key}, r.Lost, err
		}
	}
	probe := Resolution{Path: path, Whole: &whole}
	if r := resolutions[probe.Key()]; r != nil && r.Whole != nil {
		by = &Settlement{path, "resolution", probe.Key()}
		if r.Whole.Mode == "" {
			return entry, by, r.Lost, nil
		}
		if entry.Mode, err = git.ParseMode(r.Whole.Mode); err != nil {
			return entry, nil, nil, err
		}
		entry.ID, err = e.s.write("blob", []byte(r.Whole.Content))
		return entry, by, r.Lost, err
	}
	p := policy.of(path)
	if p == nil {
		return entry, nil, nil, nil
	}
	by = &Settlement{path, "policy", fmt.Sprintf("under %s keep %s", p.Under, p.Keep)}
	if p.Scope == ScopeHunks && segments != nil {
		content := joined(segments, func(s segment) string {
			if p.Keep == KeepOurs {
				return s.patch
			}
			return s.upstream
		})
		entry, err = e.textEntry(m, path, content)
		return entry, by, nil, err
	}
	kept := 2
	if p.Keep == KeepOurs {
		kept = 3
	}
	for _, s := range m.stages {
		if s.Path == path && s.Stage == kept {
			entry = git.TreeEntry{Mode: s.Mode, ID: s.ID}
		}
	}
	return entry, by, nil, nil
}

// textEntry stores a settled text with the mode that git merged.
func (e *Engine) textEntry(m *merged, path, content string) (git.TreeEntry, error) {
	marked, err := e.entryAt(m.tree, path)
	if err != nil {
		return git.TreeEntry{}, err
	}
	id, err := e.s.write("blob", []byte(content))
	return git.TreeEntry{Mode: marked.Mode, ID: id}, err
}

// lostLines lists the lines of a file in conflict that upstream added and that
// the outcome lacks, counting order and duplicates.
func (e *Engine) lostLines(m *merged, path string, outcome git.TreeEntry) ([]LostLine, error) {
	var sides [4]*text
	for i := range sides {
		sides[i] = noText
	}
	for _, s := range m.stages {
		if s.Path == path {
			t, err := e.text(git.TreeEntry{Mode: s.Mode, ID: s.ID})
			if err != nil {
				return nil, err
			}
			sides[s.Stage] = t
		}
	}
	result, err := e.text(outcome)
	if err != nil {
		return nil, err
	}
	base, upstream := sides[1], sides[2]
	if base.binary || upstream.binary || result.binary {
		if string(upstream.content) != string(base.content) && string(upstream.content) != string(result.content) {
			return []LostLine{{Path: path, Text: "(upstream's change of a binary file)"}}, nil
		}
		return nil, nil
	}
	_, added := diffLines(base.lines, upstream.lines)
	gone, fresh := diffLines(upstream.lines, result.lines)
	extra := bag{}
	for j, l := range result.lines {
		if fresh[j] {
			extra[l]++
		}
	}
	var lost []LostLine
	for i, l := range upstream.lines {
		if added[i] && gone[i] && strings.TrimSpace(l) != "" {
			elsewhere := extra[l] > 0 || slices.Contains(result.lines, l)
			lost = append(lost, LostLine{path, i + 1, strings.TrimRight(l, "\r\n"), elsewhere})
		}
	}
	return lost, nil
}

func withoutAccepted(lost []LostLine, accepted []string) []LostLine {
	left := bag{}
	for _, a := range accepted {
		left[a]++
	}
	var out []LostLine
	for _, l := range lost {
		if left[l.Text] > 0 {
			left[l.Text]--
			continue
		}
		out = append(out, l)
	}
	return out
}
