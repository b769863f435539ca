// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package pins

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"
)

const (
	hexA = "0123456789abcdef0123456789abcdef01234567"
	hexB = "89abcdef0123456789abcdef0123456789abcdef"
	sumA = "t1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
)

var shaA = strings.Repeat("ab", 32)

// fullLock has every field of a lock.
func fullLock() Lock {
	return Lock{
		Version: "v1.10", Tag: hexB, Commit: hexA, Tree: hexB, Sum: sumA,
		Date:      time.Date(2026, 11, 2, 20, 36, 20, 0, time.UTC),
		ViaMirror: &ViaMirror{StandsIn: "https://example.org/mirror.git"},
		Accepted:  &Accepted{From: hexB, To: hexA, Why: "it's \"fine\": really, # yes", By: "Zoë", Date: "2026-11-29"},
		Submodules: []Submodule{
			{Path: "a b/c", URL: "https://example.org/sub.git", Commit: hexB, Sum: sumA}},
		Patched:  &Patched{Tree: hexA, Sum: sumA, Steps: []Step{{"one.patch", hexA}, {"two.patch", hexB}}},
		Excluded: []Excluded{{Path: "big, odd [x].bin", Mode: "100644", ID: hexA, Size: 1 << 40}, {Path: "sub", Mode: "160000", ID: hexB}},
		Files:    []File{{Name: "f.tar", Platform: "linux-amd64", URL: "https://example.org/f.tar?x=1&y=2", SHA256: shaA, Size: 0}},
		Inputs: []Input{
			{Name: "json", Kind: InputGit, DeclaredIn: "CMakeLists.txt", URL: "https://example.org/json.git", Commit: hexA, Sum: sumA, Give: "FETCHCONTENT_SOURCE_DIR_JSON"},
			{Name: "docs", Kind: InputUnused, DeclaredIn: "docs/x.sh", SHA256: shaA, Why: "not built"}},
		Licenses: []LicenseFile{{"LICENSE", shaA}},
	}
}

// Each archive in testdata/write has a pin file (in), what is done with it (the
// comment's last word), and the file after it (out).
func TestWriteGolden(t *testing.T) {
	steps := map[string]func([]byte) ([]byte, error){
		"lock":      func(f []byte) ([]byte, error) { return WriteLock(f, fullLock()) },
		"smalllock": func(f []byte) ([]byte, error) { return WriteLock(f, Lock{Commit: hexA}) },
		"hold":      func(f []byte) ([]byte, error) { return SetHold(f, Hold{"breaks: all", "2026-12-31", "7"}) },
		"unhold":    RemoveHold,
		"reject":    func(f []byte) ([]byte, error) { return AddReject(f, Reject{hexB, "it answers nothing"}) },
	}
	files, err := filepath.Glob("testdata/write/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test data: %v", err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			step := steps[lastWord(string(archive.Comment))]
			in, want := archive.Files[0].Data, archive.Files[1].Data
			got, err := step(in)
			if err != nil {
				t.Fatal(err)
			}
			again, err := step(got)
			if err != nil || !bytes.Equal(again, got) {
				t.Errorf("a second time: %v\n%s", err, again)
			}
			if bytes.Equal(got, want) {
				return
			}
			if *update {
				archive.Files[1].Data = got
				if err := os.WriteFile(name, txtar.Format(archive), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			t.Errorf("got:\n%s\nwant:\n%s\n(go test ./pins -run TestWriteGolden -update writes it anew)", got, want)
		})
	}
}

func lastWord(s string) string {
	words := strings.Fields(s)
	return words[len(words)-1]
}

