// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package toolchain

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/progress"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// Contents brings what a pin's lock describes into the store, verified against
// it, in the order of the lock; fetch.Engine does.
type Contents interface {
	Content(ctx context.Context, p *pins.Pin) ([]*store.Entry, error)
}

// Is reports whether a pin is a toolchain: something to build with, of which
// the lock has more than sources.
func Is(p *pins.Pin) bool {
	_, err := formOf(p)
	return p.Use == pins.BuildTool && err == nil
}

// A form is what a toolchain's content is made of.
type form string

const (
	goForm      form = "Go toolchain"
	debianForm  form = "Debian packages"
	archiveForm form = "archives"
	imageForm   form = "OCI image"
)

// formOf returns the form of a pin's content, or says what it lacks to be a
// toolchain.
func formOf(p *pins.Pin) (form, error) {
	switch p.Track.Kind {
	case pins.GoModule:
		if p.Track.Module == GoModule {
			return goForm, nil
		}
		return "", verdict.Failf("pin %s is the Go module %s, which is no toolchain", p.Name, p.Track.Module)
	case pins.Deb:
		return debianForm, nil
	case pins.OCI:
		return imageForm, nil
	case pins.Field, pins.Index:
		if p.Track.Index() == nil {
			return "", verdict.Failf("pin %s names a version but no files: its track needs files:, an index that lists them with their sums", p.Name)
		}
		return archiveForm, nil
	case pins.GithubRelease:
		if len(p.Track.Assets) == 0 {
			return "", verdict.Failf("pin %s is the source of a release: its track needs assets:, the archives of the built toolchain", p.Name)
		}
		return archiveForm, nil
	}
	return "", verdict.Failf("pin %s is followed as a source (%s): a toolchain needs files that are built, such as an index of archives or an image", p.Name, p.Track.Kind)
}

// Sum returns what a toolchain's folder follows from, as "in:" and hex digits,
// or for Go its h1: the content by the lock, and how this program unpacks it.
// It goes into the keys of what is built with the toolchain.
func Sum(p *pins.Pin) (string, error) {
	f, err := formOf(p)
	if err != nil {
		return "", err
	}
	if s := p.State(); s != pins.Verified {
		return "", verdict.Failf("pin %s is %s: run 'dist toolchain lock %s' first", p.Name, s, p.Name)
	}
	l := p.Lock
	if f == goForm {
		return l.Sum, nil
	}
	lines := []string{l.Digest}
	for _, file := range l.Files {
		lines = append(lines, file.SHA256+"  "+file.Name)
	}
	slices.Sort(lines) // packages have no order
	rules := unpackRules
	if f == debianForm {
		rules += debianRules()
	}
	if f == imageForm {
		rules += p.Track.Platform
	}
	text := fmt.Sprintf("%s\n%s\n%s\n%s\n", f, rules, timeOfAll(l).Format(time.RFC3339), strings.Join(lines, "\n"))
	return fmt.Sprintf("in:%x", sha256.Sum256([]byte(text))), nil
}

// unpackRules changes when the same content is unpacked into other folders
// than before.
const unpackRules = "1"

// timeOfAll is the modification time of everything in a toolchain.
func timeOfAll(l *pins.Lock) time.Time {
	if l.Date.IsZero() {
		return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) // any, so long as it stays
	}
	return l.Date.UTC()
}

// Cached returns a toolchain if the store has it; else the error is a
// *store.Absent.
func Cached(st *store.Store, p *pins.Pin) (*store.Entry, error) {
	sum, err := Sum(p)
	if err != nil {
		return nil, err
	}
	key, err := store.KeyOf(sum)
	if err != nil {
		return nil, err
	}
	return st.Get(key)
}

// Fetch returns the folder of a toolchain: a root file system, a Go toolchain's
// GOROOT, or what the archives hold. It is unpacked once, read-only, with one
// time for all files and no owners; programs of it are never run for that. What
// is in the store touches no network. p may be nil.
func Fetch(ctx context.Context, st *store.Store, contents Contents, pin *pins.Pin, p *progress.Reporter) (string, error) {
	f, err := formOf(pin)
	if err != nil {
		return "", err
	}
	sum, err := Sum(pin)
	if err != nil {
		return "", err
	}
	if f == goForm {
		g, err := FetchGo(ctx, st, pin.Lock.Version, pin.Lock.Sum, p)
		if err != nil {
			return "", err
		}
		return g.Dir, nil
	}
	key, err := store.KeyOf(sum)
	if err != nil {
		return "", err
	}
	e, err := st.Put(ctx, key, store.Maker{
		Kind: "toolchain",
		Name: pin.Name + " " + pin.Lock.Version,
		Fill: func(ctx context.Context, dir string) error {
			entries, err := contents.Content(ctx, pin)
			if err != nil {
				return err
			}
			p.Step("unpacking %s", pin.Name)
			switch f {
			case debianForm:
				err = unpackDebian(ctx, pin, entries, dir)
			case imageForm:
				err = unpackImage(ctx, pin, entries, dir)
			default:
				err = unpackArchives(ctx, pin, entries, dir)
			}
			if err != nil {
				return fmt.Errorf("toolchain %s: %w", pin.Name, err)
			}
			return nil
		},
		Check: func(string, string) error { return nil }, // the key is what went in
	})
	if err != nil {
		return "", err
	}
	return e.Path, nil
}

// Lockable says why a toolchain's lock may not be written to its file, which is
// committed: the files that it names must stay where they are.
func Lockable(p *pins.Pin) error {
	if _, err := formOf(p); err != nil {
		return err
	}
	if t := p.Track; t.Kind == pins.Deb && t.Pocket != "" && t.Pocket != pins.PocketRelease {
		return verdict.Usagef("pin %s follows %s of %s, whose files are soon gone: it is resolved in the run that uses it; a lock that is committed needs pocket: release of a stable suite", p.Name, t.Pocket, t.Suite)
	}
	if moving := []string{"sid", "unstable", "testing", "experimental", "stable", "oldstable"}; p.Track.Kind == pins.Deb && slices.Contains(moving, p.Track.Suite) {
		return verdict.Usagef("pin %s follows %s, which moves: a lock that is committed needs a stable suite by its code name", p.Name, p.Track.Suite)
	}
	return nil
}
