// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package proposal

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/treesum"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/patches"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/check"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
	"github.com/1bit-MONSTER/engine/pipelines/round"
	"github.com/1bit-MONSTER/engine/pipelines/round/gate"
)

// A world is two upstreams, of which we patch the first, and our repository
// with a pin of each: demo and tool, the group pair.
type world struct {
	t          *testing.T
	demo, tool *gittest.Repo
	base       map[string]git.ID // of both, on main
	ours       *gittest.Repo
	main       git.ID
	engine     *fetch.Engine
	folder     round.Folder
	digest     string
	gates      []string
	results    []gate.Result
	repo       *git.Repo // where the gates run; nil: ours
}

func lines(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

var files = gittest.Files{"a.c": lines(1, 60), "b.c": "int b;\n", "LICENSE": "the terms\n"}

// with changes one line of a.c.
func with(text string, changes ...string) string {
	return strings.NewReplacer(changes...).Replace(text)
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, demo: gittest.New(t), tool: gittest.New(t), base: map[string]git.ID{}, folder: round.Folder(t.TempDir()),
		gates: []string{"pins", "stack", "build"}}
	w.base["demo"] = w.demo.Commit("main", "base", files)
	w.base["tool"] = w.tool.Commit("main", "base", gittest.Files{"x": "1\n"})
	w.demo.Move("ours", w.base["demo"])
	const status = "\n\nUpstream-Status: pending\n"
	a := with(files["a.c"], "line 5\n", "line five\n")
	w.demo.Commit("ours", "First change"+status, gittest.Files{"a.c": a})
	w.demo.Commit("ours", "Second change"+status, gittest.Files{"b.c": "int b = 1;\n"})
	w.demo.Commit("ours", "Third change"+status, gittest.Files{"a.c": with(a, "line 30\n", "line thirty\n")})
	w.makeOurs()
	cache := t.TempDir()
	for name, r := range map[string]*gittest.Repo{"demo": w.demo, "tool": w.tool} {
		if err := os.MkdirAll(cache+"/git", 0o755); err != nil {
			t.Fatal(err)
		}
		// What the phase before hands on is a copy; here it is the thing itself.
		if err := os.Symlink(r.Dir(), cache+"/git/"+name+".git"); err != nil {
			t.Fatal(err)
		}
	}
	s, err := store.Open(cache + "/store")
	if err != nil {
		t.Fatal(err)
	}
	w.engine = &fetch.Engine{Store: s, CacheDir: cache, Offline: true}
	return w
}

func (w *world) fatal(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) lock(r *gittest.Repo, id git.ID, version string) *pins.Lock {
	w.t.Helper()
	tree := r.Tree(id)
	sum, err := treesum.FromGit(w.t.Context(), r.Repo, tree, treesum.Options{})
	w.fatal(err)
	return &pins.Lock{Version: version, Commit: string(id), Tree: string(tree), Sum: sum.Sum, Date: gittest.Epoch}
}

// makeOurs makes our repository, with the stack of demo's branch ours.
func (w *world) makeOurs() {
	w.t.Helper()
	root := w.t.TempDir()
	put := func(name, text string) {
		w.fatal(os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755))
		w.fatal(os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
	}
	put("pins/groups.yaml", "- {name: pair, members: [demo, tool], order: 1, split: allowed}\n")
	for name, rest := range map[string]string{
		"demo": "use: child\ntrack: {kind: git-tag, schemes: [{pattern: 'b{build}'}]}\nstack: demo # ours\n",
		"tool": "use: build-tool\ntrack: {kind: git-branch, branch: main}\n",
	} {
		put("pins/"+name+".yaml", fmt.Sprintf("# the pin %s\nname: %s\nwhat: a test\nupstream: https://github.com/up/%s.git\nlicense: MIT\n%s", name, name, name, rest))
	}
	for name, r := range map[string]*gittest.Repo{"demo": w.demo, "tool": w.tool} {
		version := ""
		if name == "demo" {
			version = "b100"
		}
		_, err := pins.Edit(root+"/pins", name, func(file []byte) ([]byte, error) {
			return pins.WriteLock(file, *w.lock(r, w.base[name], version))
		})
		w.fatal(err)
	}
	r, err := patches.OpenToWrite(w.t.Context(), root)
	w.fatal(err)
	_, err = r.Import(w.t.Context(), "demo", patches.From{Where: w.demo.Dir(), Branch: "ours"})
	w.fatal(err)
	w.fatal(r.Close())
	set, err := pins.Load(root + "/pins")
	w.fatal(err)
	put("NOTICE", string(check.Notice(check.Pinned(set))))
	put("README.md", "ours\n")
	put("patches/.gitignore", ".lock\n")
	tree := gittest.Files{}
	w.fatal(filepath.Walk(root, func(name string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() || info.Name() == ".lock" {
			return err
		}
		data, err := os.ReadFile(name)
		rel, _ := filepath.Rel(root, name)
		tree[filepath.ToSlash(rel)] = string(data)
		return err
	}))
	tree[".ci/run"] = "#!/bin/sh\nexit 0\n"
	w.ours = gittest.New(w.t)
	w.main = w.ours.Commit("main", "all of it", tree, gittest.Exec(".ci/run"), gittest.Symlink("link", "README.md"))
}

