// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package archtest

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestImports(t *testing.T) {
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	files, err := Read(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("no Go files")
	}
	for _, v := range Violations(files) {
		t.Error(v)
	}
}

func TestViolations(t *testing.T) {
	const m = Module + "/"
	for _, c := range []struct {
		file, imported string
		ok             bool
	}{
		{"cmd/dist/a.go", m + "pipelines/check", true},
		{"cmd/dist/a.go", m + "engine/serve", true},
		{"cmd/dist/a_test.go", m + "cmd/dist", true},
		{"cmd/dist/a.go", m + "cmd/1bit", false},
		{"pipelines/check/a_test.go", m + "cmd/dist", false},
		{"internal/run/a.go", m + "internal/clock", true},
		{"internal/run/a_test.go", m + "pins", false},
		{"pins/a.go", m + "internal/run", true},
		{"pins/a.go", m + "patches", false},
		{"patches/a.go", m + "pins", true},
		{"patches/a.go", m + "pipelines/fetch", false},
		{"pipelines/build/a.go", m + "pipelines/fetch", true},
		{"pipelines/build/a.go", m + "engine/layout", true},
		{"pipelines/build/a.go", m + "engine/serve", false},
		{"pipelines/dagger/main.go", m + "pipelines/build", true},
		{"pipelines/dagger/main.go", m + "pins", false},
		{"pipelines/dagger/main.go", "dagger.io/dagger", true},
		{"pipelines/build/daggerrunner/a.go", "dagger.io/dagger", true},
		{"pipelines/build/a.go", "dagger.io/dagger", false},
		{"cmd/dist/a.go", "dagger.io/dagger/dag", false},
		{"engine/serve/a.go", m + "engine/devices", true},
		{"engine/serve/a.go", m + "internal/run", true},
		{"engine/serve/a.go", m + "pipelines/build", false},
		{"engine/devices/a.go", m + "internal/run", false},
		{"engine/devices/a_test.go", m + "internal/parts", true},
		{"engine/layout/a.go", m + "engine/devices", false},
		{"engine/layout/a.go", "path", true},
		{"somewhere/a.go", "fmt", false},
		{"a.go", "fmt", false},
		{"ci/a.go", m + "internal/run", false},
	} {
		got := Violations([]File{{Name: c.file, Imports: []string{c.imported}}})
		if (len(got) == 0) != c.ok {
			t.Errorf("%s imports %s: %q, want allowed %v", c.file, c.imported, got, c.ok)
		}
	}
}

func TestReadSeesFilesForOtherSystems(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"pins/a_windows.go":   "package pins\n\nimport \"fmt\"\n",
		"pins/a_test.go":      "//go:build never\n\npackage pins\n\nimport \"os\"\n",
		"pins/testdata/b.go":  "not Go",
		".hidden/b.go":        "not Go",
		"pins/read.me":        "not Go",
		"engine/devices/c.go": "package devices\n",
	} {
		if err := os.MkdirAll(filepath.Join(root, path.Dir(name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	files, err := Read(root)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range files {
		got = append(got, f.Name+" "+strings.Join(f.Imports, " "))
	}
	if want := []string{"engine/devices/c.go ", "pins/a_test.go os", "pins/a_windows.go fmt"}; !slices.Equal(got, want) {
		t.Errorf("Read: %q, want %q", got, want)
	}
}

const document = "# Map\n\n| folder | what lives there | may import |\n|---|---|---|\n" +
	"| `pins/` | one file a pin, `groups.yaml` | `internal/…` |\n" +
	"| `engine/` | what ships | `internal/…`, never `pipelines` |\n" +
	"| `ci/` | data only | |\n" +
	"| `cmd/dist`, `cmd/1bit` | flags | all |\n" +
	"| `internal/` | small packages | the standard library and well-kept modules |\n\n" +
	"| folder | something | else |\n| `x` | y | `z` |\n"

func TestTable(t *testing.T) {
	got, err := Table(document)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{"pins": {"internal"}, "engine": {"internal"}, "ci": nil, "cmd/dist": {"all"}, "cmd/1bit": {"all"}, "internal": nil}
	for folder, may := range want {
		if g, ok := got[folder]; !ok || !slices.Equal(g, may) {
			t.Errorf("%s: %q, want %q", folder, g, may)
		}
	}
	if len(got) != len(want) {
		t.Errorf("Table: %v, want %v", got, want)
	}
	if _, err := Table("nothing"); err == nil {
		t.Error("a document without the table is taken")
	}
}

// TestDocument holds docs/architecture.md and the rules above together, both
// ways.
func TestDocument(t *testing.T) {
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("docs/architecture.md is not written yet")
	} else if err != nil {
		t.Fatal(err)
	}
	table, err := Table(string(data))
	if err != nil {
		t.Fatalf("docs/architecture.md: %v", err)
	}
	for folder, may := range table {
		if path.Dir(folder) == "cmd" {
			folder = "cmd"
		}
		row, ok := rules[folder]
		if !ok {
			if strings.Contains(folder, ".") || folder == strings.ToUpper(folder) { // files at the root
				continue
			}
			t.Errorf("docs/architecture.md has %s/, internal/archtest has not", folder)
		} else if !slices.Equal(row, may) && len(row)+len(may) > 0 {
			t.Errorf("%s/ may import %q by docs/architecture.md, %q by internal/archtest", folder, may, row)
		}
	}
	for folder := range rules {
		if _, ok := table[folder]; !ok && folder != "cmd" {
			t.Errorf("internal/archtest has %s/, docs/architecture.md has not", folder)
		}
	}
}
