// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/1bit-MONSTER/engine/internal/git"
)

// ResolutionsFolder is where a stack keeps how people settled its conflicts.
const ResolutionsFolder = "resolutions"

// A Resolution is how a person settled one file's conflict. It is found again
// by the conflict's content: the path and the three sides of its hunks. What
// else changes in the file does not matter.
//
// Where a conflict has no hunks (one side deleted the file, a binary file), or
// where the person changed the file elsewhere too, it is found by the three
// blobs, and has the whole outcome.
type Resolution struct {
	Path  string           `yaml:"path"`
	Patch string           `yaml:"patch"` // the subject, for the reader
	Hunks []ResolvedHunk   `yaml:"hunks,omitempty"`
	Whole *WholeResolution `yaml:"whole,omitempty"`
	// Lost are lines of upstream's that the person let go.
	Lost []string `yaml:"lost,omitempty"`
}

// A ResolvedHunk has the three sides of a conflict and what became of it.
type ResolvedHunk struct {
	Upstream string `yaml:"upstream"`
	Base     string `yaml:"base"`
	Patch    string `yaml:"patch"`
	Resolved string `yaml:"resolved"`
}

// A WholeResolution is a file's whole outcome for three exact sides, each
// "<mode> <blob>", or empty where a side has no such file.
type WholeResolution struct {
	Base     string `yaml:"base"`
	Upstream string `yaml:"upstream"`
	Patch    string `yaml:"patch"`
	Mode     string `yaml:"mode"` // empty: the file is deleted
	Content  string `yaml:"content"`
}

// Key is the name under which a resolution is kept: 32 hex digits.
func (r *Resolution) Key() string {
	if r.Whole != nil {
		return conflictKey(r.Path, "whole", r.Whole.Base, r.Whole.Upstream, r.Whole.Patch)
	}
	parts := []string{r.Path, "hunks"}
	for _, h := range r.Hunks {
		parts = append(parts, h.Upstream, h.Base, h.Patch)
	}
	return conflictKey(parts...)
}

func conflictKey(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d\n%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Resolutions are a stack's, by key.
type Resolutions map[string]*Resolution

// ReadResolutions reads those of the stack in dir; there may be none.
func ReadResolutions(dir string) (Resolutions, error) {
	folder := filepath.Join(dir, ResolutionsFolder)
	files, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return Resolutions{}, nil
	}
	if err != nil {
		return nil, err
	}
	all := Resolutions{}
	var problems Problems
	for _, f := range files {
		shown := shownIn(dir, ResolutionsFolder, show(f.Name()))
		key, ok := strings.CutSuffix(f.Name(), ".yaml")
		if !ok {
			problems = append(problems, Problem{shown, 1, "this does not belong here: this folder has recorded resolutions only"})
			continue
		}
		r := &Resolution{}
		var wrong Problems
		if _, err := readYAML(dir, filepath.Join(ResolutionsFolder, f.Name()), r); errors.As(err, &wrong) {
			problems = append(problems, wrong...)
			continue
		} else if err != nil {
			return nil, err
		}
		if have := r.Key(); have != key {
			problems = append(problems, Problem{shown, 1, "the file was edited: its conflict has the key " + have + ", so it would never be found; delete it and settle the conflict again"})
			continue
		}
		all[key] = r
	}
	if err := problems.err(); err != nil {
		return nil, err
	}
	return all, nil
}

// resolutionHeader begins each file.
const resolutionHeader = "# Copyright 2026 The 1bit engine authors\n# SPDX-License-Identifier: Apache-2.0\n\n"

// format returns the resolution's file.
func (r *Resolution) format() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(resolutionHeader)
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(r); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// conflictOf describes one file's conflict so that it can be looked up: as
// hunks where it has some, and as a whole.
func (e *Engine) conflictOf(m *merged, path string) (segments []segment, whole WholeResolution, err error) {
	for _, s := range m.stages {
		if s.Path != path {
			continue
		}
		text := fmt.Sprintf("%s %s", s.Mode, s.ID)
		switch s.Stage {
		case 1:
			whole.Base = text
		case 2:
			whole.Upstream = text
		case 3:
			whole.Patch = text
		}
	}
	if whole.Upstream == "" || whole.Patch == "" {
		return nil, whole, nil
	}
	marked, err := e.entryAt(m.tree, path)
	if err != nil || marked.Mode == 0 {
		return nil, whole, err
	}
	t, err := e.text(marked)
	if err != nil || t.binary {
		return nil, whole, err
	}
	segments, err = parseConflict(string(t.content))
	if err != nil || !slices.ContainsFunc(segments, func(s segment) bool { return s.conflict }) {
		return nil, whole, nil // no text in conflict, or text that has markers itself
	}
	return segments, whole, nil
}

