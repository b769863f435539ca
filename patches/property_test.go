// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"bytes"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
)

// commitsOf makes the patches of a row of commits, each on the one before.
func commitsOf(t testing.TB, repo *git.Repo, base git.ID, commits ...git.ID) []*Patch {
	t.Helper()
	objects, err := repo.Pending(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer objects.Close()
	c, err := objects.Commit(base)
	if err != nil {
		t.Fatal(err)
	}
	tree := c.Tree
	var list []*Patch
	for _, id := range commits {
		c, err := objects.Commit(id)
		if err != nil {
			t.Fatal(err)
		}
		p, err := FromCommit(objects, c, tree, c.Tree)
		if err != nil {
			t.Fatal(err)
		}
		tree = c.Tree
		if p != nil {
			list = append(list, p)
		}
	}
	setNames(list)
	return list
}

// A world is a random tree that random commits change.
type world struct {
	*rand.Rand
	files map[string]string // content; links start with "->"
	exec  map[string]bool
}

var worldNames = []string{"a", "b.c", "d e", "ü.txt", `q"uote`, `back\slash`, "sub/x", "sub/y", "sub/deep/z", "a.b", "tab", "lib/a", "lib-a", "lib.a"}

func (w *world) content() string {
	switch w.Intn(8) {
	case 0:
		return ""
	case 1:
		b := make([]byte, w.Intn(200_000))
		w.Read(b)
		return "\x00" + string(b)
	}
	end := []string{"\n", "\r\n"}[w.Intn(2)]
	var b strings.Builder
	for range w.Intn(40) {
		fmt.Fprintf(&b, "%s%s", []string{"}", "", "int f(void) {", "  x", "-- ", "--- a/b", "+++", "diff --git a/x b/x", "\xff\xfe", "@@ -1 +1 @@"}[w.Intn(10)], end)
	}
	s := b.String()
	if w.Intn(3) == 0 {
		s = strings.TrimSuffix(s, end)
	}
	return s
}

// mutate changes some lines of a text, as a person would.
func (w *world) mutate(s string) string {
	lines := splitLines(s)
	for range 1 + w.Intn(3) {
		if len(lines) == 0 {
			break
		}
		i := w.Intn(len(lines))
		switch w.Intn(3) {
		case 0:
			lines = append(lines[:i:i], lines[i+1:]...)
		case 1:
			lines = append(lines[:i:i], append([]string{fmt.Sprintf("new %d\n", w.Intn(9))}, lines[i:]...)...)
		case 2:
			lines[i] = strings.TrimRight(lines[i], "\n") + "!\n"
		}
	}
	return strings.Join(lines, "")
}

// free tells whether a path can be created: nothing above it is a file, and it
// is no folder.
func (w *world) free(path string) bool {
	for p := range w.files {
		if strings.HasPrefix(p, path+"/") || strings.HasPrefix(path, p+"/") {
			return false
		}
	}
	return true
}

func (w *world) step() {
	name := worldNames[w.Intn(len(worldNames))]
	old, there := w.files[name]
	link := strings.HasPrefix(old, "->")
	switch n := w.Intn(7); {
	case !there:
		if !w.free(name) {
			return
		}
		w.files[name] = w.content()
		w.exec[name] = w.Intn(3) == 0
	case n == 0:
		delete(w.files, name)
		delete(w.exec, name)
	case n == 1 && !link:
		w.exec[name] = !w.exec[name]
	case n == 2 && !link: // a file becomes a link
		w.files[name] = "->" + "sub/" + worldNames[w.Intn(3)]
		delete(w.exec, name)
	case n == 3 && link:
		w.files[name] = w.content()
	case n == 4: // a rename
		to := worldNames[w.Intn(len(worldNames))]
		delete(w.files, name)
		if _, taken := w.files[to]; taken || !w.free(to) {
			w.files[name] = old
			return
		}
		w.files[to], w.exec[to] = old, w.exec[name]
		delete(w.exec, name)
	case !link:
		w.files[name] = w.mutate(old)
	default:
		w.files[name] = old + "x"
	}
}

func (w *world) commit(repo *gittest.Repo, message string) git.ID {
	files := gittest.Files{}
	options := []gittest.Option{gittest.Only()}
	for name, content := range w.files {
		if target, ok := strings.CutPrefix(content, "->"); ok {
			options = append(options, gittest.Symlink(name, target))
			continue
		}
		files[name] = content
		if w.exec[name] {
			options = append(options, gittest.Exec(name))
		}
	}
	return repo.Commit("main", message, files, options...)
}

// Whatever commits do, their patches give back the same trees and, exported
// again, the same bytes; and git itself reads them as we do.
func TestCommitsSurviveTheirText(t *testing.T) {
	t.Parallel()
	for seed := range int64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := &world{rand.New(rand.NewSource(seed)), map[string]string{"keep": "1\n"}, map[string]bool{}}
			repo := gittest.New(t)
			for range 8 {
				w.step()
			}
			base := w.commit(repo, "base")
			var commits []git.ID
			for i := range 8 {
				for range 1 + w.Intn(4) {
					w.step()
				}
				w.files["keep"] += fmt.Sprintln(i) // no commit is empty
				commits = append(commits, w.commit(repo, fmt.Sprintf("Change %d\n\nbody\n", w.Intn(9))))
			}
			list := commitsOf(t, repo.Repo, base, commits...)
			if len(list) != len(commits) {
				t.Fatalf("%d patches of %d commits", len(list), len(commits))
			}
			read := roundTrip(t, repo, base, list, commits)
			if seed < 2 {
				gitReads(t, repo, base, read, commits)
			}
		})
	}
}

