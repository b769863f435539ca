// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package declared

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/git"
)

// gitRepo makes a bare repository with a commit that has a submodule.
func gitRepo(t *testing.T) (*git.Repo, git.ID) {
	t.Helper()
	repo, err := git.Init(t.Context(), filepath.Join(t.TempDir(), "r.git"))
	if err != nil {
		t.Fatal(err)
	}
	input := func(text string, args ...string) string {
		c := repo.Command(args...)
		c.Stdin = strings.NewReader(text)
		r, err := c.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(r.Stdout))
	}
	blob := func(text string) string { return input(text, "hash-object", "-w", "--stdin") }
	sub := strings.Repeat("1", 40)
	inner := input(fmt.Sprintf("100644 blob %s\tCMakeLists.txt\n", blob("file(DOWNLOAD https://x.example/a a)\n")), "mktree")
	tree := input(fmt.Sprintf("100644 blob %s\t.gitmodules\n100755 blob %s\tbuild.sh\n120000 blob %s\tlink.sh\n160000 commit %s\tsub\n040000 tree %s\tsrc\n",
		blob("[submodule \"s\"]\n\tpath = sub\n\turl = https://x.example/s.git\n"), blob("curl https://x.example/b\n"), blob("build.sh"), sub, inner), "mktree", "--missing")
	who := "a <a@x.example> 1700000000 +0000"
	commit := input(fmt.Sprintf("tree %s\nauthor %s\ncommitter %s\n\nx\n", tree, who, who), "hash-object", "-t", "commit", "-w", "--stdin")
	id, err := git.ParseID(commit)
	if err != nil {
		t.Fatal(err)
	}
	return repo, id
}

func detectGit(t *testing.T, repo *git.Repo, id git.ID) []string {
	t.Helper()
	tree, err := OpenGit(t.Context(), repo, id)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	list, err := Detect(tree)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range list {
		got = append(got, fmt.Sprintf("%s:%d %s %s%s", d.File, d.Line, d.URL, d.Rev, d.Problem))
	}
	return got
}

func TestGitTree(t *testing.T) {
	repo, id := gitRepo(t)
	want := ".gitmodules:1 https://x.example/s.git " + strings.Repeat("1", 40) + "\nbuild.sh:1 https://x.example/b \nsrc/CMakeLists.txt:1 https://x.example/a "
	if got := strings.Join(detectGit(t, repo, id), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// A mirror that lacks a blob: the file is red, not passed over.
	r, err := repo.Command("rev-parse", "--verify", "--end-of-options", string(id)+":build.sh").Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	blob := strings.TrimSpace(string(r.Stdout))
	if err := os.Remove(filepath.Join(repo.Dir(), "objects", blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	if got := detectGit(t, repo, id); len(got) != 3 || got[1] != "build.sh:1  the file is listed but its content is not there" {
		t.Errorf("got %q", got)
	}
	if _, err := OpenGit(t.Context(), repo, git.ID(strings.Repeat("2", 40))); err == nil {
		t.Error("a commit that is not there was opened")
	}
}

func TestFS(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a/CMakeLists.txt": "file(DOWNLOAD https://x.example/a a)", ".git/hooks/x.sh": "curl https://x.example/no", "x.cpp": "curl"} {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		writeFile(t, p, []byte(text))
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "l.sh")); err != nil {
		t.Fatal(err)
	}
	list, err := Detect(FS(os.DirFS(dir)))
	if err != nil || len(list) != 1 || list[0].File != "a/CMakeLists.txt" {
		t.Errorf("%v, %v", list, err)
	}
}

// BenchmarkDetect is a tree of 100,000 files, 2,000 of them CMake files.
func BenchmarkDetect(b *testing.B) {
	tree := memTree{}
	for i := range 100000 {
		name := fmt.Sprintf("d%d/f%d.cpp", i%1000, i)
		if i%50 == 0 {
			name = fmt.Sprintf("d%d/e%d/CMakeLists.txt", i%1000, i)
		}
		tree[name] = memFile{mode: "100644", data: []byte(strings.Repeat("set(A b)\ntarget_link_libraries(x PRIVATE y z)\n", 40) + "file(DOWNLOAD https://x.example/${A} a)\n")}
	}
	for b.Loop() {
		if list, err := Detect(tree); err != nil || len(list) != 2000 {
			b.Fatal(len(list), err)
		}
	}
}