// Every pin of the repository takes a full lock and gives it back, and loses
// nothing but its lock.
func TestWriteRealPins(t *testing.T) {
	set, err := Load(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range set.Pins {
		t.Run(p.Name, func(t *testing.T) {
			file, err := os.ReadFile(p.Name + ".yaml")
			if err != nil {
				t.Fatal(err)
			}
			lock := fullLock()
			switch p.Track.Kind {
			case Gitlink:
				lock.Via = &Via{Commit: hexB, Path: "x", URL: "../x.git", Branch: "main"}
			case GoModule:
				lock.Sum = "h1:" + strings.TrimPrefix(sumA, "t1:")
			}
			out, err := WriteLock(file, lock)
			if err != nil {
				t.Fatal(err)
			}
			q, err := Parse(out, p.Name+".yaml")
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if !reflect.DeepEqual(*q.Lock, lock) {
				t.Errorf("lock: got %+v, want %+v", *q.Lock, lock)
			}
			q.Lock, q.file, q.lines = p.Lock, p.file, p.lines
			if !reflect.DeepEqual(p, q) {
				t.Errorf("the rest changed: %+v, was %+v", q, p)
			}
			for _, line := range strings.Split(string(file), "\n") {
				if strings.HasPrefix(strings.TrimSpace(line), "#") && !strings.Contains(string(out), line) {
					t.Errorf("the comment %q is lost", line)
				}
			}
			if again, err := WriteLock(out, lock); err != nil || !bytes.Equal(again, out) {
				t.Errorf("a second time the file changes (%v)", err)
			}
			if p.Lock != nil {
				back, err := WriteLock(out, *p.Lock)
				if err != nil {
					t.Fatal(err)
				}
				q, err := Parse(back, p.Name+".yaml")
				if err != nil || !reflect.DeepEqual(q.Lock, p.Lock) {
					t.Errorf("back again: %+v, %v", q, err)
				}
			}
		})
	}
}

// Any layout of a pin file keeps its other lines byte for byte.
func TestWriteKeepsLines(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	keys := []string{
		"name: 'a'\n", "what: \"x\"   # quoted\n", "upstream: https://example.org/a.git\n", "license: MIT\n", "use:   child\n",
		"track:\n    kind: git-branch\n    # deep\n    branch: main\n", "copyright:\n- one\n\n- two\n", "exclude: [{path: a, why: b}]\n",
	}
	for i := range 200 {
		r.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		at := r.IntN(len(keys) + 1)
		var file strings.Builder
		for j, key := range keys {
			if j == at {
				file.WriteString(pick(r, "", "lock: {commit: "+hexB+"}\n", "lock:\n  # why\n  commit: "+hexB+" # old\n  version: '1.10'\n\n"))
			}
			file.WriteString(some(r, "\n") + some(r, "# about the next key\n") + some(r, "\n"))
			file.WriteString(key)
		}
		file.WriteString(some(r, "\n# the end\n"))
		in := file.String()
		if r.IntN(4) == 0 {
			in = strings.TrimSuffix(in, "\n")
		}
		out, err := WriteLock([]byte(in), fullLock())
		if err != nil {
			t.Fatalf("%d: %v\n%s", i, err, in)
		}
		p, err := Parse(out, "a.yaml")
		if err != nil || !reflect.DeepEqual(*p.Lock, fullLock()) {
			t.Fatalf("%d: %v\n%s", i, err, out)
		}
		if got, want := withoutLock(string(out)), withoutLock(in); got != want {
			t.Fatalf("%d: around the lock got\n%s\nwant\n%s", i, got, want)
		}
	}
}

// withoutLock returns the lines of a file that are not its lock.
func withoutLock(file string) string {
	var kept []string
	in := false
	for _, line := range strings.Split(strings.TrimSuffix(file, "\n"), "\n") {
		if strings.HasPrefix(line, "lock:") {
			in = true
		} else if line != "" && line[0] != ' ' {
			in = false
		}
		if !in || line == "" {
			kept = append(kept, line)
		}
	}
	return strings.TrimRight(strings.Join(kept, "\n"), "\n")
}

func TestWriteRefuses(t *testing.T) {
	const ok = "name: a\nwhat: x\nupstream: https://example.org/a.git\nlicense: MIT\nuse: child\ntrack: {kind: git-branch, branch: main}\n"
	for _, test := range []struct {
		name, file string
		lock       Lock
	}{
		{"a short commit", ok, Lock{Commit: "abc"}},
		{"nothing", ok, Lock{}},
		{"not UTF-8", ok, Lock{Commit: hexA, Version: "\xff"}},
		{"a sum without its tree", ok, Lock{Commit: hexA, Sum: sumA}},
		{"a file in braces", "{name: a}\n", Lock{Commit: hexA}},
		{"an indented file", "  name: a\n  what: x\n", Lock{Commit: hexA}},
		{"a rejected commit", ok + "reject: [" + hexA + "]\n", Lock{Commit: hexA}},
		{"a broken file", ok + "what: y\n", Lock{Commit: hexA}},
	} {
		if out, err := WriteLock([]byte(test.file), test.lock); err == nil {
			t.Errorf("%s: was written:\n%s", test.name, out)
		}
	}
}

func TestEdit(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.yaml")
	if err := os.WriteFile(path, []byte("one\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	changed, err := Edit(dir, "a", func(b []byte) ([]byte, error) { return append(b, "two\n"...), nil })
	if err != nil || !changed {
		t.Fatal(changed, err)
	}
	got, _ := os.ReadFile(path)
	info, _ := os.Stat(path)
	if string(got) != "one\ntwo\n" || info.Mode().Perm() != 0o640 {
		t.Errorf("got %q, %v", got, info.Mode())
	}
	if changed, err := Edit(dir, "a", func(b []byte) ([]byte, error) { return b, nil }); err != nil || changed {
		t.Errorf("the same bytes: %v, %v", changed, err)
	}
	_, err = Edit(dir, "a", func(b []byte) ([]byte, error) {
		return []byte("mine\n"), os.WriteFile(path, []byte("theirs\n"), 0o640)
	})
	if got, _ := os.ReadFile(path); err == nil || string(got) != "theirs\n" {
		t.Errorf("another's change was lost: %q, %v", got, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", "a", "1.10", "no", "~", "a: b", "a #b", "'", "\"\\", "\u2028\ufeff\x7f\x00", "- a", "{a}", "2026-10-01", "1e5", "a:", "=", "<<", "\U0001f600", "\U000e0001"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			return
		}
		d := &decoder{file: "q", lines: map[string]int{}}
		file := fmt.Sprintf("a: {b: %s, c: 1}\n", quote(s))
		root := d.parse([]byte(file))
		if root == nil {
			t.Fatalf("%q is written as %q, which does not read: %v", s, file, d.problems)
		}
		n := root.Content[1].Content[1]
		if n.Value != s || n.Tag != "!!str" {
			t.Fatalf("%q is written as %q, which reads as %s %q", s, file, n.Tag, n.Value)
		}
	})
}
