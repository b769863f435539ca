// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package treesum_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/sumdb/dirhash"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/treesum"
)

// hash1 is the definition: dirhash.Hash1 over named contents.
func hash1(t *testing.T, contents map[string]string) string {
	t.Helper()
	var names []string
	for n := range contents {
		names = append(names, n)
	}
	h, err := dirhash.Hash1(names, func(name string) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(contents[name])), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return "t1:" + strings.TrimPrefix(h, "h1:")
}

func TestBothAgreeWithHash1(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 1))
			files, want := gittest.Files{}, map[string]string{}
			var exec []string
			var options []gittest.Option
			alphabet := []string{"a", "B", "-x", " ", "é", "\xff", "a.b", "100644 z", "#", "\\", "'\""}
			for range random.IntN(120) {
				var parts []string
				for range 1 + random.IntN(4) {
					parts = append(parts, alphabet[random.IntN(len(alphabet))]+fmt.Sprint(random.IntN(4)))
				}
				parts[len(parts)-1] += ".f" // no file is also a folder
				path := strings.Join(parts, "/")
				if _, ok := files[path]; ok || want["120000 "+path] != "" {
					continue
				}
				content := strings.Repeat("\x00line\r\n", random.IntN(3)*random.IntN(3000))
				switch random.IntN(5) {
				case 0:
					target := "../" + path
					options = append(options, gittest.Symlink(path, target))
					want["120000 "+path] = target
				case 1:
					files[path], want["100755 "+path] = content, content
					exec = append(exec, path)
				default:
					files[path], want["100644 "+path] = content, content
				}
			}
			// What would filter or convert must not.
			files[".gitattributes"] = "* text eol=crlf ident export-ignore\n"
			want["100644 .gitattributes"] = files[".gitattributes"]
			files["ident"] = "$Id$\n"
			want["100644 ident"] = files["ident"]
			r := gittest.New(t)
			id := r.Commit("main", "x", files, append(options, gittest.Exec(exec...))...)
			res, err := treesum.FromGit(t.Context(), r.Repo, r.Tree(id), treesum.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if sum := hash1(t, want); res.Sum != sum || res.Files != len(want) || !treesum.Valid(sum) {
				t.Errorf("from git %s of %d files, Hash1 says %s of %d", res.Sum, res.Files, sum, len(want))
			}
			dir := t.TempDir()
			for name, content := range want {
				mode, path, _ := strings.Cut(name, " ")
				path = filepath.Join(dir, path)
				os.MkdirAll(filepath.Dir(path), 0o777)
				var err error
				switch mode {
				case "120000":
					err = os.Symlink(content, path)
				case "100755":
					err = os.WriteFile(path, []byte(content), 0o755)
				default:
					err = os.WriteFile(path, []byte(content), 0o644)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			os.Mkdir(filepath.Join(dir, "empty"), 0o777)
			folder, err := treesum.FromFolder(dir, treesum.FolderOptions{})
			if err != nil || folder.Sum != res.Sum || folder.Files != res.Files || folder.Bytes != res.Bytes {
				t.Errorf("from the folder %+v, from git %+v, %v", folder, res, err)
			}
		})
	}
}

