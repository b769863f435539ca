// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package supply

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/clock"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/rmtree"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/patches"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/build"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
	"github.com/1bit-MONSTER/engine/pipelines/inputs"
	"github.com/1bit-MONSTER/engine/pipelines/toolchain"
)

const date = "2026-11-02T00:00:00Z"

// A world is a repository with a Go toolchain, a root file system, both in the
// store, and a pin on an upstream that is a folder; two recipes, and one more that
// needs the second.
type world struct {
	t    *testing.T
	root string
	up   *gittest.Repo
	o    Options
	asks int // for Go modules
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, root: t.TempDir(), up: gittest.New(t)}
	cache := filepath.Join(t.TempDir(), "cache")
	t.Cleanup(func() { rmtree.All(cache); rmtree.All(w.root) })
	st, err := store.Open(filepath.Join(cache, "store"))
	if err != nil {
		t.Fatal(err)
	}
	w.write("go.mod", "module example.com/engine\n")
	w.write("go.sum", "example.com/m v1.0.0 h1:x\n")
	w.write("internal/tools/go.mod", "module example.com/tools\n")
	w.write("internal/tools/go.sum", "example.com/t v1.0.0 h1:y\n")
	w.write("pins/groups.yaml", "[]\n")
	w.write("pins/go.yaml", "name: go\nwhat: Go\nlicense: MIT\nuse: build-tool\ntrack: {kind: go-module, module: golang.org/toolchain, platform: linux-amd64, schemes: [{pattern: 'v0.0.1-go{go}.linux-amd64'}]}\n"+
		"lock:\n  version: v0.0.1-go1.27.4.linux-amd64\n  sum: h1:8Tl0rBb7KdISSdPkZBjlpZxsUBb+004GI/SM2XbmSqI=\n  date: "+date+"\n")
	w.write("pins/debian-bookworm-build.yaml", fmt.Sprintf("name: debian-bookworm-build\nwhat: a root\nlicense: MIT\nuse: build-tool\ntrack: {kind: deb, suite: bookworm, pocket: release, platform: linux-amd64, packages: [git]}\n"+
		"lock:\n  version: '12.15'\n  date: %s\n  files:\n    - {name: git, version: '1', platform: amd64, path: pool/git.deb, sha256: %s, size: 1}\n", date, strings.Repeat("a", 64)))
	w.write("pins/up.yaml", "name: up\nwhat: a source\nupstream: https://up.example/up.git\nlicense: MIT\nuse: child\ntrack: {kind: git-branch, branch: main}\n")
	w.up.Commit("main", "one", gittest.Files{"f": "text\n", "LICENSE": "MIT\n"})
	e := &fetch.Engine{
		Store: st, CacheDir: cache, Clock: clock.Fixed(time.Date(2026, 11, 3, 0, 0, 0, 0, time.UTC)),
		Mirrors: &fetch.Mirrors{URLs: map[string]fetch.Mirror{"https://up.example/up.git": {To: w.up.Dir(), StandsIn: "mirror/up"}}},
	}
	e.Set = w.load()
	rows, err := e.Update(t.Context(), []*pins.Pin{e.Set.Pin("up")}, fetch.UpdateOptions{PinsDir: filepath.Join(w.root, "pins")})
	if err != nil || rows[0].Verdict != verdict.Pass {
		t.Fatalf("%+v, %v", rows, err)
	}
	e.Set = w.load()
	for _, name := range []string{goPin, rootPin} {
		w.put(st, e.Set.Pin(name))
	}
	stacks, err := patches.Open(t.Context(), w.root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stacks.Close() })
	w.o = Options{
		Repo: w.root, Engine: e, Stacks: stacks,
		Recipes: []*build.Recipe{
			{Name: "prog", WorkTree: "./cmd/prog", Toolchain: goPin},
			{Name: "lib", Pins: []string{"up"}, Toolchain: rootPin},
			{Name: "app", Needs: []string{"lib"}, Toolchain: rootPin},
			{Name: "later", Toolchain: rootPin, Unavailable: "it is not written"},
		},
		Modules: func(_ context.Context, _ string, goMod, _ []byte, dir string) error {
			w.asks++
			name := strings.TrimSpace(strings.TrimPrefix(string(goMod), "module "))
			return errors.Join(os.MkdirAll(filepath.Join(dir, name, "@v"), 0o777), os.WriteFile(filepath.Join(dir, name, "@v", "v1.0.0.zip"), []byte(name), 0o444))
		},
	}
	return w
}

