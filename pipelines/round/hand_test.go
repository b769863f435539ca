// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package round

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
	modzip "golang.org/x/mod/zip"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/build"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
	"github.com/1bit-MONSTER/engine/pipelines/toolchain"
)

// A gate on another machine, without upstreams and without our cache, has all
// that it needs.
func TestHandOn(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := newWorld(t)
	a2, _, _ := w.move()
	r := w.fetched(nil).Round
	o := w.options()
	o.Receipts = []fetch.Archived{{Name: "one", Verdict: verdict.Skipped, Why: fetch.NoArchive}}
	f, h := w.hand("pair", r, o)
	if !slices.Equal(h.Recipes, []string{"app", "broken"}) || len(h.Left) != 1 || !strings.Contains(h.Left[0], "nobody has it") || h.Entries == 0 || h.Bytes == 0 {
		t.Errorf("%+v", h)
	}
	w.away()
	opened := w.open(f)
	if opened.Round.ID != r.ID || len(opened.Receipts) != 1 || opened.Receipts[0].Why != fetch.NoArchive {
		t.Errorf("%+v", opened)
	}
	e := opened.Engine
	base := w.load()
	for _, p := range []*pins.Pin{opened.Next.Pin("one"), opened.Next.Pin("two"), base.Pin("one"), base.Pin("two"), base.Pin("side")} {
		entries, err := e.Content(ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(entries[0].Path + "/weights"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: what is excluded is there: %v", p.Name, err)
		}
		if _, err := e.FetchInputs(ctx, p); err != nil {
			t.Error(err)
		}
	}
	// Both directions can be judged.
	one := base.Pin("one")
	if err := e.Successor(ctx, one, opened.Next.Pin("one").Lock); err != nil {
		t.Error(err)
	}
	var wrong *fetch.WrongWay
	if err := e.Successor(ctx, opened.Next.Pin("one"), one.Lock); !errors.As(err, &wrong) {
		t.Errorf("%v", err)
	}
	// The stack is rebased.
	x, err := w.stacks().Session(ctx, "one", func(ctx context.Context, p *pins.Pin, _ string) (*git.Repo, error) {
		return e.Repository(ctx, p.Name)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	result, err := x.Rebase(ctx, a2)
	if err != nil || result.Verdict() != verdict.Pass {
		t.Errorf("%+v, %v", result, err)
	}
	// What the recipe needs of others is built from is there.
	locked := &build.Locked{Engine: e, Stacks: w.stacks()}
	dir, err := locked.Source(ctx, "side")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(dir + "/s"); err != nil || !strings.HasSuffix(string(got), "ours\n") {
		t.Errorf("%q %v", got, err)
	}
	dir, err = toolchain.Fetch(ctx, e.Store, e, opened.Next.Pin("tools"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir + "/bin/cc"); err != nil {
		t.Error(err)
	}
	// A cache in the folder has the folder's store.
	s, err := build.Cache{Dir: f.Cache()}.Store()
	if err != nil {
		t.Fatal(err)
	}
	if !s.Intact(key(t, opened.Next.Pin("one").Lock.Sum)) {
		t.Error("the cache has another store")
	}
	if err := f.Verify(ctx, base); err != nil {
		t.Error(err)
	}
}

func key(t *testing.T, sum string) store.Key {
	t.Helper()
	k, err := store.KeyOf(sum)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// What is built already and does not change is handed on as it is, without what
// it was built from.
func TestHandOnBuiltComponents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.move()
	built := w.output("lib")
	r := w.fetched(nil).Round
	f, _ := w.hand("pair", r, w.options())
	s, err := store.Open(f.Store())
	if err != nil {
		t.Fatal(err)
	}
	if !s.Intact(built) {
		t.Error("lib is not there")
	}
	if s.Intact(key(t, w.load().Pin("side").Lock.Sum)) {
		t.Error("the sources of lib are there")
	}
}

func TestHandKilled(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := newWorld(t)
	w.move()
	r := w.fetched(nil).Round
	f := Folder(filepath.Join(w.dir, "out", "pair"))
	o := w.options()
	o.Recipes = append(o.Recipes, &build.Recipe{Name: "served", WorkTree: "./cmd/x", Needs: []string{"app"}, Toolchain: "tools"})
	die := func(then func()) {
		t.Helper()
		o.Modules = func(_ context.Context, dir string) error {
			if err := os.MkdirAll(dir, 0o777); err != nil {
				return err
			}
			if err := os.WriteFile(dir+"/half", nil, 0o666); err != nil {
				return err
			}
			then()
			return verdict.Infraf("the network is gone")
		}
	}
	hand := func() (err error) {
		defer func() {
			if recover() != nil {
				err = errors.New("killed")
			}
		}()
		_, err = f.Hand(ctx, r, w.e, o)
		return err
	}
	is := func(name string) bool {
		_, err := os.Lstat(name)
		return err == nil
	}
	die(func() { panic("killed") })
	if err := hand(); err == nil || is(string(f)) || !is(string(f)+".part") {
		t.Fatalf("%v: nothing, or too much, is there", err)
	}
	if _, err := f.Open(ctx, w.load()); verdict.Of(err) != verdict.Infra {
		t.Errorf("%v", err)
	}
	die(func() {})
	if err := hand(); verdict.Of(err) != verdict.Infra || is(string(f)) || is(string(f)+".part") {
		t.Fatalf("%v: something is there", err)
	}
	o.Modules = func(_ context.Context, dir string) error { return os.MkdirAll(dir, 0o777) }
	if err := hand(); err != nil {
		t.Fatal(err)
	}
	if is(f.Cache()+"/go/mod/cache/download/half") || is(string(f)+".part") || is(string(f)+".old") {
		t.Error("something of the killed one is left")
	}
	// A later one takes its place, or leaves it as it is.
	if err := os.WriteFile(f.Verdicts(), []byte("[]"), 0o666); err != nil {
		t.Fatal(err)
	}
	good := o.Modules
	die(func() {})
	if err := hand(); err == nil || !is(f.Verdicts()) {
		t.Errorf("%v: the older one is gone", err)
	}
	o.Modules = good
	if err := hand(); err != nil || is(f.Verdicts()) {
		t.Errorf("%v: the older one is still there", err)
	}
	if err := f.Verify(ctx, w.load()); err != nil {
		t.Error(err)
	}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := newWorld(t)
	w.move()
	r := w.fetched(nil).Round
	f, _ := w.hand("pair", r, w.options())
	base := w.load()
	s, err := store.Open(f.Store())
	if err != nil {
		t.Fatal(err)
	}
	k := key(t, r.Members[1].Lock.Sum)
	file := filepath.Join(f.Store(), "entries", string(k), "content", "b")
	// Another file in its place: not written through the link into our store.
	if err := os.Chmod(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(file), os.WriteFile(file, []byte("bad\n"), 0o444)); err != nil {
		t.Fatal(err)
	}
	if err := f.Verify(ctx, base); verdict.Of(err) != verdict.Fail || !strings.Contains(err.Error(), "pin two") {
		t.Errorf("%v", err)
	}
	// With a record that fits the wrong content.
	if err := s.Remove(ctx, k); err != nil {
		t.Fatal(err)
	}
	_, err = s.Put(ctx, k, store.Maker{
		Kind: "source", Name: "two", Check: func(string, string) error { return nil },
		Fill: func(_ context.Context, path string) error {
			return errors.Join(os.Mkdir(path, 0o777), os.WriteFile(path+"/b", []byte("bad\n"), 0o666))
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Verify(ctx, base); verdict.Of(err) != verdict.Fail || !strings.Contains(err.Error(), "pin two") {
		t.Errorf("%v", err)
	}
	if err := s.Remove(ctx, k); err != nil {
		t.Fatal(err)
	}
	if err := f.Verify(ctx, base); err != nil {
		t.Errorf("it is not made again from the repository: %v", err)
	}
	// Pins of another main.
	next := r.Next(base)
	if _, err := f.Open(ctx, next); verdict.Of(err) != verdict.Fail || !strings.Contains(err.Error(), "was made for other pins") {
		t.Errorf("%v", err)
	}
	if w.e.Store.Verify(k) != nil {
		t.Error("our own store was changed")
	}
}

// The Go modules of this repository come through the go client of the machine,
// and the go command goes on with them alone.
func TestHandOnModules(t *testing.T) {
	w := newWorld(t)
	w.move()
	proxy := t.TempDir()
	src := t.TempDir()
	const goMod = "module example.com/dep\n\ngo 1.26\n"
	for name, text := range map[string]string{"go.mod": goMod, "dep.go": "package dep\n"} {
		if err := os.WriteFile(filepath.Join(src, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	at := filepath.Join(proxy, "example.com", "dep", "@v")
	if err := os.MkdirAll(at, 0o777); err != nil {
		t.Fatal(err)
	}
	zip, err := os.Create(at + "/v1.0.0.zip")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(modzip.CreateFromDir(zip, module.Version{Path: "example.com/dep", Version: "v1.0.0"}, src), zip.Close()); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"v1.0.0.mod": goMod, "v1.0.0.info": `{"Version":"v1.0.0"}`, "list": "v1.0.0\n"} {
		if err := os.WriteFile(filepath.Join(at, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOPROXY", "file://"+proxy)
	t.Setenv("GOSUMDB", "off")
	zipSum, err := dirhash.HashZip(at+"/v1.0.0.zip", dirhash.Hash1)
	if err != nil {
		t.Fatal(err)
	}
	modSum, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) { return os.Open(at + "/v1.0.0.mod") })
	if err != nil {
		t.Fatal(err)
	}
	w.write("repo/go.mod", "module example.com/us\n\ngo 1.26\n\nrequire example.com/dep v1.0.0\n")
	w.write("repo/go.sum", "example.com/dep v1.0.0 "+zipSum+"\nexample.com/dep v1.0.0/go.mod "+modSum+"\n")
	w.write("repo/us.go", "package us\n\nimport _ \"example.com/dep\"\n")
	r := w.fetched(nil).Round
	o := w.options()
	o.Recipes = append(o.Recipes, &build.Recipe{Name: "served", WorkTree: ".", Needs: []string{"app"}, Toolchain: "tools"})
	f, h := w.hand("pair", r, o)
	if !slices.Contains(h.Recipes, "served") || len(h.Left) != 1 {
		t.Errorf("%+v", h)
	}
	cmd := exec.Command("go", "list", "-deps", ".")
	cmd.Dir = w.root
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-modcacherw", "GOWORK=off", "GOMODCACHE="+filepath.Join(f.Cache(), "go", "mod"))
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "example.com/dep\n") {
		t.Errorf("%s %v", out, err)
	}
}
