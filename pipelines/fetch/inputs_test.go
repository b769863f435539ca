// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// withSource returns an engine and a pin whose source has these files, locked.
func withSource(t *testing.T, s *site, files gittest.Files) (*Engine, *pins.Pin) {
	t.Helper()
	e := newKinds(t, s, "files.example")
	repo := gittest.New(t)
	repo.Commit("main", "source", files)
	e.Mirrors.URLs["https://up.example/"] = Mirror{To: gittest.Serve(t, filepath.Dir(repo.Dir()), gittest.ServerOptions{}).URL + "/"}
	p := &pins.Pin{Name: "repo", Upstream: "https://up.example/repo.git", Track: pins.Track{Kind: pins.GitBranch, Branch: "main"}}
	locked(t, e, p)
	return e, p
}

// lockedInputs locks inputs, then takes them from the store alone.
func lockedInputs(t *testing.T, e *Engine, p *pins.Pin, inputs ...pins.Input) []string {
	t.Helper()
	p.Lock.Inputs = inputs
	got, entries, err := e.LockInputs(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	p.Lock.Inputs = got
	off := *e
	off.Offline = true
	again, err := off.FetchInputs(t.Context(), p)
	if err != nil || len(again) != len(entries) {
		t.Fatalf("from the store: %d, %v", len(again), err)
	}
	var paths []string
	for _, x := range again {
		paths = append(paths, x.Path)
	}
	return paths
}

func TestInputFileGitAndUnused(t *testing.T) {
	s := newSite(t)
	cmake := "file(DOWNLOAD https://files.example/d.bin)\n"
	e, p := withSource(t, s, gittest.Files{"CMakeLists.txt": cmake})
	s.put("/files.example/d.bin", "data")
	other := gittest.New(t)
	id := other.Commit("main", "json", gittest.Files{"json.hpp": "// json\n"})
	e.Mirrors.URLs["https://dep.example/json.git"] = Mirror{To: gittest.Serve(t, filepath.Dir(other.Dir()), gittest.ServerOptions{}).URL + "/repo.git"}
	file := pins.Input{Name: "d", Kind: pins.InputFile, DeclaredIn: "CMakeLists.txt", URL: "https://files.example/d.bin", SHA256: sha("data")}
	git := pins.Input{Name: "json", Kind: pins.InputGit, DeclaredIn: "CMakeLists.txt", URL: "https://dep.example/json.git", Commit: string(id)}
	unused := pins.Input{Name: "docs", Kind: pins.InputUnused, DeclaredIn: "CMakeLists.txt", SHA256: sha(cmake), Why: "no docs are built"}
	paths := lockedInputs(t, e, p, file, git, unused)
	if got, _ := os.ReadFile(filepath.Join(paths[1], "json.hpp")); len(paths) != 2 || string(got) != "// json\n" {
		t.Errorf("%q, %q", paths, got)
	}
	if in := p.Lock.Inputs; in[0].Size != 4 || !strings.HasPrefix(in[1].Sum, "t1:") {
		t.Errorf("%+v", in)
	}
	before := stored(t, e)
	for name, tt := range map[string]struct {
		in    pins.Input
		words []string
	}{
		"declaring file changed": {pins.Input{Name: "docs", Kind: pins.InputUnused, DeclaredIn: "CMakeLists.txt", SHA256: sha("old"), Why: "w"}, []string{"input docs", "CMakeLists.txt", sha(cmake)}},
		"declaring file gone":    {pins.Input{Name: "docs", Kind: pins.InputUnused, DeclaredIn: "gone.cmake", SHA256: sha("old"), Why: "w"}, []string{"gone.cmake"}},
		"link out":               {pins.Input{Name: "docs", Kind: pins.InputUnused, DeclaredIn: "../x", SHA256: sha("old"), Why: "w"}, []string{"input docs"}},
		"other file":             {pins.Input{Name: "d", Kind: pins.InputFile, DeclaredIn: "CMakeLists.txt", URL: "https://files.example/d.bin", SHA256: sha("x")}, []string{"input d", sha("data")}},
		"other tree":             {pins.Input{Name: "json", Kind: pins.InputGit, DeclaredIn: "CMakeLists.txt", URL: git.URL, Commit: git.Commit, Sum: "t1:" + strings.Repeat("A", 43) + "="}, []string{"input json", "t1:"}},
	} {
		p.Lock.Inputs = []pins.Input{tt.in}
		_, _, err := e.LockInputs(t.Context(), p)
		t.Run(name, func(t *testing.T) { wantError(t, err, verdict.Fail, tt.words...) })
	}
	if now := stored(t, e); now != before {
		t.Errorf("%d entries became %d", before, now)
	}
}

// tarGz packs files, name and content in turn.
func tarGz(t *testing.T, files ...string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for i := 0; i < len(files); i += 2 {
		if err := w.WriteHeader(&tar.Header{Name: files[i], Mode: 0o644, Size: int64(len(files[i+1])), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		w.Write([]byte(files[i+1]))
	}
	w.Close()
	z.Close()
	return b.String()
}

func TestInputCargoVendor(t *testing.T) {
	const registry = "registry+https://github.com/rust-lang/crates.io-index"
	s := newSite(t)
	good := tarGz(t, "memchr-2.7.1/Cargo.toml", "[package]\n", "memchr-2.7.1/src/lib.rs", "")
	climbing := tarGz(t, "other-9/src/lib.rs", "evil")
	lock := func(name, version, source, content string) string {
		return fmt.Sprintf("version = 4\n[[package]]\nname = \"ours\"\nversion = \"0.1.0\"\n[[package]]\nname = %q\nversion = %q\nsource = %q\nchecksum = %q\n", name, version, source, sha(content))
	}
	e, p := withSource(t, s, gittest.Files{
		"Cargo.lock": lock("memchr", "2.7.1", registry, good),
		"git.lock":   lock("memchr", "2.7.1", "git+https://x.example/a?rev=1#1", good),
		"evil.lock":  lock("evil", "1.0.0", registry, climbing),
		"path.lock":  lock("../x", "1.0.0", registry, good),
		"bad.lock":   "[[package",
	})
	input := func(file string) pins.Input {
		return pins.Input{Name: "crates", Kind: pins.InputCargoVendor, DeclaredIn: file}
	}
	t.Setenv("CARGO_HOME", t.TempDir())
	p.Lock.Inputs = []pins.Input{input("Cargo.lock")}
	_, _, err := e.LockInputs(t.Context(), p)
	wantError(t, err, verdict.Infra, "crates:", "mirrors file")
	config := fmt.Sprintf("[source.crates-io]\nreplace-with = \"near\"\n[source.near]\nregistry = \"sparse+%s/index/\"\n", s.URL)
	if err := os.WriteFile(filepath.Join(os.Getenv("CARGO_HOME"), "config.toml"), []byte(config), 0o666); err != nil {
		t.Fatal(err)
	}
	s.put("/index/config.json", `{"dl":"`+s.URL+`/dl/{prefix}/{crate}/{crate}-{version}.crate"}`)
	s.put("/dl/me/mc/memchr/memchr-2.7.1.crate", good)
	s.put("/dl/ev/il/evil/evil-1.0.0.crate", climbing)
	dir := lockedInputs(t, e, p, input("Cargo.lock"))[0]
	for name, want := range map[string]string{"Cargo.toml": "[package]\n", ".cargo-checksum.json": sha(good)} {
		if got, err := os.ReadFile(filepath.Join(dir, "memchr-2.7.1", name)); !strings.Contains(string(got), want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for file, word := range map[string]string{"git.lock": "git", "evil.lock": "evil", "path.lock": "../x", "bad.lock": "bad.lock"} {
		p.Lock.Inputs = []pins.Input{input(file)}
		_, _, err := e.LockInputs(t.Context(), p)
		wantError(t, err, verdict.Fail, word)
	}
	s.put("/dl/me/mc/memchr/memchr-2.7.1.crate", good+"x")
	fresh, q := withSource(t, s, gittest.Files{"Cargo.lock": lock("memchr", "2.7.1", registry, good)})
	fresh.Mirrors.Crates = s.URL + "/index"
	q.Lock.Inputs = []pins.Input{input("Cargo.lock")}
	_, _, err = fresh.LockInputs(t.Context(), q)
	wantError(t, err, verdict.Fail, "crate memchr 2.7.1", sha(good))
}

func TestInputNPM(t *testing.T) {
	s := newSite(t)
	sri := func(content string) string {
		sum := sha512.Sum512([]byte(content))
		return "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
	}
	lock := func(name, fields string) string {
		return `{"lockfileVersion":3,"packages":{"":{"name":"ours","version":"1.0.0"},"packages/web":{"version":"1.0.0"},"node_modules/web":{"resolved":"packages/web","link":true},"node_modules/` + name + `":{` + fields + `}}}`
	}
	e, p := withSource(t, s, gittest.Files{
		"package-lock.json": lock("@vue/core", `"version":"3.1.0","resolved":"https://registry.example/@vue/core/-/core-3.1.0.tgz","integrity":"sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk= `+sri("tgz")+`"`),
		"sha1.json":         lock("a", `"version":"1.0.0","integrity":"sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk="`),
		"git.json":          lock("a", `"version":"1.0.0","resolved":"git+ssh://git@x.example/a.git#1"`),
		"path.json":         lock("a", `"version":"../../1","integrity":"`+sri("x")+`"`),
		"other.json":        lock("b", `"version":"1.0.0","integrity":"`+sri("right")+`"`),
	})
	e.npm = s.URL + "/npm"
	s.put("/npm/@vue/core/-/core-3.1.0.tgz", "tgz")
	s.put("/npm/b/-/b-1.0.0.tgz", "wrong")
	input := func(file string) pins.Input {
		return pins.Input{Name: "web", Kind: pins.InputNPM, DeclaredIn: file}
	}
	dir := lockedInputs(t, e, p, input("package-lock.json"))[0]
	sum := sha512.Sum512([]byte("tgz"))
	id := fmt.Sprintf("%x", sum)
	if got, err := os.ReadFile(filepath.Join(dir, "_cacache", "content-v2", "sha512", id[:2], id[2:4], id[4:])); string(got) != "tgz" {
		t.Errorf("%q, %v", got, err)
	}
	for file, word := range map[string]string{"sha1.json": "no integrity", "git.json": "git", "path.json": "path.json", "other.json": "package b 1.0.0"} {
		p.Lock.Inputs = []pins.Input{input(file)}
		_, _, err := e.LockInputs(t.Context(), p)
		wantError(t, err, verdict.Fail, word)
	}
}

func TestManual(t *testing.T) {
	s := newSite(t)
	e := newKinds(t, s, "files.example")
	p := &pins.Pin{Name: "by-hand", Track: pins.Track{Kind: pins.Manual, Reason: "no site lists it"}}
	_, err := update(t, e, p)
	wantError(t, err, verdict.Skipped, "no site lists it")
	p.Lock = &pins.Lock{Version: "1", Files: []pins.File{{Name: "a", URL: "https://files.example/a", SHA256: sha("a"), Size: 1}}}
	s.put("/files.example/a", "a")
	if entries := locked(t, e, p); len(entries) != 1 {
		t.Error(entries)
	}
	p.Lock.Files[0].SHA256 = sha("b")
	_, err = update(t, e, p)
	wantError(t, err, verdict.Fail, sha("b"))
	s.answer("/files.example/a", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(403) })
	_, err = update(t, e, p)
	wantError(t, err, verdict.Infra, "403")
}

// A bump takes the inputs of the new source, and all of them or none.
func TestUpdateLocksInputs(t *testing.T) {
	w := newWorld(t)
	s := newSite(t)
	e := newKinds(t, s)
	w.e.HTTP, w.e.npm = e.HTTP, s.URL
	lock := func(content string) string {
		sum := sha512.Sum512([]byte(content))
		return `{"lockfileVersion":3,"packages":{"node_modules/a":{"version":"1.0.0","resolved":"https://r.example/a/-/a-1.0.0.tgz","integrity":"sha512-` + base64.StdEncoding.EncodeToString(sum[:]) + `"}}}`
	}
	repo := gittest.New(t)
	first := repo.Commit("main", "one", gittest.Files{"package-lock.json": lock("one")})
	w.e.Mirrors.URLs["https://up.example/"] = Mirror{To: gittest.Serve(t, filepath.Dir(repo.Dir()), gittest.ServerOptions{}).URL + "/"}
	w.pin("repo", "track:\n  kind: git-branch\n  branch: main\nlock:\n  commit: "+string(first)+"\n  inputs:\n    - {name: web, kind: npm, declared-in: package-lock.json}\n")
	s.put("/a/-/a-1.0.0.tgz", "one")
	sum := func() (string, error) {
		set, err := pins.Load(w.pins)
		if err != nil {
			t.Fatal(err)
		}
		w.e.Set = set
		rows, err := w.e.Update(t.Context(), set.Pins, UpdateOptions{PinsDir: w.pins})
		if err == nil && rows[0].Verdict != verdict.Pass {
			err = fmt.Errorf("%s", rows[0].Why)
		}
		set, _ = pins.Load(w.pins)
		return set.Pins[0].Lock.Inputs[0].Sum, err
	}
	one, err := sum()
	if err != nil || !strings.HasPrefix(one, "t1:") {
		t.Fatalf("%q, %v", one, err)
	}
	repo.Commit("main", "two", gittest.Files{"package-lock.json": lock("two")})
	if kept, err := sum(); err == nil || kept != one {
		t.Errorf("with a wrong package: %q, %v", kept, err)
	}
	s.put("/a/-/a-1.0.0.tgz", "two")
	if two, err := sum(); err != nil || two == one {
		t.Errorf("%q, %v", two, err)
	}
}