// roundTrip renders, parses, rebuilds and renders again.
func roundTrip(t *testing.T, repo *gittest.Repo, base git.ID, list []*Patch, commits []git.ID) []*Patch {
	t.Helper()
	s := &Stack{Name: "x", Base: base}
	for _, p := range list {
		q, err := Parse(p.File, Render(p))
		if err != nil {
			t.Fatalf("%v in\n%q", err, Render(p))
		}
		if !bytes.Equal(Render(q), Render(p)) {
			t.Fatalf("%s: other bytes after reading:\n%s\n%s", p.File, Render(p), Render(q))
		}
		s.Patches = append(s.Patches, q)
	}
	made, trees, err := Rebuild(t.Context(), repo.Repo, base, s)
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range commits {
		if want := repo.Tree(id); trees[i] != want {
			t.Fatalf("%s: tree %s, want %s", list[i].File, trees[i], want)
		}
	}
	for i, p := range commitsOf(t, repo.Repo, base, made...) {
		if p.File != list[i].File || !bytes.Equal(Render(p), Render(list[i])) {
			t.Fatalf("%s: other bytes after rebuilding:\n%s\n%s", p.File, Render(list[i]), Render(p))
		}
	}
	again, _, err := Rebuild(t.Context(), repo.Repo, base, s)
	if err != nil || !slices.Equal(again, made) {
		t.Fatalf("other commits the second time: %v", err)
	}
	return s.Patches
}

// gitReads applies the files with git apply to an index.
func gitReads(t *testing.T, repo *gittest.Repo, base git.ID, list []*Patch, commits []git.ID) {
	t.Helper()
	dir := t.TempDir()
	index := filepath.Join(dir, "index")
	run := func(args ...string) string {
		c := repo.Command(args...)
		c.Env = append(c.Env, "GIT_INDEX_FILE="+index)
		r, err := c.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(r.Stdout))
	}
	run("read-tree", string(base))
	for i, p := range list {
		file := filepath.Join(dir, "p")
		if err := os.WriteFile(file, Render(p), 0o666); err != nil {
			t.Fatal(err)
		}
		run("apply", "--cached", "--whitespace=nowarn", file)
		if got, want := git.ID(run("write-tree")), repo.Tree(commits[i]); got != want {
			t.Fatalf("git apply of %s gives %s, want %s:\n%s", p.File, got, want, Render(p))
		}
	}
}
