// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// resolve resolves pins of the world, read anew.
func (w *world) resolve(to map[string]Wanted, names ...string) *Resolution {
	w.t.Helper()
	set := w.load()
	var list []*pins.Pin
	for _, n := range names {
		list = append(list, set.Pin(n))
	}
	return w.e.Resolve(w.t.Context(), list, to)
}

// wants is what was found, as what to take the next time.
func wantedOf(r *Resolution) map[string]Wanted {
	to := map[string]Wanted{}
	for _, m := range r.Members {
		w := Wanted{ID: m.ID, Name: m.Version}
		if m.Via != nil {
			w.Via = m.Via.Commit
		}
		to[m.Pin.Name] = w
	}
	return to
}

func (w *world) found(r *Resolution, pin string) *Resolved {
	w.t.Helper()
	m := r.Member(pin)
	if m == nil || m.Err != nil {
		w.t.Fatalf("%s: %+v", pin, m)
	}
	return m
}

func TestResolveABranch(t *testing.T) {
	t.Parallel()
	for name, stack := range map[string]string{"without history": "", "with history": "stack: x\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			up := gittest.New(t)
			first := up.Commit("main", "one", gittest.Files{"a": "one", "LICENSE": "MIT\n"})
			w := newWorld(t)
			w.serve("x", up, gittest.ServerOptions{})
			w.pin("x", followMain+stack)
			w.must("x")
			if m := w.found(w.resolve(nil, "x"), "x"); m.Moves() || m.Behind != "" || m.ID != string(first) {
				t.Errorf("nothing is new: %+v", m)
			}
			second := up.Commit("main", "two", gittest.Files{"a": "two"})
			before := w.snapshot()
			sighted := w.resolve(nil, "x")
			m := w.found(sighted, "x")
			if !m.Moves() || m.ID != string(second) || m.Behind != "1 commit" || m.StandsIn != "https://up.example/x.git" {
				t.Errorf("%+v", m)
			}
			up.Commit("main", "three", gittest.Files{"a": "three"})
			third := up.Commit("main", "four", gittest.Files{"a": "four"})
			if m := w.found(w.resolve(nil, "x"), "x"); m.ID != string(third) || m.Behind != "3 commits" {
				t.Errorf("%+v", m)
			}
			// The earlier one, though there is a newer one now.
			to := wantedOf(sighted)
			r := w.resolve(to, "x")
			if m := w.found(r, "x"); m.ID != string(second) {
				t.Errorf("%+v", m)
			}
			if w.snapshot() != before {
				t.Error("resolving wrote something")
			}
			lock, err := r.Lock(t.Context(), "x")
			if err != nil {
				t.Fatal(err)
			}
			if lock.Commit != string(second) || lock.Patched != nil || lock.Sum == "" || len(lock.Licenses) != 1 {
				t.Errorf("%+v", lock)
			}
			if p := w.get("x"); p.Lock.Commit != string(first) {
				t.Error("the pin was written")
			}
			p := *w.get("x")
			p.Lock = lock
			if w.read(&p, "a") != "two" {
				t.Error("its content is not in the store")
			}
			// It is judged again from what is here, without asking anybody.
			off := *w.e
			off.Offline = true
			if err := off.Successor(t.Context(), w.get("x"), lock); err != nil {
				t.Error(err)
			}
			var wrong *WrongWay
			if err := off.Successor(t.Context(), &p, w.get("x").Lock); !errors.As(err, &wrong) || wrong.Direction != DirectionBackwards {
				t.Errorf("backwards: %v", err)
			}
			// What stays, stays, whatever there is.
			if m := w.found(w.resolve(map[string]Wanted{"x": {ID: string(first)}}, "x"), "x"); m.Moves() {
				t.Errorf("%+v", m)
			}
			// The branch is forced away from it.
			other := up.Commit("main", "other", gittest.Files{"a": "other"}, gittest.Onto(first))
			var left *LeftBranch
			r = w.resolve(to, "x")
			if err := r.Members[0].Err; !errors.As(err, &left) || verdict.Of(err) != verdict.Held || left.Head != other || left.Commit != second || !strings.HasPrefix(err.Error(), "pin x: the branch main of") {
				t.Errorf("%v", err)
			}
			if _, err := r.Lock(t.Context(), "x"); err == nil {
				t.Error("it was locked all the same")
			}
			// And away from what is locked: the error says where to.
			root := up.Commit("main", "root", gittest.Files{"a": "root"}, gittest.Onto())
			m = w.resolve(nil, "x").Members[0]
			if !errors.As(m.Err, &wrong) || wrong.Direction != DirectionSideways || m.ID != string(root) {
				t.Errorf("%+v", m)
			}
		})
	}
}

