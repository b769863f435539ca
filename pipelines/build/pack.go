// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/1bit-MONSTER/engine/internal/archive"
	"github.com/1bit-MONSTER/engine/internal/atomicfile"
	"github.com/1bit-MONSTER/engine/internal/filelock"
	"github.com/1bit-MONSTER/engine/internal/progress"
	"github.com/1bit-MONSTER/engine/internal/sandbox"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// platform is how archives name what they are for.
const platform = "linux-x86_64"

// documents are the files of the repository that every archive carries, at its
// top or, those for systemd, in unitDir. They are not part of the component: a
// better README is no other program. (The manual page is printed by the program
// itself: 1bit man.)
var documents = []string{"LICENSE", "NOTICE", "README.md", "engine/serve/unit/1bit.service", "engine/serve/unit/1bit.socket"}

// unitDir is where the archive has the files for systemd.
const unitDir = "systemd"

// inArchive returns the name in the archive of a document.
func inArchive(document string) string {
	if dir, name := path.Split(document); dir != "" {
		return path.Join(unitDir, name)
	}
	return document
}

// Options say what to build from where to where.
type Options struct {
	Repo  string // the work tree
	Out   string // the folder of archives
	Cache Cache
	Go    GoPin

	Offline   bool // ask nobody for the toolchain and for Go modules
	NoSandbox bool // build in plain sight of the machine; marked, never released
	// Runner makes the runner of a key space that executes the steps; nil: this
	// machine does. What it makes may have another space.
	Runner   func(context.Context, Space) (Runner, error) `json:"-"`
	Paranoid bool                                         // read again what is taken from the store
	Remote   Remote                                       // is asked for what the store lacks; nil: nobody is
	Progress *progress.Reporter
}

// A Result is what a build left.
type Result struct {
	Archive   string    `json:"archive"` // its path
	SHA256    string    `json:"sha256"`
	Size      int64     `json:"size"`
	UpToDate  bool      `json:"up-to-date"`     // nothing was to do
	Hit       bool      `json:"hit"`            // the component was in the store
	From      string    `json:"from,omitempty"` // the remote cache that the component was pulled from just now
	Version   string    `json:"version"`
	Component string    `json:"component"` // t1: of its files
	Key       store.Key `json:"key"`       // the component's in the store
	Source    string    `json:"source"`
	Commit
}

// A manifest is the archive's manifest.json.
type manifest struct {
	Schema    int    `json:"schema"`
	Name      string `json:"name"`
	Version   string `json:"version"`
	Platform  string `json:"platform"`
	Component struct {
		Name   string `json:"name"`
		Digest string `json:"digest"`
	} `json:"component"`
	Source string `json:"source"`
	Commit
	Toolchain struct {
		Module  string `json:"module"`
		Version string `json:"version"`
		Sum     string `json:"sum"`
	} `json:"toolchain"`
	Modules []Module       `json:"modules"`
	Files   []manifestFile `json:"files"`
}

