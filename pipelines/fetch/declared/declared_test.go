// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package declared

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// Each archive in testdata is a tree; its file WANT lists what Detect finds:
// mark, place, kind, command, name, address, version, hash, count, problem.
func TestDetect(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			tree := memTree{}
			want := -1
			for i, f := range a.Files {
				if f.Name == "WANT" {
					want = i
					continue
				}
				e := memFile{mode: "100644", data: f.Data}
				if id, ok := strings.CutPrefix(string(f.Data), "gitlink "); ok {
					e = memFile{mode: "160000", id: strings.TrimSpace(id)}
				} else if bytes.HasPrefix(f.Data, []byte("#!")) {
					e.mode = "100755"
				}
				tree[f.Name] = e
			}
			if want < 0 {
				t.Fatal("the archive has no file WANT")
			}
			list, err := Detect(tree)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for _, d := range list {
				got.WriteString(line(d) + "\n")
			}
			if diff := cmp.Diff(string(a.Files[want].Data), got.String()); diff != "" {
				if *update {
					a.Files[want].Data = []byte(got.String())
					writeFile(t, name, txtar.Format(a))
					return
				}
				t.Errorf("(-want +got):\n%s\nif this is right: go test ./pipelines/fetch/declared -run TestDetect -update", diff)
			}
		})
	}
}

func line(d Declared) string {
	mark := "-"
	if d.Red() {
		mark = "!"
	}
	s := fmt.Sprintf("%s %s:%d %s %q", mark, d.File, d.Line, d.Kind, d.Command)
	for _, f := range []struct{ key, value string }{{"name", d.Name}, {"url", d.URL}, {"rev", d.Rev}, {"hash", d.Hash}, {"problem", d.Problem}} {
		if f.value != "" {
			s += fmt.Sprintf(" %s=%q", f.key, f.value)
		}
	}
	if d.Count > 0 {
		s += fmt.Sprintf(" count=%d", d.Count)
	}
	return s
}

type memFile struct {
	mode, id string
	data     []byte
	size     int64 // 0: of data
	err      error
}

type memTree map[string]memFile

func (t memTree) List() ([]Entry, error) {
	var list []Entry
	for p, f := range t {
		size := f.size
		if size == 0 {
			size = int64(len(f.data))
		}
		list = append(list, Entry{Path: p, Mode: f.mode, ID: f.id, Size: size})
	}
	return list, nil
}

func (t memTree) Read(p string) ([]byte, error) {
	f, ok := t[p]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return f.data, f.err
}

func detectOne(t testing.TB, path, content string) []Declared {
	t.Helper()
	list, err := Detect(memTree{path: {mode: "100755", data: []byte(content)}})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestHostileFiles(t *testing.T) {
	broken := errors.New("disk on fire")
	for _, c := range []struct {
		name, path string
		file       memFile
		want       string // problem of the only finding; "" for none
		fails      error
	}{
		{name: "too large by the list", path: "CMakeLists.txt", file: memFile{size: MaxFile + 1}, want: `"CMakeLists.txt" has 16777217 bytes; build files above 16777216 are not read`},
		{name: "too large when read", path: "a.sh", file: memFile{size: -1, data: make([]byte, MaxFile+1)}, want: `"a.sh" has 16777217 bytes; build files above 16777216 are not read`},
		{name: "too large says the tree", path: "a.sh", file: memFile{size: -1, err: &TooLarge{"a.sh", 1 << 40}}, want: `"a.sh" has 1099511627776 bytes; build files above 16777216 are not read`},
		{name: "not there", path: "a.sh", file: memFile{err: fmt.Errorf("blob: %w", fs.ErrNotExist)}, want: "the file is listed but its content is not there"},
		{name: "broken tree", path: "a.sh", file: memFile{err: broken}, fails: broken},
		{name: "binary", path: "a.sh", file: memFile{data: []byte("curl https://x.example/a\x00")}},
		{name: "a link", path: "a.sh", file: memFile{mode: "120000", data: []byte("curl https://x.example/a")}},
		{name: "toml that nests", path: "Cargo.lock", file: memFile{data: bytes.Repeat([]byte("["), 1<<20)}, want: "the file cannot be read: its brackets nest more than 200 deep"},
		{name: "json that nests", path: "package.json", file: memFile{data: append([]byte(`{"dependencies":`), bytes.Repeat([]byte("["), 1<<20)...)}, want: "the file cannot be read: "},
		{name: "zon that nests", path: "build.zig.zon", file: memFile{data: bytes.Repeat([]byte(".a=.{"), 1<<18)}, want: "its brackets nest too deep; the rest of the file was not read"},
		{name: "go.mod that is none", path: "go.mod", file: memFile{data: []byte("module (\n")}, want: "the file cannot be read: go.mod:2: syntax error (unterminated block started at go.mod:1:1)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			list, err := Detect(memTree{c.path: c.file})
			if !errors.Is(err, c.fails) {
				t.Fatalf("error %v, want %v", err, c.fails)
			}
			switch {
			case c.want == "" && len(list) > 0, c.want != "" && len(list) != 1:
				t.Fatalf("found %v", list)
			case c.want != "" && !strings.HasPrefix(list[0].Problem, c.want): // Go versions word the rest differently
				t.Errorf("problem %q, want %q", list[0].Problem, c.want)
			case c.want != "" && !list[0].Red():
				t.Error("it is not red")
			}
		})
	}
}

