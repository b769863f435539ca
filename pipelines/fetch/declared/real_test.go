// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package declared

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/parts"
)

var update = flag.Bool("update", false, "write the golden files anew")

// The real upstreams' declarations at one commit each. The golden files are
// our own lists of facts; a line names the commit.
func TestRealUpstreams(t *testing.T) {
	const part, env = "upstream-mirrors", "ONEBIT_TEST_MIRRORS"
	root := os.Getenv(env)
	if root == "" {
		absent := fmt.Sprintf("part %s: absent: %s names no folder of bare repositories", part, env)
		if slices.Contains(parts.Required(), part) {
			t.Fatal(absent)
		}
		t.Skip(absent)
	}
	for _, u := range []struct{ golden, repo string }{
		{"llama.cpp.golden", "ngxson+llama.cpp/repo"},
		{"rocmfpx.golden", "charlie12345+ROCmFPX/repo"},
	} {
		t.Run(u.golden, func(t *testing.T) {
			golden := filepath.Join("testdata", u.golden)
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			head, first, _ := strings.Cut(string(want), "# commit ")
			first, _, _ = strings.Cut(first, "\n")
			id, err := git.ParseID(first)
			if err != nil {
				t.Fatalf("%s: a line must be # commit and a full id: %v", golden, err)
			}
			repo, err := git.Open(t.Context(), filepath.Join(root, filepath.FromSlash(u.repo)))
			if err != nil {
				t.Fatal(err)
			}
			tree, err := OpenGit(t.Context(), repo, id)
			if err != nil {
				t.Fatal(err)
			}
			defer tree.Close()
			list, err := Detect(tree)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("part %s: used: %s at %s", part, u.repo, id.Short())
			var got bytes.Buffer
			fmt.Fprintf(&got, "%s# commit %s\n", head, id)
			for _, d := range list {
				mark := " "
				if d.Red() {
					mark = "!"
				}
				fmt.Fprintf(&got, "%s %s:%d %s %s %q %s\n", mark, d.File, d.Line, d.Kind, d.Command, d.Name, d.URL)
			}
			if *update {
				if err := os.WriteFile(golden, got.Bytes(), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" && !*update {
				t.Errorf("(-want +got):\n%s\nif this is right: %s=… go test ./pipelines/fetch/declared -run TestRealUpstreams -update", diff, env)
			}
		})
	}
}
