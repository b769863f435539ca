// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package pins

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestEditAllOrNone(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name+".yaml"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	read := func() string {
		a, _ := os.ReadFile(filepath.Join(dir, "a.yaml"))
		b, _ := os.ReadFile(filepath.Join(dir, "b.yaml"))
		return string(a) + string(b)
	}
	set := func(text string) func([]byte) ([]byte, error) {
		return func([]byte) ([]byte, error) { return []byte(text), nil }
	}
	write("a", "a")
	write("b", "b")
	refused := errors.New("refused")
	_, err := EditAll(dir, Change{"a", set("A")}, Change{"b", func([]byte) ([]byte, error) { return nil, refused }})
	if !errors.Is(err, refused) || !strings.HasPrefix(err.Error(), "pin b: ") || read() != "ab" {
		t.Errorf("an edit that is refused: %v, %q", err, read())
	}
	// The second is changed by an editor, between its edit and the writes.
	_, err = EditAll(dir, Change{"a", set("A")}, Change{"b", func([]byte) ([]byte, error) { write("b", "theirs"); return []byte("B"), nil }})
	var changed *Changed
	if !errors.As(err, &changed) || read() != "atheirs" {
		t.Errorf("a write that does not go well: %v, %q", err, read())
	}
	did, err := EditAll(dir, Change{"a", set("A")}, Change{"b", set("theirs")})
	if err != nil || fmt.Sprint(did) != "[true false]" || read() != "Atheirs" {
		t.Errorf("%v, %v, %q", did, err, read())
	}
}

// Nobody's change of a file is lost to another's at the same moment.
func TestEditByMany(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.yaml")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for i := range 20 {
		wait.Go(func() {
			if _, err := Edit(dir, "a", func(b []byte) ([]byte, error) { return fmt.Appendf(b, "%d\n", i), nil }); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if got, _ := os.ReadFile(path); strings.Count(string(got), "\n") != 20 {
		t.Errorf("%d changes are there, want 20", strings.Count(string(got), "\n"))
	}
}

func TestStillIs(t *testing.T) {
	const text = "name: a\nwhat: a test\nupstream: https://up.example/a.git\nlicense: MIT\nuse: child\ntrack: {kind: git-branch, branch: main}\n"
	p, err := Parse([]byte(text), "pins/a.yaml")
	if err != nil {
		t.Fatal(err)
	}
	commit := strings.Repeat("a", 40)
	lock := &Lock{Commit: commit}
	for name, c := range map[string]struct {
		file string
		ok   bool
	}{
		"as it was":            {text, true},
		"comments":             {"# one\n" + strings.ReplaceAll(text, "use:", "\n# two\nuse:"), true},
		"a hold":               {text + "hold: {reason: not now}\n", true},
		"the same lock":        {text + "lock:\n  commit: " + commit + "\n", true},
		"another lock":         {text + "lock:\n  commit: " + strings.Repeat("b", 40) + "\n", false},
		"a rejection":          {text + "reject: [" + commit + "]\n", false},
		"another branch":       {strings.ReplaceAll(text, "branch: main", "branch: dev"), false},
		"an exclusion":         {text + "exclude: [{path: x, why: y}]\n", false},
		"no pin file any more": {"<<<<<<< HEAD\n", false},
	} {
		if err := p.StillIs([]byte(c.file), lock); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