// put makes the entry of a toolchain without its content being fetched.
func (w *world) put(st *store.Store, p *pins.Pin) {
	w.t.Helper()
	sum, err := toolchain.Sum(p)
	if err != nil {
		w.t.Fatal(err)
	}
	key, err := store.KeyOf(sum)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := st.Put(w.t.Context(), key, store.Maker{
		Kind: "toolchain", Name: p.Name,
		Fill: func(_ context.Context, dir string) error {
			return errors.Join(os.MkdirAll(filepath.Join(dir, "bin"), 0o777), os.WriteFile(filepath.Join(dir, "bin", p.Name), nil, 0o755))
		},
		Check: func(string, string) error { return nil },
	}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) write(name, text string) {
	w.t.Helper()
	file := filepath.Join(w.root, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(text), 0o666)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) load() *pins.Set {
	w.t.Helper()
	set, err := pins.Load(filepath.Join(w.root, "pins"))
	if err != nil {
		w.t.Fatal(err)
	}
	return set
}

// list is all that a folder holds.
func list(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files := map[string]bool{}
	if err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, name)
			files[filepath.ToSlash(rel)] = true
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return files
}

func (w *world) manifest(dir string) *inputs.Manifest {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, inputs.File))
	if err != nil {
		w.t.Fatal(err)
	}
	m, err := inputs.Parse(data)
	if err != nil {
		w.t.Fatal(err)
	}
	return m
}

func TestWrite(t *testing.T) {
	w := newWorld(t)
	dir := filepath.Join(w.root, inputs.Folder)

	done, err := Write(t.Context(), w.o, []string{"prog"}, dir)
	if err != nil {
		t.Fatal(err)
	}
	m := w.manifest(dir)
	files := list(t, dir)
	if done.Entries != 1 || m.Root != "" || !files[m.Go+"/bin/go"] || !files[inputs.Modules+"/example.com/engine/@v/v1.0.0.zip"] {
		t.Errorf("%+v, %+v, %v", done, m, files)
	}
	if files[inputs.Modules+"/example.com/tools/@v/v1.0.0.zip"] {
		t.Error("it has the modules of tools, which only checks need")
	}
	goYAML, _ := os.ReadFile(filepath.Join(w.root, "pins", "go.yaml"))
	goSum, _ := os.ReadFile(filepath.Join(w.root, "go.sum"))
	if err := m.Check(goYAML, goSum, "prog"); err != nil {
		t.Error(err)
	}

	// Another set replaces it whole; what a component needs comes with it.
	if _, err = Write(t.Context(), w.o, []string{"app", inputs.Checks}, dir); err != nil {
		t.Fatal(err)
	}
	m, files = w.manifest(dir), list(t, dir)
	if want := []string{"app", inputs.Checks, "lib"}; !slices.Equal(m.For, want) {
		t.Errorf("it is for %v, not %v", m.For, want)
	}
	up := w.o.Engine.Set.Pin("up")
	key, err := store.KeyOf(up.Lock.Sum)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		m.Go + "/bin/go", m.Root + "/bin/" + rootPin, "store/entries/" + string(key) + "/content/f", "git/up.git/HEAD",
		inputs.Modules + "/example.com/tools/@v/v1.0.0.zip",
	} {
		if !files[want] {
			t.Errorf("there is no %s", want)
		}
	}
	if err := fetch.CheckFolder(filepath.Join(dir, "store", "entries", string(key), "content"), up.Lock.Sum, nil, nil); err != nil {
		t.Error(err)
	}
	if w.asks != 2 {
		t.Errorf("modules were downloaded %d times, not once for each go.sum", w.asks)
	}

	// What lies there is enough for a cache without network.
	st, err := store.Open(filepath.Join(dir, "store"))
	if err != nil {
		t.Fatal(err)
	}
	offline := *w.o.Engine
	offline.Store, offline.CacheDir, offline.Offline, offline.Mirrors = st, dir, true, nil
	locked := &build.Locked{Engine: &offline, Stacks: w.o.Stacks}
	if _, err := locked.Source(t.Context(), "up"); err != nil {
		t.Error(err)
	}
}

