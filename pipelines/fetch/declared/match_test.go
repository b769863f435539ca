// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package declared

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/1bit-MONSTER/engine/pins"
)

func TestMatch(t *testing.T) {
	const (
		idA  = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		idB  = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
		cm   = "CMakeLists.txt"
		base = "https://x.example/"
	)
	sumA, sumB := strings.Repeat("a", 64), strings.Repeat("b", 64)
	git := func(rev string) Declared {
		return Declared{File: cm, Line: 3, Kind: FetchContent, Scope: ScopeBuild, Name: "dep", URL: base + "dep.git", Rev: rev, Command: "FetchContent_Declare", SHA256: sumA}
	}
	archive := func(url, hash string) Declared {
		return Declared{File: cm, Line: 4, Kind: FileDownload, Scope: ScopeBuild, Name: "a.tgz", URL: url, Hash: hash, Command: "file(DOWNLOAD)", SHA256: sumA}
	}
	lock := func(file string, kind Kind) Declared {
		return Declared{File: file, Line: 1, Kind: kind, Scope: ScopeBuild, Name: file, Count: 3, SHA256: sumA}
	}
	command := func(c, name string) Declared {
		return Declared{File: cm, Line: 9, Kind: Script, Scope: ScopeBuild, Command: c, Name: name, SHA256: sumA}
	}
	unused := func(file, url, sum string) pins.Input {
		return pins.Input{Name: "n", Kind: pins.InputUnused, DeclaredIn: file, URL: url, SHA256: sum, Why: "not built"}
	}
	inGit := func(url, commit, rev string) pins.Input {
		return pins.Input{Name: "n", Kind: pins.InputGit, DeclaredIn: cm, URL: url, Commit: commit, Rev: rev}
	}
	inFile := func(url, sum string) pins.Input {
		return pins.Input{Name: "n", Kind: pins.InputFile, DeclaredIn: cm, URL: url, SHA256: sum}
	}
	in := func(kind pins.InputKind, file string) pins.Input {
		return pins.Input{Name: "n", Kind: kind, DeclaredIn: file}
	}
	tests := Declared{File: "tests/x.sh", Line: 1, Kind: Script, Scope: ScopeTests, URL: base}
	module := Declared{File: ".gitmodules", Line: 1, Kind: Submodule, Scope: ScopeBuild, Name: "sub", URL: base + "sub", Rev: idA}
	for _, c := range []struct {
		name    string
		d       Declared
		in      *pins.Input
		modules []pins.Submodule
		want    Reason // "" is covered
		stale   bool
	}{
		{name: "nothing listed", d: git(idA), want: Unlisted},
		{name: "not red", d: tests},
		{name: "git commit", d: git(idA), in: new(inGit(base+"dep", idA, ""))},
		{name: "git other commit", d: git(idB), in: new(inGit(base+"dep", idA, "")), want: Differs},
		{name: "git tag", d: git("v2"), in: new(inGit(base+"dep.git", idA, "v2"))},
		{name: "git tag that was bumped", d: git("v2"), in: new(inGit(base+"dep.git", idA, "v1")), want: Differs},
		{name: "git tag, input without one", d: git("v2"), in: new(inGit(base+"dep.git", idA, "")), want: Differs},
		{name: "git other repository", d: git(idA), in: new(inGit(base+"other", idA, "")), want: Unlisted},
		{name: "git host in capitals", d: git(idA), in: new(inGit("https://X.example/dep/", idA, ""))},
		{name: "git path in capitals", d: git(idA), in: new(inGit(base+"DEP", idA, "")), want: Unlisted},
		{name: "file", d: archive(base+"a.tgz", "SHA256="+sumB), in: new(inFile(base+"a.tgz", sumB))},
		{name: "file sum in capitals", d: archive(base+"a.tgz", "sha256="+strings.ToUpper(sumB)), in: new(inFile(base+"a.tgz", sumB))},
		{name: "file of another sum", d: archive(base+"a.tgz", "SHA256="+sumA), in: new(inFile(base+"a.tgz", sumB)), want: Differs},
		{name: "file with md5", d: archive(base+"a.tgz", "MD5=0123"), in: new(inFile(base+"a.tgz", sumB))},
		{name: "file elsewhere", d: archive(base+"b.tgz", ""), in: new(inFile(base+"a.tgz", sumB)), want: Unlisted},
		{name: "file with a variable", d: archive(base+"${V}/a-${V}.tgz", ""), in: new(inFile(base+"v1/a-1.tgz", sumB))},
		{name: "file with a variable, other end", d: archive(base+"${V}/a.tgz", ""), in: new(inFile(base+"v1/b.tgz", sumB)), want: Unlisted},
		{name: "only variables", d: archive("${BASE}/${A}", ""), in: new(inFile(base+"a/b", sumB)), want: Unlisted},
		{name: "unused file", d: archive(base+"a.tgz", ""), in: new(unused(cm, "", sumA))},
		{name: "unused address", d: archive(base+"a.tgz", ""), in: new(unused(cm, base+"a.tgz", sumA))},
		{name: "unused other address", d: archive(base+"a.tgz", ""), in: new(unused(cm, base+"b.tgz", sumA)), want: Unlisted, stale: true},
		{name: "unused, file changed", d: archive(base+"a.tgz", ""), in: new(unused(cm, "", sumB)), want: Changed},
		{name: "unused, file declares nothing", d: tests, in: new(unused("gone.cmake", "", sumB)), stale: true},
		{name: "unused for what is not red", d: tests, in: new(unused("tests/x.sh", "", "")), want: ""},
		{name: "cargo lock", d: lock("Cargo.lock", CargoLock), in: new(in(pins.InputCargoVendor, "Cargo.lock"))},
		{name: "cargo manifest below", d: lock("crates/a/Cargo.toml", CargoGit), in: new(in(pins.InputCargoVendor, "Cargo.lock"))},
		{name: "another lock below", d: lock("crates/a/Cargo.lock", CargoLock), in: new(in(pins.InputCargoVendor, "Cargo.lock")), want: Unlisted},
		{name: "cargo lock beside", d: lock("b/Cargo.lock", CargoLock), in: new(in(pins.InputCargoVendor, "a/Cargo.lock")), want: Unlisted},
		{name: "lock of another state", d: lock("Cargo.lock", CargoLock), in: new(pins.Input{Name: "n", Kind: pins.InputCargoVendor, DeclaredIn: "Cargo.lock", SHA256: sumB}), want: Differs},
		{name: "npm", d: lock("ui/package-lock.json", NPM), in: new(in(pins.InputNPM, "ui/package-lock.json"))},
		{name: "npm is not cargo", d: lock("package-lock.json", NPM), in: new(in(pins.InputCargoVendor, "package-lock.json")), want: Unlisted},
		{name: "npm ci", d: command("npm ci", ""), in: new(in(pins.InputNPM, "ui/package-lock.json"))},
		{name: "npm install of something", d: command("npm install", "left-pad"), in: new(in(pins.InputNPM, "ui/package-lock.json")), want: Unlisted},
		{name: "go", d: lock("go.mod", GoModules), in: new(in(pins.InputGoModules, "go.mod"))},
		{name: "submodule", d: module, modules: []pins.Submodule{{Path: "sub", Commit: idA}}},
		{name: "submodule that moved", d: module, modules: []pins.Submodule{{Path: "sub", Commit: idB}}, want: Unlisted},
	} {
		t.Run(c.name, func(t *testing.T) {
			var inputs []pins.Input
			if c.in != nil {
				inputs = append(inputs, *c.in)
			}
			r := Match([]Declared{c.d}, inputs, c.modules)
			switch {
			case c.want == "" && len(r.Uncovered) > 0:
				t.Errorf("uncovered: %s", r.Uncovered[0].Sentence())
			case c.want != "" && (len(r.Uncovered) != 1 || r.Uncovered[0].Reason != c.want):
				t.Errorf("%+v, want %s", r.Uncovered, c.want)
			}
			if (len(r.Stale) > 0) != c.stale {
				t.Errorf("stale: %+v", r.Stale)
			}
			var e *Error
			if got := errors.As(r.Err(), &e); got != (c.want != "") {
				t.Errorf("error: %v", r.Err())
			}
		})
	}
}