func TestResolveTags(t *testing.T) {
	t.Parallel()
	up := gittest.New(t)
	a := up.Commit("main", "one", gittest.Files{"a": "one"})
	b := up.Commit("main", "two", gittest.Files{"a": "two"})
	c := up.Commit("main", "three", gittest.Files{"a": "three"})
	up.Tag("b1", a)
	w := newWorld(t)
	w.serve("x", up, gittest.ServerOptions{})
	w.pin("x", followTags)
	w.must("x")
	object := up.Annotated("b2", "release", b)
	sighted := w.resolve(nil, "x")
	if m := w.found(sighted, "x"); m.ID != string(b) || m.Version != "b2" || m.TagObject != object || m.Behind != "1 version" {
		t.Errorf("%+v", m)
	}
	up.Tag("b3", c)
	up.Tag("b03", c) // the same version, once more
	if m := w.found(w.resolve(nil, "x"), "x"); m.Version != "b3" || m.Behind != "2 versions" {
		t.Errorf("%+v", m)
	}
	to := wantedOf(sighted)
	r := w.resolve(to, "x")
	if m := w.found(r, "x"); m.Version != "b2" || m.ID != string(b) || m.TagObject != object {
		t.Errorf("%+v", m)
	}
	if lock, err := r.Lock(t.Context(), "x"); err != nil || lock.Version != "b2" || lock.Tag != string(object) {
		t.Errorf("%+v %v", lock, err)
	}
	moved := func(tag string, old, now git.ID) {
		t.Helper()
		var m *Moved
		err := w.resolve(to, "x").Members[0].Err
		if !errors.As(err, &m) || verdict.Of(err) != verdict.Fail || m.Tag != tag || m.Old != old || m.New != now {
			t.Errorf("%v", err)
		}
	}
	up.Tag("b2", c) // it moved after it was sighted
	moved("b2", b, c)
	up.Git("update-ref", "-d", "refs/tags/b2")
	moved("b2", b, "")
	up.Tag("b2", b)
	up.Tag("b1", c) // the locked one moved
	moved("b1", a, c)
	up.Tag("b1", a)
	up.Tag("v9", c)
	var outside *pins.OutsideScheme
	if err := w.resolve(nil, "x").Members[0].Err; !errors.As(err, &outside) || verdict.Of(err) != verdict.Held {
		t.Errorf("%v", err)
	}
}

