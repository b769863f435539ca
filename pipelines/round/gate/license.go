// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package gate

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
)

// maxLicenseText bounds a licence text that is compared, in bytes: as for what
// counts as one.
const maxLicenseText = 1 << 20

// licensed shows how licence texts change. No change is refused: what it means
// is for a person.
func licensed() Gate {
	return Gate{
		Name: "license",
		What: "licence texts that changed, came or went, and what the pin says of its licence",
		Run: func(ctx context.Context, s *Subject) Result {
			f := &findings{}
			for _, m := range s.moves() {
				if m.base == nil {
					f.look("pin %s is new, under %s", m.Pin, shown(m.next.License))
					continue
				}
				if m.base.License != m.next.License {
					f.look("pin %s was under %s and is under %s now", m.Pin, shown(m.base.License), shown(m.next.License))
				}
				if m.base.Lock != nil {
					f.fault(licenses(ctx, f, s, m))
				}
			}
			return f.result()
		},
	}
}

func licenses(ctx context.Context, f *findings, s *Subject, m moved) error {
	was := sums(m.base.Lock)
	is := sums(m.next.Lock)
	var paths []string
	for path := range was {
		paths = append(paths, path)
	}
	for path := range is {
		if _, both := was[path]; !both {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	for _, path := range paths {
		before, had := was[path]
		after, has := is[path]
		what := "changed"
		switch {
		case had && has && before == after:
			continue
		case !had:
			what = "is new"
		case !has:
			what = "is gone"
		}
		f.look("pin %s: the licence file %s %s", m.Pin, shown(path), what)
		old, errOld := text(ctx, s.onMain(), m.base, path, had)
		fresh, err := text(ctx, s.Engine, m.next, path, has)
		if err != nil {
			return err // the new one must be here
		}
		if errOld != nil {
			s.logf("%s: %s on main: %v", m.Pin, path, errOld)
			f.detail("%s: the text of %s on main is not here (sha256 %s); the new one:", m.Pin, shown(path), before)
			old = nil
		}
		if !utf8.Valid(old) || !utf8.Valid(fresh) {
			f.detail("%s: %s is no text: sha256 %s -> %s", m.Pin, shown(path), orNothing(before), orNothing(after))
			continue
		}
		text := diff.Diff(m.Pin+" "+shown(path)+" on main", old, m.Pin+" "+shown(path), fresh)
		_, text, _ = bytes.Cut(text, []byte("\n")) // a line for patch(1)
		f.details.Write(text)
	}
	return nil
}

func sums(l *pins.Lock) map[string]string {
	m := map[string]string{}
	for _, x := range l.Licenses {
		m[x.Path] = x.SHA256
	}
	return m
}

// text returns a file of a pin's content; nothing where there is none.
func text(ctx context.Context, e *fetch.Engine, p *pins.Pin, path string, has bool) ([]byte, error) {
	if !has {
		return nil, nil
	}
	entries, err := e.Content(ctx, p)
	if err != nil {
		return nil, err
	}
	if len(entries) != 1 {
		return nil, verdict.Failf("pin %s: it has no tree that %s could be in", p.Name, shown(path))
	}
	root, err := os.OpenRoot(entries[0].Path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return readFile(root, path, maxLicenseText)
}

// readFile reads a file of upstream's, a regular one, of a bounded size.
func readFile(root *os.Root, path string, most int64) ([]byte, error) {
	name := filepath.FromSlash(path)
	st, err := root.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case !st.Mode().IsRegular():
		return nil, errors.New(shown(path) + " is no regular file")
	case st.Size() > most:
		return nil, verdict.Failf("%s has %d bytes, too many to be looked at", shown(path), st.Size())
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var b bytes.Buffer
	_, err = io.Copy(&b, io.LimitReader(file, most))
	return b.Bytes(), err
}
