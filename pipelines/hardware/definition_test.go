// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package hardware

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, data := range files {
		path := filepath.Join(root, Folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestDefinitions(t *testing.T) {
	prefill := "# a test\nname: prefill\ncomponent: llama-vulkan\nwhat: prompts of 512 tokens\ndefinition:\n  command: [llama-bench]\n"
	sum := sha256.Sum256([]byte(prefill))
	for _, c := range []struct {
		what  string
		files map[string]string
		want  []Definition
		wrong string
	}{
		{"none", nil, nil, ""},
		{"one and a README", map[string]string{"prefill.yaml": prefill, "README.md": "#"},
			[]Definition{{"prefill", "llama-vulkan", "sha256:" + hex.EncodeToString(sum[:]), "ci/hardware/prefill.yaml"}}, ""},
		{"all that is wrong", map[string]string{
			"a.yaml": "", "b.yaml": "name: c\ncomponent: x\n", "c.yaml": "name: c\ncomponent: ../x\n", "d.yaml": "name: d\nowner: x\n",
			"e.yaml": "name: e\ncomponent: x\n---\n", "f.yaml": "name: [\n",
		}, nil, `ci/hardware/a.yaml:1: name: want a name of a-z, 0-9 and -
ci/hardware/a.yaml:1: component: want a name of a-z, 0-9 and -
ci/hardware/b.yaml:1: name: it is "c" and the file is called b.yaml
ci/hardware/c.yaml:2: component: want a name of a-z, 0-9 and -
ci/hardware/d.yaml:2: unknown key "owner"
ci/hardware/e.yaml:1: there is more than one document in the file
ci/hardware/f.yaml:1: did not find expected node content`},
	} {
		t.Run(c.what, func(t *testing.T) {
			got, err := Definitions(tree(t, c.files))
			text := ""
			if err != nil {
				text = err.Error()
			}
			if d := cmp.Diff(c.wrong, text); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestDefinitionsAreFiles(t *testing.T) {
	root := tree(t, map[string]string{"README.md": "#"})
	if err := os.Symlink("/etc/passwd", filepath.Join(root, Folder, "x.yaml")); err != nil {
		t.Fatal(err)
	}
	if _, err := Definitions(root); err == nil || err.Error() != "ci/hardware/x.yaml:1: it is not a regular file" {
		t.Errorf("%v", err)
	}
}
