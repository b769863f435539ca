// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/treesum"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// A source is everything that belongs to one commit: its tree and those of its
// submodules, checked, complete and summed.
type source struct {
	info     *git.Commit
	sum      string
	parts    []part // the top first
	modules  []pins.Submodule
	excluded []pins.Excluded
	licenses []pins.LicenseFile
	standIns []string // repositories that mirrors read instead of upstreams
}

// A part is one repository's tree at its place in the source.
type part struct {
	repo    *git.Repo
	path    string // "" for the top
	address string
	commit  git.ID
	entries []git.Entry // without what is excluded
}

// Problems is everything that keeps a source from being complete, so that a
// person mends it in one go.
type Problems []error

func (p Problems) Error() string {
	var all []string
	mend := false
	for _, err := range p {
		text := err.Error()
		if short, ok := err.(interface{ short() string }); ok {
			text, mend = short.short(), true
		}
		all = append(all, text)
	}
	text := strings.Join(all, "; ")
	if mend {
		text += ": fetch from mirrors that have all of it, or exclude these paths in the pin and say why"
	}
	return text
}

// Unwrap returns all of them.
func (p Problems) Unwrap() []error { return p }

// Verdict is the worst of all.
func (p Problems) Verdict() verdict.Verdict {
	var all []verdict.Verdict
	for _, err := range p {
		all = append(all, verdict.Of(err))
	}
	return verdict.Worst(all...)
}

// walk collects a source.
type walk struct {
	e        *Engine
	pin      *pins.Pin
	where    []string // see wish
	exclude  []string
	used     map[string]bool // exclusions that were met
	source   *source
	problems Problems
	count    int
}