func TestWriteRefuses(t *testing.T) {
	w := newWorld(t)
	mine := filepath.Join(w.root, "mine")
	w.write("mine/file", "mine")
	offline := w.o
	e := *w.o.Engine
	e.Offline = true
	offline.Engine = &e
	bare := offline
	empty, err := store.Open(filepath.Join(t.TempDir(), "store"))
	if err != nil {
		t.Fatal(err)
	}
	e2 := e
	e2.Store = empty
	bare.Engine = &e2
	for _, c := range []struct {
		name  string
		o     Options
		names []string
		to    string
		code  int
		says  string
	}{
		{"nothing", w.o, nil, "a", 2, "name a component"},
		{"unknown", w.o, []string{"nothing"}, "a", 2, "there is no such component"},
		{"not yet", w.o, []string{"later"}, "a", 5, "it is not written"},
		{"somebody's folder", w.o, []string{"prog"}, "mine", 2, "was not made by"},
		{"no folder around it", w.o, []string{"prog"}, "none/a", 2, "make the folder around it"},
		{"in a file", w.o, []string{"prog"}, "mine/file/a", 2, "name another with --to"},
		{"a file", w.o, []string{"prog"}, "mine/file", 2, "is no folder"},
		{"modules offline", offline, []string{"prog"}, "a", 5, "Go modules of this repository are not here and --offline forbids"},
		{"toolchain offline", bare, []string{"prog"}, "a", 5, "the toolchain go is not here, or damaged, and --offline forbids"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Write(t.Context(), c.o, c.names, filepath.Join(w.root, c.to))
			if verdict.ExitCode(err) != c.code || !strings.Contains(err.Error(), c.says) {
				t.Errorf("exit code %d: %v", verdict.ExitCode(err), err)
			}
			for _, left := range []string{"a", "a.part"} {
				if _, err := os.Lstat(filepath.Join(w.root, left)); err == nil {
					t.Errorf("%s is left", left)
				}
			}
		})
	}
	if data, err := os.ReadFile(filepath.Join(mine, "file")); err != nil || string(data) != "mine" {
		t.Errorf("%q, %v", data, err)
	}
}

// A full disk is that of the folder, whatever its store says.
func TestFullDiskNamesTheFolder(t *testing.T) {
	full := store.Explain(&fs.PathError{Op: "write", Path: "/media/in.part/store/tmp/x", Err: syscall.ENOSPC}, "/media/in.part/store")
	if err := explain(full, "/media/in"); verdict.ExitCode(err) != 5 || !strings.Contains(err.Error(), "the disk of /media is full") || strings.Contains(err.Error(), "DIST_CACHE") {
		t.Error(err)
	}
	cache := store.Explain(&fs.PathError{Op: "write", Path: "/cache/store/tmp/x", Err: syscall.ENOSPC}, "/cache")
	if err := explain(cache, "/media/in"); !strings.Contains(err.Error(), "DIST_CACHE") {
		t.Error(err)
	}
}

// An entry that was damaged on the disk is not handed on.
func TestWriteRefusesDamage(t *testing.T) {
	w := newWorld(t)
	sum, err := toolchain.Sum(w.o.Engine.Set.Pin(goPin))
	if err != nil {
		t.Fatal(err)
	}
	key, err := store.KeyOf(sum)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(w.o.Engine.Store.Dir(), "entries", string(key), "content", "bin", "go")
	if err := errors.Join(os.Chmod(file, 0o755), os.WriteFile(file, []byte("other"), 0o755)); err != nil {
		t.Fatal(err)
	}
	o := w.o
	e := *w.o.Engine
	e.Offline = true
	o.Engine = &e
	to := filepath.Join(w.root, "a")
	if _, err := Write(t.Context(), o, []string{"prog"}, to); err == nil || !strings.Contains(err.Error(), "the toolchain go is not here, or damaged") {
		t.Errorf("it was handed on: %v", err)
	}
	if _, err := os.Lstat(to); err == nil {
		t.Error("a folder is left")
	}
}
