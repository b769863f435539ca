// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package rehearse

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/patches"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/check"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
)

// A World is everything that a night meets, in one folder:
//
//	upstreams/NAME.git  what Host + NAME.git is read from
//	main.git            where the distribution's main, its state and proposals are
//	archive.git         what keeps each commit that was ever locked
//	mirrors.yaml        says so to dist
//	cache/              the cache of the machine that runs the nights
//
// It can be moved and copied: its repositories name no folder.
type World struct {
	Dir     string
	Main    *Repository
	Archive *Repository
	Now     time.Time // what the clock shows
	Cache   string    // the folder of the machine's cache

	upstreams map[string]*Repository
}

// ArchiveURL is what ci/archive.yaml of a world's distribution names.
const ArchiveURL = "https://archive.invalid/archive.git"

// A Distribution is how a world begins.
type Distribution struct {
	Files     Files                // of our repository: pins without locks, groups, policy
	Stacks    map[string]Ours      // by name
	Upstreams func(w *World) error // makes the upstreams as they are then
}

// Ours are our commits on an upstream: each a message and the files it changes.
type Ours []struct {
	Message string
	Files   Files
}

// NewWorld makes a world in a folder that is empty or not there: upstreams, and
// a main on which all pins are locked at what these have.
func NewWorld(ctx context.Context, dir string, d Distribution) (*World, error) {
	return newWorld(ctx, dir, filepath.Join(dir, "cache"), d)
}

// newWorld is NewWorld with the machine's cache in a folder of its own.
func newWorld(ctx context.Context, dir, cache string, d Distribution) (*World, error) {
	w := &World{Dir: dir, Cache: cache, Now: begin.AddDate(0, 0, 30)}
	if err := w.make(ctx, d); err != nil {
		return nil, fmt.Errorf("make the world of %s: %w", dir, err)
	}
	return w, nil
}

// OpenWorld opens a world that is there, at the time now.
func OpenWorld(ctx context.Context, dir string, now time.Time) (w *World, err error) {
	w = &World{Dir: dir, Cache: filepath.Join(dir, "cache"), Now: now}
	if w.Main, err = openRepository(ctx, w.path("main.git")); err != nil {
		return nil, err
	}
	w.Archive, err = openRepository(ctx, w.path("archive.git"))
	return w, err
}

func (w *World) path(elem ...string) string {
	return filepath.Join(append([]string{w.Dir}, elem...)...)
}

func (w *World) make(ctx context.Context, d Distribution) (err error) {
	if err := os.MkdirAll(w.path("upstreams"), 0o777); err != nil {
		return err
	}
	if w.Main, err = newRepository(ctx, w.path("main.git")); err != nil {
		return err
	}
	if w.Archive, err = newRepository(ctx, w.path("archive.git")); err != nil {
		return err
	}
	mirrors := fmt.Sprintf("urls:\n  %s: upstreams/\n  %s: archive.git\n", Host, ArchiveURL)
	if err := os.WriteFile(w.path("mirrors.yaml"), []byte(mirrors), 0o666); err != nil {
		return err
	}
	if d.Upstreams != nil {
		if err := d.Upstreams(w); err != nil {
			return err
		}
	}
	tree := w.path("first")
	defer os.RemoveAll(tree)
	for name, text := range d.Files {
		if err := writeFile(filepath.Join(tree, name), text); err != nil {
			return err
		}
	}
	if err := w.lock(ctx, tree, d.Stacks); err != nil {
		return err
	}
	return w.commitAll(ctx, tree)
}

func writeFile(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o666)
}

// lock locks all pins of a work tree that have no lock yet, puts our commits on
// them and writes NOTICE.
func (w *World) lock(ctx context.Context, tree string, stacks map[string]Ours) error {
	e, err := w.Engine()
	if err != nil {
		return err
	}
	dir := filepath.Join(tree, "pins")
	if e.Set, err = pins.Load(dir); err != nil {
		return err
	}
	var list []*pins.Pin
	for _, p := range e.Set.Pins {
		if p.Lock == nil {
			list = append(list, p)
		}
	}
	rows, err := e.Update(ctx, list, fetch.UpdateOptions{PinsDir: dir})
	if err != nil {
		return err
	}
	for _, r := range rows {
		if r.Verdict != verdict.Pass {
			return fmt.Errorf("lock %s: %s: %s", r.Name, r.Verdict, r.Why)
		}
	}
	for name, ours := range stacks {
		if err := w.stack(ctx, tree, name, ours); err != nil {
			return fmt.Errorf("stack %s: %w", name, err)
		}
	}
	if err := os.RemoveAll(filepath.Join(tree, patches.Folder, ".lock")); err != nil {
		return err
	}
	if e.Set, err = pins.Load(dir); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(tree, "NOTICE"), check.Notice(check.Pinned(e.Set)), 0o666)
}

