// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package pins

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write the golden parts of testdata anew")

// Each archive in testdata/load is a folder of pins and, in the file want, all
// problems that it has.
func TestLoadProblems(t *testing.T) {
	files, err := filepath.Glob("testdata/load/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test data: %v", err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			fsys, want, at := fstest.MapFS{}, "", -1
			for i, f := range archive.Files {
				if f.Name == "want" {
					want, at = string(f.Data), i
					continue
				}
				fsys[f.Name] = &fstest.MapFile{Data: f.Data}
			}
			_, err = LoadFS(fsys, "pins")
			got := ""
			var problems Errors
			if errors.As(err, &problems) {
				got = problems.Error() + "\n"
			} else if err != nil {
				t.Fatal(err)
			}
			if got == want {
				return
			}
			if *update && at >= 0 {
				archive.Files[at].Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(archive), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			t.Errorf("problems:\n%s\nwant:\n%s\n(go test ./pins -run TestLoadProblems -update writes it anew)", got, want)
		})
	}
}

// What the YAML library would let pass, guess at, or explain badly.
func TestHazards(t *testing.T) {
	const ok = "name: a\nwhat: x\nupstream: https://example.org/a.git\nlicense: MIT\nuse: child\ntrack: {kind: git-branch, branch: main}\n"
	bomb := "x0: &x0 [a]\n"
	for _, test := range []struct{ name, file, want string }{
		{"good", ok, ""},
		{"document marker", "---\n" + ok, ""},
		{"repeated key", ok + "what: y\n", `a.yaml:7: the file: the key "what" is here twice, first in line 2`},
		{"repeated nested key", strings.Replace(ok, "branch: main", "branch: main, branch: dev", 1), `a.yaml:6: track: the key "branch" is here twice, first in line 6`},
		{"anchor", strings.Replace(ok, "x\n", "&a x\n", 1), "a.yaml:2: what: anchors (&) are not allowed; write the value out"},
		{"alias", strings.Replace(ok, "what: x", "what: &a x\nstack: *a", 1), "a.yaml:3: stack: aliases (*) are not allowed; write the value out"},
		{"bomb", bomb + "x1: &x1 [*x0,*x0,*x0,*x0,*x0,*x0,*x0,*x0]\nx2: [*x1,*x1,*x1,*x1]\n" + ok, `a.yaml:3: the file: unknown key "x2"`},
		{"merge key", ok + "<<: {stack: b}\n", `a.yaml:7: the file: unknown key "<<"`},
		{"tag", strings.Replace(ok, "what: x", "what: !!binary eA==", 1), "a.yaml:2: what: tags (!) are not allowed"},
		{"two documents", ok + "---\n" + ok, "a.yaml:7: the file has more than one document; one file is one document"},
		{"document end", ok + "...\n", "a.yaml:7: the file has more than one document; one file is one document"},
		{"directive", "%YAML 1.1\n---\n" + ok, "a.yaml:1: YAML directives are not allowed"},
		{"tab", strings.Replace(ok, "what: x", "what:\tx", 1), "a.yaml:2: the line has a tab; use blanks"},
		{"windows lines", strings.ReplaceAll(ok, "\n", "\r\n"), "a.yaml:1: the line ends with a carriage return; save the file with plain newlines"},
		{"byte order mark", "\ufeff" + ok, "a.yaml:1: the file begins with a byte order mark; save it without"},
		{"latin1", strings.Replace(ok, "what: x", "what: caf\xe9", 1), "a.yaml:2: the line is not UTF-8"},
		{"null", strings.Replace(ok, "what: x", "what: ~", 1), "a.yaml:2: what: the value is empty; leave the key out or give one"},
		{"empty", "", "a.yaml:1: the file is empty"},
		{"not yaml", "name: a\nwhat: [\n", "a.yaml:2: not YAML: "},
		{"a list", "- a\n", "a.yaml:1: the file: want a mapping"},
		{"huge", ok + strings.Repeat("# "+strings.Repeat("x", 98)+"\n", 50_000), "a.yaml:1: the file is larger than 4 MiB; a pin file is small"},
		{"a number for a text", strings.Replace(ok, "what: x", "what: {a: 1}", 1), "a.yaml:2: what: want one value, not a list or mapping"},
		{"short commit", ok + "lock: {commit: 93f51579}\n", `a.yaml:7: lock.commit: "93f51579" is not a full commit of 40 hex digits`},
		// mudler/LocalAI bump_deps: the body of a redirect became the pin
		{"a page as commit", ok + "lock: {commit: '<html>301'}\n", `lock.commit: "<html>301" is not a full commit of 40 hex digits`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse([]byte(test.file), "a.yaml")
			switch {
			case test.want == "" && err != nil:
				t.Errorf("got %v", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("got %v\nwant %s", err, test.want)
			}
		})
	}
}

// A version that looks like a number stays the text that was written.
func TestVersionIsText(t *testing.T) {
	for _, version := range []string{"1.10", "1e3", "0x10", "2026-10-01", "no", "010", "1_0", ".inf", "12:30:45"} {
		file := "name: a\nwhat: x\nlicense: MIT\nuse: build-tool\ntrack: {kind: manual, reason: none}\nlock:\n  version: " + version + "\n"
		p, err := Parse([]byte(file), "a.yaml")
		if err != nil || p.Lock.Version != version {
			t.Errorf("version %s: got %+v, %v", version, p, err)
		}
	}
}

func TestLoadWithoutFolder(t *testing.T) {
	if _, err := Load(t.TempDir()); err == nil || !strings.Contains(err.Error(), "has no groups.yaml") {
		t.Errorf("got %v", err)
	}
}

func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("*.yaml")
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("a: &a [*a]\n"))
	f.Add([]byte("? {x: y}\n: z\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Parse(data, "zinc.yaml")
		if err != nil {
			var problems Errors
			if !errors.As(err, &problems) || len(problems) == 0 {
				t.Fatalf("not a list of problems: %v", err)
			}
			for _, one := range problems {
				if one.Line < 1 || one.Text == "" {
					t.Fatalf("a problem without place or text: %+v", one)
				}
			}
			return
		}
		if p.Lock == nil {
			return
		}
		// what loads can be written back, and says the same
		if _, err := WriteLock(data, *p.Lock); err != nil && !strings.Contains(err.Error(), "one key") && !strings.Contains(err.Error(), "indented") {
			t.Fatalf("its own lock cannot be written: %v", err)
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := Load("."); err != nil {
			b.Fatal(err)
		}
	}
}