// A pair of submodules of one integration repository, with what is read from a
// file of it: all at one commit of that, also the second time.
func TestResolveAPair(t *testing.T) {
	t.Parallel()
	one, two, whole := gittest.New(t), gittest.New(t), gittest.New(t)
	id := func(r *gittest.Repo, text string) git.ID { return r.Commit("main", text, gittest.Files{"a": text}) }
	commit := func(url, version string, a, b git.ID) git.ID {
		return whole.Commit("main", version, gittest.Files{
			"version.json": "{\"v\": \"" + version + "\"}",
			".gitmodules":  "[submodule \"one\"]\n\tpath = one\n\turl = " + url + "\n[submodule \"two\"]\n\tpath = two\n\turl = ../two.git\n",
		}, gittest.Submodule("one", a), gittest.Submodule("two", b))
	}
	a1, b1 := id(one, "a1"), id(two, "b1")
	commit("../one.git", "1", a1, b1)
	w := newWorld(t)
	w.serve("one", one, gittest.ServerOptions{})
	w.serve("moved", one, gittest.ServerOptions{})
	w.serve("two", two, gittest.ServerOptions{})
	w.serve("whole", whole, gittest.ServerOptions{})
	const of = "of: 'https://up.example/whole.git', branch: main, path: "
	w.pin("one", "track: {kind: gitlink, "+of+"one}\nstack: one\n")
	w.pin("two", "track: {kind: gitlink, "+of+"two}\n")
	w.write("number.yaml", "name: number\nwhat: a test\nlicense: MIT\nuse: build-tool\ntrack: {kind: field, "+of+"version.json, key: v}\nlock: {version: '1'}\n")
	w.write("groups.yaml", "- name: g\n  members: [one, two, number]\n")
	w.must("one")
	a2, b2 := id(one, "a2"), id(two, "b2")
	p2 := commit("../one.git", "2", a2, b1)
	names := []string{"one", "two", "number"}
	sighted := w.resolve(nil, names...)
	if m := w.found(sighted, "one"); m.ID != string(a2) || m.Via.Commit != string(p2) || m.Behind != "1 commit of its integration repository" {
		t.Errorf("%+v", m)
	}
	if m := w.found(sighted, "two"); m.Moves() {
		t.Errorf("%+v", m)
	}
	if m := w.found(sighted, "number"); m.ID != "2" {
		t.Errorf("%+v", m)
	}
	p3 := commit("../one.git", "3", a2, b2)
	to := wantedOf(sighted)
	r := w.resolve(to, names...)
	for name, want := range map[string]string{"one": string(a2), "two": string(b1), "number": "2"} {
		if m := w.found(r, name); m.ID != want {
			t.Errorf("%s: %+v", name, m)
		}
	}
	// Versions of different moments are refused.
	mixed := map[string]Wanted{"one": to["one"], "two": {ID: string(b2), Via: string(p3)}}
	if err := w.resolve(mixed, "one", "two").Member("two").Err; err == nil || !strings.Contains(err.Error(), "one moment") {
		t.Errorf("%v", err)
	}
	// A half may stay where it is.
	half := map[string]Wanted{"one": {ID: string(a1)}, "two": {ID: string(b2), Via: string(p3)}, "number": {ID: "3", Name: "3"}}
	r = w.resolve(half, names...)
	if m := w.found(r, "one"); m.Moves() {
		t.Errorf("%+v", m)
	}
	if m := w.found(r, "two"); m.ID != string(b2) || m.Via.Commit != string(p3) {
		t.Errorf("%+v", m)
	}
	// The submodule's address changes: only what a person agreed to is taken.
	a3 := id(one, "a3")
	p4 := commit("../moved.git", "4", a3, b2)
	var child *ChildMoved
	if err := w.resolve(nil, names...).Member("one").Err; !errors.As(err, &child) || verdict.Of(err) != verdict.Held || child.New != "https://up.example/moved.git" {
		t.Errorf("%v", err)
	}
	file, err := os.ReadFile(w.pins + "/one.yaml")
	if err != nil {
		t.Fatal(err)
	}
	w.write("one.yaml", strings.Replace(string(file), "path: one}", "path: one, allowed-urls: ['https://up.example/moved.git']}", 1))
	delete(w.e.Mirrors.URLs, "https://up.example/one.git") // nothing new is at the old one
	w.e.Mirrors.URLs["https://up.example/one.git"] = Mirror{To: t.TempDir()}
	r = w.resolve(nil, names...)
	if m := w.found(r, "one"); m.ID != string(a3) || m.Via.Commit != string(p4) {
		t.Errorf("%+v", m)
	}
	lock, err := r.Lock(t.Context(), "one")
	if err != nil || lock.Commit != string(a3) || lock.Via.URL != "../moved.git" {
		t.Errorf("%+v %v", lock, err)
	}
	target, err := r.Target("one")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := target.History(t.Context(), a1); err != nil {
		t.Fatal(err)
	}
	blob := git.ID(one.Git("rev-parse", string(a2)+":a"))
	if err := target.EnsureFiles(t.Context(), []git.Entry{{Mode: git.ModeFile, Path: "a", ID: blob}}); err != nil {
		t.Error(err)
	}
	// The integration repository is rewritten: what was seen there is gone.
	whole.Commit("main", "root", gittest.Files{"version.json": `{"v": "5"}`}, gittest.Onto())
	var left *LeftBranch
	if err := w.resolve(to, names...).Member("one").Err; !errors.As(err, &left) || left.Commit != p2 {
		t.Errorf("%v", err)
	}
}

// Of kinds that only know their newest version, an earlier one cannot be had.
func TestResolveWhatOnlyHasANewest(t *testing.T) {
	t.Parallel()
	whole := gittest.New(t)
	whole.Commit("main", "1", gittest.Files{"version.json": `{"v": "1"}`})
	w := newWorld(t)
	w.serve("whole", whole, gittest.ServerOptions{})
	w.write("number.yaml", "name: number\nwhat: a test\nlicense: MIT\nuse: build-tool\ntrack: {kind: field, of: 'https://up.example/whole.git', branch: main, path: version.json, key: v}\nlock: {version: '1'}\n")
	whole.Commit("main", "2", gittest.Files{"version.json": `{"v": "2"}`})
	to := wantedOf(w.resolve(nil, "number"))
	if m := w.found(w.resolve(to, "number"), "number"); m.ID != "2" {
		t.Errorf("%+v", m)
	}
	whole.Commit("main", "3", gittest.Files{"version.json": `{"v": "3"}`})
	var gone *NotAnyMore
	if err := w.resolve(to, "number").Members[0].Err; !errors.As(err, &gone) || verdict.Of(err) != verdict.Held || gone.Wanted != "2" || gone.Now != "3" {
		t.Errorf("%v", err)
	}
}

