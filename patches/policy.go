// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// PolicyFile is where a stack says how some of its conflicts are settled.
const PolicyFile = "policy.yaml"

// A Policy settles conflicts by their paths, for folders that are ours or that
// are upstream's in every doubt.
//
//	conflicts:
//	  - {under: ggml/src/ggml-hrx/, keep: ours}
//	lost-lines: fail
type Policy struct {
	Conflicts []PathPolicy `yaml:"conflicts"`
	// LostLines says what happens when a settlement, by policy or by a recorded
	// resolution, drops lines that upstream added: fail (the default) or
	// report.
	LostLines string `yaml:"lost-lines"`
}

// A PathPolicy settles the conflicts below one folder, or of one file.
type PathPolicy struct {
	Under string `yaml:"under"` // a folder with a slash at its end, or a file
	// Keep is whose side is kept: ours is the patch's, theirs is upstream's. A
	// side that deleted the file keeps it deleted.
	Keep string `yaml:"keep"`
	// Scope is what is kept of a text: file (the default) takes the whole file
	// as that side has it, hunks only the lines in conflict.
	Scope string `yaml:"scope"`
}

// The words of a policy.
const (
	KeepOurs        = "ours"
	KeepTheirs      = "theirs"
	ScopeFile       = "file"
	ScopeHunks      = "hunks"
	LostLinesFail   = "fail"
	LostLinesReport = "report"
)

// ReadPolicy reads the policy in a stack's folder; without that file it is
// empty.
func ReadPolicy(dir string) (*Policy, error) {
	p := &Policy{}
	absent, err := readYAML(dir, PolicyFile, p)
	if err != nil || absent {
		return p, err
	}
	return p, p.check(shownIn(dir, PolicyFile))
}

// ParsePolicy reads a policy; shown is its name in errors.
func ParsePolicy(shown string, data []byte) (*Policy, error) {
	p := &Policy{}
	if err := parseYAML(shown, data, p); err != nil {
		return nil, err
	}
	return p, p.check(shown)
}

// check fills in what is not said and refuses what means nothing.
func (p *Policy) check(shown string) error {
	var bad []string
	for i, c := range p.Conflicts {
		where := fmt.Sprintf("%s: conflicts[%d]", shown, i)
		clean := path.Clean(c.Under)
		if c.Under == "" || clean != strings.TrimSuffix(c.Under, "/") || clean == "." || path.IsAbs(clean) || clean == ".." || strings.HasPrefix(clean, "../") {
			bad = append(bad, fmt.Sprintf("%s: under: %q is not a folder or file of the upstream", where, c.Under))
		}
		if first := slices.IndexFunc(p.Conflicts, func(o PathPolicy) bool { return o.Under == c.Under }); first < i {
			bad = append(bad, fmt.Sprintf("%s: under: %q is there already, in conflicts[%d]", where, c.Under, first))
		}
		if c.Keep != KeepOurs && c.Keep != KeepTheirs {
			bad = append(bad, fmt.Sprintf("%s: keep: %q is neither ours nor theirs", where, c.Keep))
		}
		switch c.Scope {
		case "":
			p.Conflicts[i].Scope = ScopeFile
		case ScopeFile, ScopeHunks:
		default:
			bad = append(bad, fmt.Sprintf("%s: scope: %q is neither file nor hunks", where, c.Scope))
		}
	}
	switch p.LostLines {
	case "":
		p.LostLines = LostLinesFail
	case LostLinesFail, LostLinesReport:
	default:
		bad = append(bad, fmt.Sprintf("%s: lost-lines: %q is neither fail nor report", shown, p.LostLines))
	}
	if len(bad) > 0 {
		return errors.New(strings.Join(bad, "\n"))
	}
	return nil
}

// of returns the entry with the longest match for a path, nil when none has.
func (p *Policy) of(file string) *PathPolicy {
	if p == nil {
		return nil
	}
	var best *PathPolicy
	for i := range p.Conflicts {
		c := &p.Conflicts[i]
		if file != c.Under && !(strings.HasSuffix(c.Under, "/") && strings.HasPrefix(file, c.Under)) {
			continue
		}
		if best == nil || len(c.Under) > len(best.Under) {
			best = c
		}
	}
	return best
}

func (p *Policy) lostLinesFail() bool { return p == nil || p.LostLines != LostLinesReport }