func hunksKey(path string, segments []segment) string {
	parts := []string{path, "hunks"}
	for _, s := range segments {
		if s.conflict {
			parts = append(parts, s.upstream, s.base, s.patch)
		}
	}
	return conflictKey(parts...)
}

// RecordResolution returns how a person settled the conflicts of one patch:
// patch is its commit, onto the tree that it was merged onto, resolved the tree
// that the person made of it. It is empty when there was no conflict.
func (e *Engine) RecordResolution(ctx context.Context, patch, onto, resolved git.ID) ([]*Resolution, error) {
	c, err := e.commitAt(patch)
	if err != nil {
		return nil, err
	}
	if len(c.Parents) != 1 {
		return nil, fmt.Errorf("%s is not a patch: it has %d parents", patch.Short(), len(c.Parents))
	}
	parent, err := e.commitAt(c.Parents[0])
	if err != nil {
		return nil, err
	}
	m, err := e.merge(ctx, parent.ID, parent.Tree, side{tree: onto}, side{c.Tree, c.ID})
	if err != nil {
		return nil, err
	}
	var out []*Resolution
	for _, path := range m.files() {
		segments, whole, err := e.conflictOf(m, path)
		if err != nil {
			return nil, err
		}
		entry, err := e.entryAt(resolved, path)
		if err != nil {
			return nil, err
		}
		t, err := e.text(entry)
		if err != nil {
			return nil, err
		}
		if unfinished(string(t.content)) {
			return nil, fmt.Errorf("%s still has the markers of a conflict: finish it first", show(path))
		}
		r := &Resolution{Path: path, Patch: c.Subject()}
		if entry.Mode == 0 || segments == nil || !r.byHunks(segments, string(t.content)) {
			whole.Content = string(t.content)
			if entry.Mode != 0 {
				whole.Mode = entry.Mode.String()
			}
			if entry.Mode == git.ModeSymlink || entry.Mode == git.ModeSubmodule {
				return nil, fmt.Errorf("the outcome of %s is a link: only files can be recorded", show(path))
			}
			r.Whole = &whole
		}
		lost, err := e.lostLines(m, path, entry)
		if err != nil {
			return nil, err
		}
		for _, l := range lost {
			r.Lost = append(r.Lost, l.Text)
		}
		out = append(out, r)
	}
	return out, nil
}

// byHunks finds what became of each conflict, by the agreed text around it. It
// fails where that text was changed too, or is not the only one of its kind.
func (r *Resolution) byHunks(segments []segment, resolved string) bool {
	rest := resolved
	if len(segments) > 0 && !segments[0].conflict {
		var ok bool
		if rest, ok = strings.CutPrefix(rest, segments[0].agreed); !ok {
			return false
		}
		segments = segments[1:]
	}
	var hunks []ResolvedHunk
	for i := 0; i < len(segments); i += 2 {
		s := segments[i]
		if !s.conflict || i+1 < len(segments) && segments[i+1].conflict {
			return false
		}
		end := len(rest)
		switch {
		case i+2 == len(segments): // agreed text to the end
			if !strings.HasSuffix(rest, segments[i+1].agreed) {
				return false
			}
			end = len(rest) - len(segments[i+1].agreed)
		case i+1 < len(segments):
			agreed := segments[i+1].agreed
			end = strings.Index(rest, agreed)
			if end < 0 || strings.Contains(rest[end+1:], agreed) {
				return false
			}
		}
		hunks = append(hunks, ResolvedHunk{s.upstream, s.base, s.patch, rest[:end]})
		if i+1 < len(segments) {
			rest = rest[end+len(segments[i+1].agreed):]
		}
	}
	r.Hunks = hunks
	return true
}

// unfinished tells whether a text has the markers that git puts into a work
// tree, or ours.
func unfinished(s string) bool {
	open := strings.HasPrefix(s, "<<<<<<< ") || strings.Contains(s, "\n<<<<<<< ")
	return open && strings.Contains(s, "\n>>>>>>> ") || strings.Contains(s, markUpstream)
}
