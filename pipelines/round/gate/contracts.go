// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package gate

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/patches"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/build"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
)

// Bounds of what contracts look at.
const (
	maxSource     = 16 << 20 // bytes of one file
	mostPlaces    = 3        // of a missing identifier that are named
	mostForgotten = 5        // missing identifiers that the sentence names
)

// contracted looks whether what one member of a group uses of another is still
// declared there. It reads code only: comments, strings, directives that ask
// whether a name exists, and '#if 0' are none. A name counts as declared where
// it occurs as a whole identifier in the provider's code.
func contracted() Gate {
	return Gate{
		Name:    "contracts",
		What:    "identifiers that one member of the group uses and another one must declare",
		patched: true,
		Run: func(ctx context.Context, s *Subject) Result {
			f := &findings{}
			if g := s.group(); g != nil {
				for i, c := range g.Contracts {
					f.fault(contract(ctx, f, s, c, i))
				}
			}
			return f.result()
		},
	}
}

func contract(ctx context.Context, f *findings, s *Subject, c pins.Contract, i int) error {
	missing, err := broken(ctx, s, s.Engine, s.NextDir, c)
	if err != nil {
		return fmt.Errorf("contract %d of group %s: %w", i+1, s.Round.Group, err)
	}
	if len(missing) == 0 {
		return nil
	}
	old := map[string]bool{}
	was, err := broken(ctx, s, s.onMain(), s.BaseDir, c)
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		s.logf("what main lacks is not known: %v", err)
		f.detail("whether main lacks some of these too is not known here")
	}
	for _, m := range was {
		old[m.name] = true
	}
	var names []string
	for _, m := range missing {
		note := ""
		if old[m.name] {
			note = " (missing on main already)"
		}
		names = append(names, m.name)
		f.detail("%s of %s, used by %s at %s%s", m.name, c.Provider.Pin, c.User.Pin, m.where(), note)
	}
	more := ""
	if n := len(names) - mostForgotten; n > 0 {
		names, more = names[:mostForgotten], fmt.Sprintf(" and %d more", n)
	}
	f.say(verdict.Fail, "%s uses what %s does not declare: %s%s", c.User.Pin, c.Provider.Pin, strings.Join(names, ", "), more)
	return nil
}

// A missing identifier is used and not declared.
type missing struct {
	name   string
	places []string // file:line
	count  int
}

func (m *missing) where() string {
	text := strings.Join(m.places, ", ")
	if n := m.count - len(m.places); n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// broken returns what a contract lacks, by name.
func broken(ctx context.Context, s *Subject, e *fetch.Engine, dir string, c pins.Contract) ([]missing, error) {
	pattern, err := regexp.Compile(`^(?:` + c.User.Pattern + `)$`)
	if err != nil {
		return nil, err
	}
	declared := map[string]bool{}
	err = eachWord(ctx, s, e, dir, c.Provider.Pin, c.Provider.Files, func(_ string, w word) {
		if !w.quoted {
			declared[w.name] = true
		}
	})
	if err != nil {
		return nil, err
	}
	lacking := map[string]*missing{}
	used := 0
	err = eachWord(ctx, s, e, dir, c.User.Pin, c.User.Files, func(file string, w word) {
		if !pattern.MatchString(w.name) {
			return
		}
		used++
		if declared[w.name] {
			return
		}
		m := lacking[w.name]
		if m == nil {
			m = &missing{name: w.name}
			lacking[w.name] = m
		}
		if m.count++; len(m.places) < mostPlaces {
			m.places = append(m.places, fmt.Sprintf("%s:%d", shown(file), w.line))
		}
	})
	if err != nil {
		return nil, err
	}
	if used == 0 {
		return nil, verdict.Failf("nothing in the files of %s matches %q, so the contract holds nothing: change it in pins/%s", c.User.Pin, c.User.Pattern, pins.GroupsFile)
	}
	var out []missing
	for _, m := range lacking {
		out = append(out, *m)
	}
	slices.SortFunc(out, func(a, b missing) int { return strings.Compare(a.name, b.name) })
	return out, nil
}

// eachWord reads the identifiers of the files of a pin that the globs name, in
// the order of their paths, with our patches.
func eachWord(ctx context.Context, s *Subject, e *fetch.Engine, dir, pin string, globs []string, each func(file string, w word)) error {
	folder, err := tree(ctx, e, dir, pin)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	read, prose := 0, 0
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		rel, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		if !slices.ContainsFunc(globs, func(g string) bool { return pins.MatchGlob(g, name) }) {
			return nil
		}
		scan := scannerOf(name)
		if scan == nil {
			prose++
			return nil
		}
		data, err := readFile(root, name, maxSource)
		if err != nil {
			return err
		}
		read++
		for _, w := range scan(string(data)) {
			each(name, w)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("pin %s: %w", pin, err)
	}
	s.logf("%s: %s read, %d with other endings than code", pin, count(read, "file"), prose)
	if read == 0 {
		return verdict.Failf("no code of %s matches %s, so the contract holds nothing: look where it is now and change pins/%s", pin, strings.Join(globs, " "), pins.GroupsFile)
	}
	return nil
}

// tree returns the folder of a pin's sources with our patches.
func tree(ctx context.Context, e *fetch.Engine, dir, pin string) (string, error) {
	l := &build.Locked{Engine: e, Progress: e.Progress}
	if p := e.Set.Pin(pin); p != nil && p.Stack != "" {
		stacks, err := patches.Open(ctx, dir)
		if err != nil {
			return "", err
		}
		l.Stacks = stacks
	}
	return l.Tree(ctx, pin)
}