// source brings a commit of a pin's upstream here, its submodules too, checks
// and sums them.
func (e *Engine) source(ctx context.Context, p *pins.Pin, commit git.ID, where []string) (*source, error) {
	w := &walk{e: e, pin: p, where: where, exclude: excluded(p), used: map[string]bool{}, source: &source{}}
	sum, err := w.module(ctx, "", p.Upstream, commit, nil)
	if err != nil {
		return nil, err
	}
	for _, x := range w.exclude {
		if !w.used[x] {
			w.problems = append(w.problems, &treesum.Unused{Paths: []string{x}})
		}
	}
	if len(w.problems) == 1 {
		return nil, w.problems[0]
	}
	if len(w.problems) > 0 {
		return nil, w.problems
	}
	s := w.source
	s.sum = sum
	slices.SortFunc(s.modules, func(a, b pins.Submodule) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(s.excluded, func(a, b pins.Excluded) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(s.licenses, func(a, b pins.LicenseFile) int { return strings.Compare(a.Path, b.Path) })
	return s, nil
}

// module does one repository and what is inside of it. chain is its ancestors'
// addresses and commits. Problems that a person can mend by an exclusion are
// collected; its sum is empty then.
func (w *walk) module(ctx context.Context, path, address string, commit git.ID, chain []string) (string, error) {
	here := address + " " + string(commit)
	switch {
	case slices.Contains(chain, here):
		return "", errors.New("it contains itself")
	case len(chain) > maxSubmoduleDepth:
		return "", fmt.Errorf("more than %d submodules are inside each other", maxSubmoduleDepth)
	case w.count > maxSubmodules:
		return "", fmt.Errorf("there are more than %d submodules", maxSubmodules)
	}
	w.count++
	r, t, err := w.content(ctx, path, address, commit)
	if err != nil {
		return "", err
	}
	inside := w.inside(path)
	urls, err := submoduleURLs(ctx, r.Repo, t.entries)
	if err != nil {
		return "", err
	}
	problems := len(w.problems)
	sums := map[string]string{}
	var files []git.Entry
	var exclude []string
	for _, x := range t.entries {
		full := joinPath(path, x.Path)
		switch {
		case slices.Contains(inside, x.Path):
			w.used[full] = true
			exclude = append(exclude, x.Path)
		case x.Mode == git.ModeSubmodule:
			sum, err := w.submodule(ctx, full, address, urls[x.Path], x.ID, append(chain, here))
			if ctx.Err() != nil {
				return "", ctx.Err()
			}
			if err != nil {
				w.problems = append(w.problems, &BadSubmodule{full, err})
			}
			sums[x.Path] = sum
		default:
			files = append(files, x)
		}
	}
	if len(w.problems) > problems || w.lacks(path) {
		return "", nil
	}
	res, err := treesum.FromGit(ctx, r.Repo, t.info.Tree, treesum.Options{Submodules: sums, Exclude: exclude})
	if err != nil {
		return "", err
	}
	for _, x := range res.Excluded {
		w.source.excluded = append(w.source.excluded, pins.Excluded{Path: joinPath(path, x.Path), Mode: x.Mode.String(), ID: string(x.ID), Size: x.Size})
	}
	texts, err := licenses(ctx, r.Repo, path, files)
	if err != nil {
		return "", err
	}
	s := w.source
	s.licenses = append(s.licenses, texts...)
	one := part{repo: r.Repo, path: path, address: address, commit: commit, entries: files}
	if path == "" {
		s.info = t.info
		s.parts = append([]part{one}, s.parts...)
	} else {
		s.parts = append(s.parts, one)
	}
	return res.Sum, nil
}

// content brings one repository's commit here. Its lock is held only for that:
// what it has is never taken away, so reading needs none.
func (w *walk) content(ctx context.Context, path, address string, commit git.ID) (*mirrorRepo, *tree, error) {
	wish := wish{name: w.pin.Name, commit: commit, exclude: w.inside(path)}
	open := w.e.repoOf
	if path == "" {
		wish.history, wish.where = w.pin.Stack != "", w.where
		open = func(ctx context.Context, _ string) (*mirrorRepo, error) { return w.e.pinRepo(ctx, w.pin) }
	} else {
		wish.name += " " + shown(path)
	}
	r, err := open(ctx, address)
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	if r.place.Mapped && !slices.Contains(w.source.standIns, r.place.StandsIn) {
		w.source.standIns = append(w.source.standIns, r.place.StandsIn)
	}
	t, err := w.e.content(ctx, r, wish)
	var lack *Lacking
	if errors.As(err, &lack) {
		for i := range lack.Blobs {
			lack.Blobs[i].Path = joinPath(path, lack.Blobs[i].Path)
		}
		w.problems = append(w.problems, lack)
		err = nil
	}
	if err != nil {
		return nil, nil, err
	}
	return r, t, nil
}

func (w *walk) submodule(ctx context.Context, path, parent, written string, commit git.ID, chain []string) (string, error) {
	if written == "" {
		return "", errors.New("no .gitmodules says where it is")
	}
	address, err := resolveURL(parent, written)
	if err != nil {
		return "", err
	}
	sum, err := w.module(ctx, path, address, commit, chain)
	if err == nil {
		w.source.modules = append(w.source.modules, pins.Submodule{Path: path, URL: address, Commit: string(commit), Sum: sum})
	}
	return sum, err
}

// inside returns the exclusions below a submodule, relative to it.
func (w *walk) inside(path string) []string {
	var out []string
	for _, x := range w.exclude {
		if path == "" {
			out = append(out, x)
		} else if rest, ok := strings.CutPrefix(x, path+"/"); ok {
			out = append(out, rest)
		}
	}
	return out
}

// lacks reports whether files of that very repository are missing.
func (w *walk) lacks(path string) bool {
	for _, err := range w.problems {
		var lack *Lacking
		if errors.As(err, &lack) && (path == "" || strings.HasPrefix(lack.Blobs[0].Path, path+"/")) {
			return true
		}
	}
	return false
}

func joinPath(folder, name string) string {
	if folder == "" {
		return name
	}
	return folder + "/" + name
}

// put brings a source into the store, under its sum.
func (e *Engine) put(ctx context.Context, name string, s *source) (*store.Entry, error) {
	key, err := store.KeyOf(s.sum)
	if err != nil {
		return nil, err
	}
	m := store.Maker{
		Kind: "source", Name: name,
		Meta: map[string]string{"commit": string(s.info.ID)},
		Fill: func(ctx context.Context, path string) error { return materialise(ctx, path, s.parts) },
	}
	if len(s.modules) > 0 || len(s.excluded) > 0 {
		// The store sums plain files; the lock's sum knows more.
		m.Check = func(path, _ string) error { return CheckFolder(path, s.sum, s.modules, s.excluded) }
	}
	return e.Store.Put(ctx, key, m)
}

// CheckFolder sums a folder as a lock does, submodules and exclusions included,
// and returns *Differs when it is not sum.
func CheckFolder(path, sum string, modules []pins.Submodule, excluded []pins.Excluded) error {
	o := treesum.FolderOptions{}
	for _, m := range modules {
		o.Submodules = append(o.Submodules, m.Path)
	}
	for _, x := range excluded {
		mode, err := git.ParseMode(x.Mode)
		if err != nil {
			return err
		}
		o.Excluded = append(o.Excluded, treesum.Excluded{Path: x.Path, Mode: mode, ID: git.ID(x.ID)})
	}
	res, err := treesum.FromFolder(path, o)
	if err != nil {
		return err
	}
	if res.Sum != sum {
		return &Differs{"sum of the files", sum, res.Sum}
	}
	return nil
}