func TestSentences(t *testing.T) {
	sum := strings.Repeat("a", 64)
	d := Declared{File: "CMakeLists.txt", Line: 3, Kind: FetchContent, Scope: ScopeBuild, Name: "dep", URL: "https://x.example/\x1b[31m\u202edep", Rev: "v2", Command: "FetchContent_Declare", SHA256: sum}
	for _, c := range []struct {
		name string
		u    Uncovered
		want string
	}{
		{"unlisted", Uncovered{Declared: d, Reason: Unlisted}, "is in no input of the pin; list it in inputs, or as unused with the reason and the file's sha256 " + sum},
		{"changed", Uncovered{Declared: d, Reason: Changed, Input: "n", Detail: "now sha256 x"}, "the input n says unused, but the file has changed since (now sha256 x); look again"},
		{"differs", Uncovered{Declared: d, Reason: Differs, Input: "n", Detail: "the file asks for v2"}, "the input n is for something else: the file asks for v2; lock it again"},
	} {
		got := c.u.Sentence()
		if !strings.HasPrefix(got, "CMakeLists.txt:3: FetchContent_Declare dep https://x.example/") || !strings.Contains(got, c.want) || strings.ContainsAny(got, "\x1b\u202e\n") {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

func TestRender(t *testing.T) {
	list := detectOne(t, "CMakeLists.txt", "file(DOWNLOAD https://x.example/a.tgz a EXPECTED_HASH SHA256=abcd)")
	var text, js strings.Builder
	if err := errors.Join(WriteText(&text, list), WriteJSON(&js, list)); err != nil {
		t.Fatal(err)
	}
	want := "! CMakeLists.txt:1  build  cmake-download  file(DOWNLOAD)  a.tgz  https://x.example/a.tgz  SHA256=abcd\n1 downloads are declared, 1 of them where a build may reach them (!)\n"
	if diff := cmp.Diff(want, text.String()); diff != "" {
		t.Error(diff)
	}
	for _, part := range []string{`"file": "CMakeLists.txt"`, `"line": 1`, `"kind": "cmake-download"`, `"scope": "build"`, `"url": "https://x.example/a.tgz"`, `"hash": "SHA256=abcd"`} {
		if !strings.Contains(js.String(), part) {
			t.Errorf("no %s in %s", part, js.String())
		}
	}
	js.Reset()
	if err := WriteJSON(&js, nil); err != nil || js.String() != "[]\n" {
		t.Errorf("nothing is %q, %v", js.String(), err)
	}
}