// stack imports our commits on a pin, as a person would who has them in a clone
// of the upstream.
func (w *World) stack(ctx context.Context, tree, name string, ours Ours) error {
	repo, err := patches.OpenToWrite(ctx, tree)
	if err != nil {
		return err
	}
	defer repo.Close()
	pin := repo.PinOf(name)
	if pin == nil {
		return errors.New("no pin names it")
	}
	dir := w.path("clone-" + name + ".git")
	defer os.RemoveAll(dir)
	clone, err := newRepository(ctx, dir)
	if err != nil {
		return err
	}
	upstream, err := w.Upstream(ctx, pin.Name)
	if err != nil {
		return err
	}
	base := git.ID(pin.Lock.Commit)
	if err := clone.Fetch(ctx, folder(upstream.Dir()), git.FetchSpec{Commits: []git.ID{base}}); err != nil {
		return err
	}
	clone.commits = 24 // a day after the first
	if err := clone.SetRef(ctx, "refs/heads/ours", base); err != nil {
		return err
	}
	for _, c := range ours {
		if _, err := clone.Commit(ctx, "ours", c.Message, c.Files); err != nil {
			return err
		}
	}
	_, err = repo.Import(ctx, name, patches.From{Where: dir, Branch: "ours", Base: string(base)})
	return err
}

// folder is a repository of this machine as a remote.
func folder(dir string) git.Remote { return git.Remote{URL: dir, Allow: []string{"file"}} }

// commitAll makes all files of a folder the first commit of main.
func (w *World) commitAll(ctx context.Context, tree string) error {
	index := "GIT_INDEX_FILE=" + w.path("first.index")
	defer os.Remove(w.path("first.index"))
	add := w.Main.Command("--work-tree="+tree, "add", "--all")
	add.Dir, add.Env = tree, append(add.Env, index)
	if _, err := add.Run(ctx); err != nil {
		return err
	}
	write := w.Main.Command("write-tree")
	write.Env = append(write.Env, index)
	out, err := write.Run(ctx)
	if err != nil {
		return err
	}
	id, err := git.ParseID(strings.TrimSpace(string(out.Stdout)))
	if err != nil {
		return err
	}
	return w.commitTree(ctx, "Begin", id)
}

// commitTree puts a commit of a tree on main.
func (w *World) commitTree(ctx context.Context, message string, tree git.ID, others ...git.ID) error {
	var parents []git.ID
	if tip, err := w.Main.RevParse(ctx, "refs/heads/main"); err == nil {
		parents = append(parents, tip)
	}
	who := git.Signature{Name: "Maintainer", Email: "maintainer@main.invalid", When: w.Now}
	id, err := w.Main.CommitTree(ctx, git.Commit{
		Tree: tree, Parents: append(parents, others...), Author: who, Committer: who, Message: message + "\n",
	})
	if err != nil {
		return err
	}
	return w.Main.SetRef(ctx, "refs/heads/main", id)
}

// Upstream returns an upstream's repository, making it where there is none.
func (w *World) Upstream(ctx context.Context, name string) (*Repository, error) {
	if r := w.upstreams[name]; r != nil {
		return r, nil
	}
	dir := w.path("upstreams", name+".git")
	r, err := openRepository(ctx, dir)
	if _, there := os.Lstat(dir); errors.Is(there, fs.ErrNotExist) {
		r, err = newRepository(ctx, dir)
	}
	if err != nil {
		return nil, fmt.Errorf("upstream %s: %w", name, err)
	}
	if w.upstreams == nil {
		w.upstreams = map[string]*Repository{}
	}
	w.upstreams[name] = r
	return r, nil
}

// Engine returns a fetch engine that reads the world's upstreams and archive and
// nothing else, without pins.
func (w *World) Engine() (*fetch.Engine, error) {
	m, err := fetch.LoadMirrors(w.path("mirrors.yaml"))
	if err != nil {
		return nil, err
	}
	s, err := store.Open(filepath.Join(w.Cache, "store"))
	if err != nil {
		return nil, err
	}
	return &fetch.Engine{Mirrors: m, Store: s, CacheDir: w.Cache, Clock: func() time.Time { return w.Now }, Jobs: 4}, nil
}