// A machine without network works on copies of the repositories, partial or
// shallow as they are.
func TestCopyRepositories(t *testing.T) {
	t.Parallel()
	up := gittest.New(t)
	first := up.Commit("main", "one", gittest.Files{"a": "one", "big": "weights"})
	w := newWorld(t)
	w.serve("x", up, gittest.ServerOptions{})
	w.serve("y", up, gittest.ServerOptions{})
	const exclude = "exclude:\n  - {path: big, why: weights}\n"
	w.pin("x", followMain+exclude)
	w.pin("y", followMain+"stack: y\n"+exclude)
	second := up.Commit("main", "two", gittest.Files{"a": "two"})
	w.must("x")
	w.must("y")
	set := w.load()
	cache := filepath.Join(t.TempDir(), "cache")
	if err := w.e.CopyRepositories(t.Context(), set.Pins, cache); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(w.e.CacheDir, w.e.CacheDir+".away"); err != nil {
		t.Fatal(err)
	}
	empty, err := store.Open(filepath.Join(t.TempDir(), "store"))
	if err != nil {
		t.Fatal(err)
	}
	off := &Engine{Set: set, Store: empty, CacheDir: cache, Offline: true}
	for _, p := range set.Pins {
		entries, err := off.Content(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(entries[0].Path + "/big"); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: what is excluded is there: %v", p.Name, err)
		}
	}
	repo, err := off.Repository(t.Context(), "y")
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := repo.IsAncestor(t.Context(), first, second); !ok || err != nil {
		t.Errorf("%v %v", ok, err)
	}
	// What is left out is not asked for.
	if err := off.EnsureBlobs(t.Context(), "y", []git.ID{first}, []string{"a"}); verdict.Of(err) != verdict.Infra || !strings.Contains(err.Error(), "--offline") {
		t.Errorf("%v", err)
	}
}

// An image's tag that is a version can be taken later, as long as it is where
// it was.
func TestResolveAnEarlierImage(t *testing.T) {
	t.Parallel()
	e, host := newRegistry(t, nil)
	push := func(tag string) string { return pushImage(t, host+"/base:"+tag, randomImage(t)) }
	push("v1.0.0")
	p := imagePin(pins.Track{Schemes: []pins.Scheme{{Pattern: "v{semver}"}}})
	locked(t, e, p)
	e.Set = &pins.Set{Pins: []*pins.Pin{p}}
	second := push("v2.0.0")
	to := wantedOf(e.Resolve(t.Context(), []*pins.Pin{p}, nil))
	push("v3.0.0")
	r := e.Resolve(t.Context(), []*pins.Pin{p}, to)
	if m := r.Members[0]; m.Err != nil || m.ID != second || m.Version != "v2.0.0" {
		t.Errorf("%+v", m)
	}
	if l, err := r.Lock(t.Context(), "base"); err != nil || l.Digest != second {
		t.Errorf("%+v %v", l, err)
	}
	push("v2.0.0")
	var gone *NotAnyMore
	if err := e.Resolve(t.Context(), []*pins.Pin{p}, to).Members[0].Err; !errors.As(err, &gone) {
		t.Errorf("%v", err)
	}
}

// Copies have the submodules too: a build looks into them offline.
func TestCopyRepositoriesOfSubmodules(t *testing.T) {
	t.Parallel()
	sub, up := gittest.New(t), gittest.New(t)
	s := sub.Commit("main", "sub", gittest.Files{"s": "s"})
	up.Commit("main", "one", modules("sub", "../sub.git"), gittest.Submodule("sub", s))
	w := newWorld(t)
	w.local("x", up)
	w.local("sub", sub)
	w.pin("x", followMain)
	w.must("x")
	p := w.get("x")
	cache := filepath.Join(t.TempDir(), "cache")
	if err := w.e.CopyRepositories(t.Context(), []*pins.Pin{p, p}, cache); err != nil {
		t.Fatal(err)
	}
	off := &Engine{Set: w.e.Set, Store: w.e.Store, CacheDir: cache, Offline: true}
	if list, undeclared, err := off.Downloads(t.Context(), p); err != nil || len(list) != 1 || undeclared.Err() != nil {
		t.Errorf("%+v %+v %v", list, undeclared, err)
	}
}
