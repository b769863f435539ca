// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/1bit-MONSTER/engine/internal/archtest"
	"github.com/1bit-MONSTER/engine/pins"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s differs (-want +got); go test ./pipelines/check -update writes it anew:\n%s", path, d)
	}
}

func TestNotice(t *testing.T) {
	bsd := []Text{{"m1 v1: LICENSE", "the terms"}}
	list := []Component{
		{Name: "zz", Version: "b9", License: "MIT", Copyright: []string{"2023 A", "2024 B"}, Use: Child, What: "a child", Where: "https://example.com/zz"},
		{Name: "m2", Version: "v2", License: "BSD-3-Clause", Use: Linked, Texts: []Text{{"m2 v2: LICENSE", "the terms"}, {"m2 v2: NOTICE", "hear"}}},
		{Name: "m1", Version: "v1", License: "BSD-3-Clause", Copyright: []string{"2020 C"}, Use: Linked, Texts: bsd},
		{Name: "only-tests", License: "MIT", Use: TestsOnly, Texts: []Text{{"only-tests: LICENSE", "not shipped"}}},
	}
	got := Notice(list)
	golden(t, "notice.golden", got)
	slices.Reverse(list)
	if d := cmp.Diff(string(got), string(Notice(list))); d != "" {
		t.Errorf("the order of components shows:\n%s", d)
	}
}

func TestEveryUseHasASection(t *testing.T) {
	for _, use := range []Use{Linked, Child, Model, Image, BuildTool, DistOnly, TestsOnly} {
		if got := string(Notice([]Component{{Name: "the-name", License: "MIT", Use: use}})); !strings.Contains(got, "\nthe-name\n") {
			t.Errorf("a component of use %q is not in NOTICE", use)
		}
	}
}

func TestPinned(t *testing.T) {
	got := Pinned(&pins.Set{Pins: []*pins.Pin{
		{Name: "a", What: "an a", Upstream: "https://example.com/a.git", License: "MIT", Copyright: []string{"2020 A"}, Use: pins.Child, Lock: &pins.Lock{Version: "v1", Commit: "0123"}},
		{Name: "b", License: "ISC", Use: pins.Linked, Track: pins.Track{Kind: pins.GoModule, Module: "example.com/b"}, Lock: &pins.Lock{Commit: "4567"}},
		{Name: "c", License: "MIT", Use: pins.Model, Track: pins.Track{Kind: pins.HuggingFace, Repo: "x/c"}},
	}})
	want := []Component{
		{Name: "a", What: "an a", Where: "https://example.com/a.git", Version: "v1", License: "MIT", Copyright: []string{"2020 A"}, Use: Child},
		{Name: "b", Where: "example.com/b", Version: "4567", License: "ISC", Use: Linked},
		{Name: "c", Where: "x/c", License: "MIT", Use: Model},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("Pinned (-want +got):\n%s", d)
	}
}

// TestUses holds the words for uses of pins and of NOTICE together.
func TestUses(t *testing.T) {
	for _, use := range []pins.Use{pins.Linked, pins.Child, pins.BuildTool, pins.Model, pins.Image} {
		if !slices.ContainsFunc(sections, func(s section) bool { return string(s.use) == string(use) }) {
			t.Errorf("NOTICE has no section for pins of use %q", use)
		}
	}
}

func TestCopyrights(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"Copyright (c) 2009 The Go Authors. All rights reserved.\r\n", "2009 The Go Authors. All rights reserved."},
		{"   Copyright 2013-2023 The Cobra Authors", "2013-2023 The Cobra Authors"},
		{"// Copyright © 2020 X <x@example.com>", "2020 X <x@example.com>"},
		{"/* (c) 2011  Y */", "2011 Y"},
		{"Copyright (c) The Somebody Authors", "The Somebody Authors"},
		{"Copyright: 2015, Z", "2015, Z"},
		{"Copyright [yyyy] [name of copyright owner]", ""},
		{"copyright notice that is included in or attached to the work", ""},
		{"the above copyright notice and this permission notice", ""},
	} {
		if got := strings.Join(copyrights([]byte(c.in)), "|"); got != c.want {
			t.Errorf("copyrights(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestReadLicense(t *testing.T) {
	root, err := archtest.Root()
	if err != nil {
		t.Fatal(err)
	}
	apache, err := os.ReadFile(filepath.Join(root, "LICENSE"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	scanner, err := newScanner()
	if err != nil {
		t.Fatal(err)
	}
	var c Component
	if err := c.readLicense(dir, scanner); err == nil || !strings.Contains(err.Error(), "no licence file") {
		t.Errorf("an empty module: %v", err)
	}
	file("LICENSE.txt", string(apache))
	file("NOTICE", "hear\n")
	file("a.go", "// Copyright 2001 Nobody\n\npackage a\n// Copyright 2002 Else\n")
	c = Component{Name: "m", Version: "v1"}
	if err := c.readLicense(dir, scanner); err != nil {
		t.Fatal(err)
	}
	want := Component{Name: "m", Version: "v1", License: "Apache-2.0", Copyright: []string{"2001 Nobody"}, Texts: []Text{{"m v1: NOTICE", "hear"}}}
	if d := cmp.Diff(want, c); d != "" {
		t.Errorf("readLicense (-want +got):\n%s", d)
	}
	file("LICENSE.other", "You may look at this on Tuesdays only.\n")
	if err := c.readLicense(dir, scanner); err == nil || !strings.Contains(err.Error(), "LICENSE.other is 0% of a licence that we accept") {
		t.Errorf("an unknown licence: %v", err)
	}
}

func TestModules(t *testing.T) {
	root, err := archtest.Root()
	if err != nil {
		t.Fatal(err)
	}
	list, err := Modules(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]Component{}
	for _, c := range list {
		found[c.Name] = c
	}
	for name, license := range map[string]string{"github.com/spf13/cobra": "Apache-2.0", "github.com/google/go-cmp": "BSD-3-Clause", "gopkg.in/yaml.v3": "Apache-2.0 AND MIT"} {
		c := found[name]
		if c.License != license || len(c.Copyright) == 0 || c.Version == "" {
			t.Errorf("%s: %+v, want licence %s, a copyright and a version", name, c, license)
		}
	}
	if use := found["github.com/google/go-cmp"].Use; use != TestsOnly {
		t.Errorf("go-cmp is used as %q, want %q", use, TestsOnly)
	}
}

func BenchmarkNotice(b *testing.B) {
	root, err := archtest.Root()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := CheckNotice(b.Context(), root); err != nil {
			b.Fatal(err)
		}
	}
}
