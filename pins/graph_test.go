// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package pins

import (
	"encoding/xml"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"
)

const graphPin = "what: x\nlicense: MIT\nuse: child\n"

func graphSet(t *testing.T) *Set {
	t.Helper()
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	s, err := LoadFS(fstest.MapFS{
		"a.yaml":      file("name: a\n" + graphPin + "upstream: https://example.org/a.git\nstack: a-patches\ntrack: {kind: git-branch, branch: main}\nlock: {commit: " + hexA + ", tree: " + hexB + ", sum: '" + sumA + "', date: 2026-01-01T00:00:00Z}\n"),
		"b.yaml":      file("name: b\n" + graphPin + "track: {kind: field, of: a, path: x, key: y}\n"),
		"c.yaml":      file("name: c\n" + graphPin + "track: {kind: field, of: 'https://github.com/o/r.git', branch: main, path: x, key: y}\n"),
		"groups.yaml": file("- name: pair\n  members: [a, b]\n  contracts:\n    - user: {pin: a, files: ['**'], pattern: x_}\n      provider: {pin: b, files: [inc/**]}\n"),
	}, "pins")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestGraphGolden(t *testing.T) {
	const name = "testdata/graph.txtar"
	g := graphSet(t).Graph()
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	want := string(txtar.Format(archive))
	archive.Files = []txtar.File{{Name: "dot", Data: []byte(g.DOT())}, {Name: "svg", Data: []byte(g.SVG())}}
	got := txtar.Format(archive)
	if string(got) == want {
		return
	}
	if *update {
		if err := os.WriteFile(name, got, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("got\n%s\nwant\n%s\n(go test ./pins -run TestGraphGolden -update writes it anew)", got, want)
}

// The drawing of the real pins is XML, has a title and a description, and no
// two boxes lie on each other.
func TestSVGOfRealPins(t *testing.T) {
	s, err := Load(".")
	if err != nil {
		t.Fatal(err)
	}
	svg := s.Graph().SVG()
	if again := s.Graph().SVG(); again != svg {
		t.Error("the same pins gave two drawings")
	}
	elements := map[string]int{}
	at := map[string]bool{}
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		elements[e.Name.Local]++
		if e.Name.Local == "rect" {
			place := e.Attr[0].Value + " " + e.Attr[1].Value
			if at[place] {
				t.Errorf("two boxes at %s", place)
			}
			at[place] = true
		}
	}
	if elements["desc"] != 1 || elements["rect"] != len(s.Graph().Nodes) || elements["path"] != len(s.Graph().Edges) {
		t.Errorf("elements %v, nodes %d, edges %d", elements, len(s.Graph().Nodes), len(s.Graph().Edges))
	}
}

func TestWhy(t *testing.T) {
	s := graphSet(t)
	got, err := s.Why("a", map[string][]string{"server": {"x", "a"}, "other": {"c"}})
	want := &Uses{Name: "a", What: "x", Group: "pair", Siblings: []string{"b"}, Followers: []string{"b"}, Contracts: []string{"b"}, Stack: "a-patches", Recipes: []string{"server"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := s.Why("c", nil); err != nil || !got.None() {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := s.Why("nobody", nil); err == nil {
		t.Error("an unknown pin has uses")
	}
}

func TestMatchGlob(t *testing.T) {
	for _, test := range []struct {
		glob, name string
		want       bool
	}{
		{"a/**", "a/b/c", true}, {"a/**", "a", false}, {"**/*.h", "x.h", true}, {"**/*.h", "a/b/x.h", true},
		{"a/**/b/*.c", "a/b/x.c", true}, {"a/**/b/*.c", "a/z/y/b/x.c", true}, {"a/**/b/*.c", "a/z/x.c", false},
		{"*.c", "a/x.c", false}, {"a", "a/b", false}, {"a/b", "a", false}, {"**", "x", true},
	} {
		if got := MatchGlob(test.glob, test.name); got != test.want {
			t.Errorf("MatchGlob(%q, %q) = %v", test.glob, test.name, got)
		}
	}
}