type manifestFile struct {
	Path   string `json:"path"`
	Mode   string `json:"mode"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Serve builds the program 1bit and packs it as
// <Out>/1bit-<version>-linux-x86_64.tar.zst. When nothing changed since the
// last call it does nothing.
func Serve(ctx context.Context, o Options) (*Result, error) {
	var err error
	if o.Repo, err = filepath.Abs(o.Repo); err != nil {
		return nil, err
	}
	if o.Repo, err = filepath.EvalSymlinks(o.Repo); err != nil {
		return nil, err
	}
	if o.Out, err = filepath.Abs(o.Out); err != nil {
		return nil, err
	}
	if st, err := os.Stat(o.Out); err == nil && !st.IsDir() {
		return nil, verdict.Usagef("%s is a file: name a folder with --out", o.Out)
	}
	if r := upToDate(ctx, o); r != nil && !o.Paranoid {
		o.offer(ctx, r)
		return r, nil
	}
	st, err := o.Cache.Store()
	if err != nil {
		return nil, err
	}
	lock, err := o.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer lock.Unlock()
	if r := upToDate(ctx, o); r != nil && !o.Paranoid {
		o.offer(ctx, r)
		return r, nil // somebody else built it while we waited
	}
	begun := time.Now()
	w := &workTree{repo: o.Repo, pkg: servePackage, pin: o.Go, cache: o.Cache, store: st, p: o.Progress, offline: o.Offline}
	done, err := w.prepare(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	c, err := o.component(ctx, serveRecipe(), w)
	if err != nil {
		return nil, w.removed(err)
	}
	r, err := pack(ctx, o, c, w)
	if err != nil {
		return nil, w.removed(err)
	}
	if c.Space != NetworkOpen { // the next build may have a better runner
		remember(o, r, w.list, begun)
	}
	return r, nil
}

// component builds a program of ours in a sandbox. Where this machine has none,
// it is built in plain sight all the same, since Go needs no other program, and
// is marked so in the store.
func (o Options) component(ctx context.Context, recipe *Recipe, w *workTree) (*Built, error) {
	runner, err := o.runner(ctx)
	if err != nil {
		return nil, err
	}
	planned := &PlannedComponent{Recipe: recipe, Name: recipe.Name, Inputs: w.inputs(recipe, runner.Space())}
	if planned.Key, err = planned.Inputs.Key(); err != nil {
		return nil, err
	}
	b := &Builder{Store: w.store, Cache: o.Cache, Runner: runner, Progress: o.Progress, Paranoid: o.Paranoid, Remote: o.Remote, tree: w}
	return b.one(ctx, planned, nil)
}

// offer gives the component of an earlier build to the remote cache.
func (o Options) offer(ctx context.Context, r *Result) {
	if o.Remote == nil {
		return
	}
	if st, err := o.Cache.Store(); err == nil {
		offer(ctx, o.Remote, st, r.Key)
	}
}

func (o Options) runner(ctx context.Context) (Runner, error) {
	space := Sandboxed
	if o.NoSandbox {
		space = NoSandbox
	}
	if o.Runner != nil {
		return o.Runner(ctx, space)
	}
	runner, err := NewHostRunner(ctx, space)
	var unavailable *sandbox.Unavailable
	if errors.As(err, &unavailable) {
		o.Progress.Step("warning: %v; building without a sandbox, which is marked and never released", err)
		return NewHostRunner(ctx, NoSandbox)
	}
	return runner, err
}

// lock makes one build at a time of all that write to the same folder.
func (o Options) lock(ctx context.Context) (*filelock.Lock, error) {
	dir, err := o.Cache.mkdir("locks")
	if err != nil {
		return nil, err
	}
	lock, err := filelock.Wait(ctx, filepath.Join(dir, "build-"+digestName(o.Out)), func() {
		o.Progress.Step("another build into %s is running; waiting for it", o.Out)
	})
	return lock, store.Explain(err, o.Cache.Dir)
}

// pack writes the archive, unless the same one lies there.
func pack(ctx context.Context, o Options, c *Built, w *workTree) (*Result, error) {
	if err := os.MkdirAll(o.Out, 0o777); err != nil {
		return nil, explainOut(err, o.Out)
	}
	top := fmt.Sprintf("1bit-%s-%s", w.version, platform)
	r := &Result{
		Archive: filepath.Join(o.Out, top+".tar.zst"), Hit: c.Hit, From: c.From, Version: w.version,
		Component: c.Sum, Key: c.Key, Source: w.source, Commit: commitOf(ctx, o.Repo, w.list.files),
	}
	files, err := payload(o, c, w, r.Commit)
	if err != nil {
		return nil, err
	}
	// We hold the folder's lock: an unfinished archive is a killed run's.
	unfinished, _ := filepath.Glob(filepath.Join(o.Out, ".1bit-*.tar.zst.*.tmp"))
	for _, name := range unfinished {
		os.Remove(name)
	}
	sum := sha256.New()
	count := &counter{}
	write := func(w io.Writer) error {
		return archive.Write(io.MultiWriter(w, sum, count), top, o.Go.Date, files)
	}
	if err := atomicfile.Create(r.Archive, 0o644, write); err != nil {
		return nil, explainOut(err, o.Out)
	}
	r.SHA256, r.Size = hex.EncodeToString(sum.Sum(nil)), count.n
	return r, nil
}

// payload lists the archive's files, manifest.json included.
func payload(o Options, c *Built, w *workTree, commit Commit) ([]archive.File, error) {
	m := manifest{Schema: 1, Name: "1bit", Version: w.version, Platform: platform, Source: w.source, Commit: commit, Modules: w.list.modules}
	m.Component.Name, m.Component.Digest = c.Name, c.Sum
	m.Toolchain.Module, m.Toolchain.Version, m.Toolchain.Sum = "golang.org/toolchain", o.Go.Version, o.Go.Sum
	made, err := w.store.Files(c.Key)
	if err != nil {
		return nil, err
	}
	var files []archive.File
	for _, f := range made {
		local := filepath.Join(c.Path, filepath.FromSlash(f.Path))
		files = append(files, archive.File{
			Name: f.Path, Exec: f.Mode == "100755", Size: f.Size,
			Open: func() (io.ReadCloser, error) { return os.Open(local) },
		})
		m.Files = append(m.Files, manifestFile{f.Path, f.Mode, f.Size, f.SHA256})
	}
	for _, name := range documents {
		data, err := readRegular(filepath.Join(o.Repo, filepath.FromSlash(name)))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s is missing in %s: every archive carries it", name, o.Repo)
		}
		if err != nil {
			return nil, err
		}
		files = append(files, archive.Bytes(inArchive(name), data))
		sum := sha256.Sum256(data)
		m.Files = append(m.Files, manifestFile{inArchive(name), "100644", int64(len(data)), hex.EncodeToString(sum[:])})
	}
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(files, archive.Bytes("manifest.json", append(data, '\n'))), nil
}

// explainOut is store.Explain for the folder of archives.
func explainOut(err error, dir string) error {
	explained := store.Explain(err, dir)
	if explained == err {
		return err
	}
	return verdict.Infraf("%s cannot be written (%w): name another folder with --out", dir, errors.Unwrap(explained))
}

type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}