// Values that name each other in circles, in long chains or in ways that grow
// without bound end, and text stays bounded.
func TestHostileText(t *testing.T) {
	var chain, laughs strings.Builder
	for i := range 100000 {
		fmt.Fprintf(&chain, "set(A%d ${A%d})\n", i, i+1)
	}
	laughs.WriteString("set(L0 https://x.example/lol)\n")
	for i := range 60 {
		fmt.Fprintf(&laughs, "set(L%d ${L%d} ${L%d} ${L%d})\n", i+1, i, i, i)
	}
	deep := strings.Repeat("$(", 100000)
	for _, c := range []struct{ name, path, content string }{
		{"circle", "CMakeLists.txt", "set(A ${B})\nset(B ${A})\nFetchContent_Declare(x URL ${A})\nFetchContent_Declare(y ${A})\nset(S a${S})\nfile(DOWNLOAD ${S} x)"},
		{"chain", "CMakeLists.txt", chain.String() + "FetchContent_Declare(x URL ${A0})\nFetchContent_Declare(y ${A0})"},
		{"laughs", "CMakeLists.txt", laughs.String() + "FetchContent_Declare(x URL ${L60})\nFetchContent_Declare(y ${L60})\nfile(DOWNLOAD \"${L60}\" z)"},
		{"invalid UTF-8", "CMakeLists.txt", "file(DOWNLOAD https://x.example/\xff\xfe x)"},
		{"long", "CMakeLists.txt", "file(DOWNLOAD https://x.example/" + strings.Repeat("a", 1<<20) + " x)"},
		{"open brackets", "CMakeLists.txt", strings.Repeat("file(DOWNLOAD https://x.example/a [==[ ", 10000)},
		{"deep shell", "a.sh", "curl https://x.example/a\n" + deep},
		{"deep make", "Makefile", "all:\n\tcurl https://x.example/a\n\t" + strings.Repeat("$(shell ", 100000)},
		{"deep quotes", "a.sh", "curl https://x.example/a\n" + strings.Repeat("sh -c 'sh -c \"", 50000)},
		{"evals", "a.sh", "curl https://x.example/a\n" + strings.Repeat("eval \"$(", 1000) + strings.Repeat(")\"", 1000)},
		{"shells", "Makefile", "a:\n\tcurl https://x.example/a\n\t" + strings.Repeat("sh -c \"$(shell ", 1000) + strings.Repeat(")\"", 1000)},
		{"backticks", "a.sh", "curl https://x.example/a\n" + strings.Repeat("`\"", 100001)},
		{"python lists", "a.py", "urlopen('https://x.example/a')\n" + strings.Repeat("['a', ", 100000)},
	} {
		t.Run(c.name, func(t *testing.T) {
			list := detectOne(t, c.path, c.content)
			if len(list) == 0 {
				t.Error("the download was not found")
			}
			for _, d := range list {
				if n := len(d.URL) + len(d.Name); n > 2*maxText+10 || strings.ToValidUTF8(d.URL, "") != d.URL {
					t.Errorf("bad text of %d bytes", n)
				}
			}
		})
	}
}

func TestManyDownloadsInAFile(t *testing.T) {
	list := detectOne(t, "a.sh", strings.Repeat("curl https://x.example/a\ncurl https://x.example/b\n", maxPerFile))
	if n := len(list); n != maxPerFile+1 {
		t.Fatalf("%d findings", n)
	}
	if last := list[len(list)-1]; last.Kind != Unread || !strings.Contains(last.Problem, "more than 10000") {
		t.Errorf("the last is %+v", last)
	}
}

func TestOnlyCandidatesAreRead(t *testing.T) {
	tree := memTree{"CMakeLists.txt": {data: []byte("file(DOWNLOAD https://x.example/a b)")}}
	for i := range 100000 {
		tree[fmt.Sprintf("src/d%d/f%d.cpp", i%100, i)] = memFile{mode: "100644", err: errors.New("read though it is no candidate")}
	}
	list, err := Detect(tree)
	if err != nil || len(list) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
}

func TestScopeOf(t *testing.T) {
	for path, want := range map[string]Scope{
		"CMakeLists.txt": ScopeBuild, "cmake/x.cmake": ScopeBuild, ".github/actions/a.sh": ScopeCI, "ci/run.sh": ScopeCI,
		"tests/CMakeLists.txt": ScopeTests, "tools/server/tests/x.py": ScopeTests, "examples/a/CMakeLists.txt": ScopeExamples,
		"scripts/x.cmake": ScopeScripts, "docs/conf.py": ScopeDocs, "Dockerfile": ScopeContainer, "a/rocm.Dockerfile": ScopeContainer,
		"test": ScopeBuild, "latest/x.sh": ScopeBuild,
	} {
		if got := ScopeOf(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