var at = time.Date(2026, 11, 2, 3, 4, 5, 0, time.UTC)

// round makes a round of group pair: where each of its pins goes.
func (w *world) round(demo, tool git.ID) *round.Round {
	w.t.Helper()
	r := &round.Round{Schema: round.Schema, Group: "pair", Night: "n1", Mode: round.DryRun, At: at, Try: 1, Base: w.main}
	for _, x := range []struct {
		name, from, version string
		repo                *gittest.Repo
		to                  git.ID
	}{{"demo", "b100", "b101", w.demo, demo}, {"tool", "", "", w.tool, tool}} {
		m := round.Member{Pin: x.name, From: round.Version{ID: string(w.base[x.name]), Name: x.from}, Seen: at}
		m.To = m.From
		if x.name == "demo" {
			m.Stack, m.Ours = "demo", "a sum"
		}
		if x.to != "" && x.to != w.base[x.name] {
			m.To = round.Version{ID: string(x.to), Name: x.version}
			m.Lock = w.lock(x.repo, x.to, x.version)
		}
		r.Members = append(r.Members, m)
	}
	r.ID = r.Identify()
	return r
}

func (w *world) prepare(r *round.Round) *Prepared {
	w.t.Helper()
	p, err := Prepare(w.t.Context(), PrepareOptions{Repo: w.ours.Repo, Round: r, Engine: w.engine, Scratch: filepath.Join(w.t.TempDir(), "scratch")})
	w.fatal(err)
	return p
}

// passes are results of all gates.
func (w *world) passes() []gate.Result {
	var list []gate.Result
	for _, name := range w.gates {
		list = append(list, gate.Result{Gate: name, Verdict: verdict.Pass, Begin: at, Seconds: 1.5, Log: "logs/" + name + ".txt"})
	}
	return list
}

// make hands a round on: the folder has all of it.
func (w *world) make(r *round.Round, results []gate.Result) *Proposal {
	w.t.Helper()
	data, err := encode(r)
	w.fatal(err)
	w.fatal(os.WriteFile(w.folder.Round(), data, 0o644))
	w.digest = RoundDigest(data)
	w.results = results
	repo := w.repo
	if repo == nil {
		repo = w.ours.Repo
	}
	x, err := Prepare(w.t.Context(), PrepareOptions{Repo: repo, Round: r, Engine: w.engine, Scratch: filepath.Join(w.t.TempDir(), "scratch")})
	w.fatal(err)
	p, err := Make(w.t.Context(), MakeOptions{Repo: repo, Prepared: x, Results: results, Folder: w.folder})
	w.fatal(err)
	w.fatal(x.Close())
	return p
}

// clone is our repository as the next phase has it: one branch, one commit.
func (w *world) clone() *git.Repo {
	w.t.Helper()
	dir := filepath.Join(w.t.TempDir(), "clone")
	c := git.Command("", "-c", "protocol.file.allow=always", "clone", "--quiet", "--single-branch", "--depth=1", "file://"+w.ours.Dir(), dir)
	if _, err := c.Run(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	repo, err := git.Open(w.t.Context(), dir)
	w.fatal(err)
	if !repo.Shallow() {
		w.t.Fatal("the clone has all history")
	}
	return repo
}

func (w *world) verify(repo *git.Repo) (*Verified, error) {
	return Verify(w.t.Context(), VerifyOptions{Repo: repo, Folder: w.folder, Digest: w.digest, Gates: w.gates})
}

// show is a file of a commit of ours.
func (w *world) show(id git.ID, name string) string {
	w.t.Helper()
	return w.ours.Git("show", string(id)+":"+name)
}