func TestSubmodulesAndExclusions(t *testing.T) {
	t.Parallel()
	sub := gittest.New(t)
	subID := sub.Commit("main", "sub", gittest.Files{"s": "s\n", "huge": "huge\n"})
	r := gittest.New(t)
	other := git.ID(strings.Repeat("1", 40))
	id := r.Commit("main", "x", gittest.Files{"a": "a\n", "d/model.gguf": "weights\n"},
		gittest.Submodule("third_party/sub", subID), gittest.Submodule("left/out", other))
	ctx := t.Context()

	_, err := treesum.FromGit(ctx, r.Repo, r.Tree(id), treesum.Options{Exclude: []string{"left/out"}})
	var missing *treesum.MissingSubmodule
	if !errors.As(err, &missing) || missing.Path != "third_party/sub" || missing.Commit != subID {
		t.Errorf("got %v", err)
	}
	subSum, err := treesum.FromGit(ctx, sub.Repo, sub.Tree(subID), treesum.Options{Exclude: []string{"huge"}})
	if err != nil {
		t.Fatal(err)
	}
	o := treesum.Options{Submodules: map[string]string{"third_party/sub": subSum.Sum}, Exclude: []string{"left/out", "d/model.gguf"}}
	got, err := treesum.FromGit(ctx, r.Repo, r.Tree(id), o)
	if err != nil {
		t.Fatal(err)
	}
	model := git.ID(r.Git("rev-parse", string(id)+":d/model.gguf"))
	huge := git.ID(sub.Git("rev-parse", string(subID)+":huge"))
	want := hash1(t, map[string]string{
		"100644 a":                     "a\n",
		"excluded 100644 d/model.gguf": string(model),
		"excluded 160000 left/out":     string(other),
		"160000 third_party/sub":       hash1(t, map[string]string{"100644 s": "s\n", "excluded 100644 huge": string(huge)}),
	})
	if got.Sum != want {
		t.Errorf("got %s, want %s", got.Sum, want)
	}
	if d := cmp.Diff([]treesum.Excluded{{Path: "d/model.gguf", Mode: git.ModeFile, ID: model, Size: 8}, {Path: "left/out", Mode: git.ModeSubmodule, ID: other}}, got.Excluded); d != "" {
		t.Error(d)
	}

	dir := t.TempDir()
	os.MkdirAll(dir+"/third_party/sub", 0o777)
	os.WriteFile(dir+"/a", []byte("a\n"), 0o666)
	os.WriteFile(dir+"/third_party/sub/s", []byte("s\n"), 0o666)
	fo := treesum.FolderOptions{Submodules: []string{"third_party/sub"}, Excluded: append(got.Excluded,
		treesum.Excluded{Path: "third_party/sub/huge", Mode: git.ModeFile, ID: huge})}
	folder, err := treesum.FromFolder(dir, fo)
	if err != nil || folder.Sum != want {
		t.Errorf("from the folder %+v, %v", folder, err)
	}
	os.MkdirAll(dir+"/d", 0o777)
	os.WriteFile(dir+"/d/model.gguf", []byte("weights\n"), 0o666)
	if _, err := treesum.FromFolder(dir, fo); err == nil || !strings.Contains(err.Error(), "left out") {
		t.Errorf("an excluded file is there: got %v", err)
	}
	var unused *treesum.Unused
	fo.Excluded, fo.Submodules = nil, append(fo.Submodules, "gone")
	if _, err := treesum.FromFolder(dir, fo); !errors.As(err, &unused) {
		t.Errorf("got %v", err)
	}
	o.Exclude = append(o.Exclude, "d/*")
	if _, err := treesum.FromGit(ctx, r.Repo, r.Tree(id), o); !errors.As(err, &unused) || unused.Paths[0] != "d/*" {
		t.Errorf("an exclusion is no glob: got %v", err)
	}
	o.Exclude, o.Submodules["third_party/sub"] = o.Exclude[:2], "t1:short"
	if _, err := treesum.FromGit(ctx, r.Repo, r.Tree(id), o); err == nil {
		t.Error("a malformed sum was taken in")
	}
}

func TestMissingBlobIsNamed(t *testing.T) {
	t.Parallel()
	src := gittest.New(t)
	id := src.Commit("main", "x", gittest.Files{"a": "a\n", "d/\u200fb": "b\n"})
	s := gittest.Serve(t, filepath.Dir(src.Dir()), gittest.ServerOptions{})
	r := gittest.New(t)
	if err := r.Fetch(t.Context(), s.Remote("repo.git"), git.FetchSpec{Commits: []git.ID{id}, Depth: 1, Filter: "blob:none"}); err != nil {
		t.Fatal(err)
	}
	a, b := git.ID(src.Git("rev-parse", string(id)+":a")), git.ID(src.Git("rev-parse", string(id)+":d/\u200fb"))
	if _, err := r.FetchObjects(t.Context(), s.Remote("repo.git"), []git.ID{a}, nil); err != nil {
		t.Fatal(err)
	}
	_, err := treesum.FromGit(t.Context(), r.Repo, r.Tree(id), treesum.Options{})
	var missing *treesum.MissingBlob
	var object *git.MissingObject
	if !errors.As(err, &missing) || missing.Path != "d/\u200fb" || missing.ID != b || !errors.As(err, &object) || strings.Contains(err.Error(), "\u200f") {
		t.Errorf("got %q", err)
	}
	if _, err := treesum.FromGit(t.Context(), r.Repo, r.Tree(id), treesum.Options{Exclude: []string{"d/\u200fb"}}); err != nil {
		t.Errorf("with the blob excluded: %v", err)
	}
}

func TestFolderRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := treesum.FromFolder(dir+"/none", treesum.FolderOptions{}); err == nil {
		t.Error("no folder, no error")
	}
	os.WriteFile(dir+"/a\nb", nil, 0o666)
	if _, err := treesum.FromFolder(dir, treesum.FolderOptions{}); err == nil || !strings.Contains(err.Error(), `a\nb`) {
		t.Errorf("got %v", err)
	}
}

func TestHostileTreeIsRefused(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	tree := r.RawTree(git.TreeEntry{Mode: git.ModeFile, Name: "..", ID: r.Object("blob", nil)})
	var u *git.UnsafeTree
	if _, err := treesum.FromGit(t.Context(), r.Repo, tree, treesum.Options{}); !errors.As(err, &u) {
		t.Errorf("got %v", err)
	}
	blob := r.Object("blob", nil)
	tree = r.RawTree(git.TreeEntry{Mode: git.ModeFile, Name: "a", ID: r.RawTree(git.TreeEntry{Mode: git.ModeFile, Name: "x", ID: blob})})
	var k *git.WrongKind
	if _, err := treesum.FromGit(t.Context(), r.Repo, tree, treesum.Options{}); !errors.As(err, &k) {
		t.Errorf("a tree in a file's place: got %v", err)
	}
}

// The benchmarks take a repository and a revision from TREESUM_REPO and
// TREESUM_REV, or make a small one. Compare the two:
//
//	TREESUM_REPO=DIR TREESUM_REV=HEAD go test -run '^$' -bench . ./internal/treesum
func benchTree(b *testing.B) (*git.Repo, git.ID, int64) {
	ctx := context.Background()
	var repo *git.Repo
	rev := "main"
	if dir := os.Getenv("TREESUM_REPO"); dir != "" {
		var err error
		if repo, err = git.Open(ctx, dir); err != nil {
			b.Fatal(err)
		}
		rev = os.Getenv("TREESUM_REV")
	} else {
		r := gittest.New(b)
		files := gittest.Files{}
		for i := range 2000 {
			files[fmt.Sprintf("d%d/e%d/f%d.c", i%10, i%97, i)] = strings.Repeat(fmt.Sprintf("int x%d;\n", i*i), 500)
		}
		r.Commit("main", "x", files)
		r.Git("repack", "-adq")
		repo = r.Repo
	}
	tree, err := repo.RevParse(ctx, rev+"^{tree}")
	if err != nil {
		b.Fatal(err)
	}
	res, err := treesum.FromGit(ctx, repo, tree, benchOptions(b, repo, tree))
	if err != nil {
		b.Fatal(err)
	}
	return repo, tree, res.Bytes
}

// benchOptions leaves out submodules, as git archive does, because their sums
// are not known here.
func benchOptions(b *testing.B, repo *git.Repo, tree git.ID) (o treesum.Options) {
	entries, err := repo.LsTree(context.Background(), tree)
	if err != nil {
		b.Fatal(err)
	}
	for _, e := range entries {
		if e.Mode == git.ModeSubmodule {
			o.Exclude = append(o.Exclude, e.Path)
		}
	}
	return o
}

func BenchmarkFromGit(b *testing.B) {
	repo, tree, size := benchTree(b)
	o := benchOptions(b, repo, tree)
	b.SetBytes(size)
	for b.Loop() {
		if _, err := treesum.FromGit(context.Background(), repo, tree, o); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkArchive is the peer: git archive | sha256sum.
func BenchmarkArchive(b *testing.B) {
	repo, tree, size := benchTree(b)
	b.SetBytes(size)
	for b.Loop() {
		var out bytes.Buffer
		c := repo.Command()
		c.Path = "sh"
		c.Args = []string{"-c", `git --git-dir="$1" archive --format=tar "$2" | sha256sum`, "sh", repo.Dir(), string(tree)}
		c.Stdout = &out
		if _, err := c.Run(context.Background()); err != nil || out.Len() < 64 {
			b.Fatal(err, out.String())
		}
	}
}
