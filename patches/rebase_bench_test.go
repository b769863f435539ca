// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"bytes"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/git"
)

// A history is a made repository with a stack on an old base and a newer
// upstream. The same numbers and seed give the same one, to the commit id.
type madeHistory struct {
	repo  *git.Repo
	stack Commits
	onto  git.ID
}

// makeHistory makes a tree of so many files of about 120 lines each, upstream
// commits that change lines in a few files, and patches that change other
// lines, often of the same files.
func makeHistory(t testing.TB, seed int64, files, upstream, patches int, conflictAt int) madeHistory {
	t.Helper()
	random := rand.New(rand.NewSource(seed))
	repo, err := git.Init(t.Context(), filepath.Join(t.TempDir(), "made.git"))
	if err != nil {
		t.Fatal(err)
	}
	const lines = 120
	name := func(i int) string { return fmt.Sprintf("src/part%02d/sub%d/file%04d.c", i%40, i%7, i) }
	base := make([][]string, files)
	for i := range base {
		base[i] = make([]string, lines)
		for l := range base[i] {
			if l%12 == 0 {
				base[i][l] = fmt.Sprintf("static int function_%d_%d(int argument) {\n", i, l)
			} else {
				base[i][l] = fmt.Sprintf("    value_%d += compute(%d, argument);\n", l, random.Intn(1000))
			}
		}
	}
	var in bytes.Buffer
	mark := 0
	when := int64(1_790_000_000)
	commit := func(ref, subject string, from int, changed map[int][]string) int {
		mark++
		when += 60
		fmt.Fprintf(&in, "commit %s\nmark :%d\nauthor A <a@example.com> %d +0000\ncommitter A <a@example.com> %d +0000\ndata %d\n%s\n", ref, mark, when, when, len(subject)+1, subject+"\n")
		if from > 0 {
			fmt.Fprintf(&in, "from :%d\n", from)
		}
		for i := range files {
			if text, ok := changed[i]; ok {
				content := strings.Join(text, "")
				fmt.Fprintf(&in, "M 100644 inline %s\ndata %d\n%s\n", name(i), len(content), content)
			}
		}
		return mark
	}
	all := map[int][]string{}
	for i := range base {
		all[i] = base[i]
	}
	root := commit("refs/heads/main", "the whole tree", 0, all)
	// Upstream changes the upper half of files, patches the lower half, so
	// that they merge.
	edit := func(state map[int][]string, i, low, high int, what string) {
		text, ok := state[i]
		if !ok {
			text = append([]string(nil), base[i]...)
		} else {
			text = append([]string(nil), text...)
		}
		at := low + random.Intn(high-low)
		if at%12 == 0 {
			at++
		}
		text[at] = fmt.Sprintf("    %s_%d = changed(%d);\n", what, at, random.Int63())
		state[i] = text
	}
	tip := root
	state := map[int][]string{}
	for n := range upstream {
		changed := map[int][]string{}
		for range 3 + random.Intn(8) {
			i := random.Intn(files / 5)
			edit(state, i, 1, lines/2-6, fmt.Sprintf("upstream%d", n))
			changed[i] = state[i]
		}
		if n == conflictAt {
			text := append([]string(nil), base[files-1]...)
			text[100] = "    upstream changes what the last patch changes\n"
			state[files-1], changed[files-1] = text, text
		}
		tip = commit("refs/heads/main", fmt.Sprintf("Upstream change %d (#%d)", n, 1000+n), tip, changed)
	}
	stackTip := root
	state = map[int][]string{}
	for n := range patches {
		changed := map[int][]string{}
		for range 1 + random.Intn(4) {
			i := random.Intn(files / 4)
			edit(state, i, lines/2+6, lines, fmt.Sprintf("patch%d", n))
			changed[i] = state[i]
		}
		if conflictAt >= 0 && n == patches-1 {
			text := append([]string(nil), base[files-1]...)
			text[100] = "    ours changes what an upstream commit changes\n"
			changed[files-1] = text
		}
		stackTip = commit("refs/heads/stack", fmt.Sprintf("Patch number %d", n), max(stackTip, root), changed)
	}
	in.WriteString("done\n")
	c := repo.Command("-c", "core.compression=1", "fast-import", "--quiet", "--done", "--depth=0")
	c.Stdin = &in
	if _, err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	id := func(rev string) git.ID {
		id, err := repo.RevParse(t.Context(), rev)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	h := madeHistory{repo: repo, onto: id("refs/heads/main")}
	rootID, err := repo.MergeBase(t.Context(), h.onto, id("refs/heads/stack"))
	if err != nil {
		t.Fatal(err)
	}
	h.stack = stackOf(t, repo, rootID, id("refs/heads/stack"))
	return h
}

// stackOf is the stack base..tip of a repository.
func stackOf(t testing.TB, repo *git.Repo, base, tip git.ID) Commits {
	t.Helper()
	s, err := CommitsOf(t.Context(), repo, "test", base, tip)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func BenchmarkRebase(b *testing.B) {
	h := makeHistory(b, 1, 2500, 70, 159, -1)
	perRun := map[string]float64{} // seconds
	for _, mode := range []struct {
		name    string
		options []EngineOption
	}{{"stdin", nil}, {"spawn", []EngineOption{SpawnEach()}}} {
		b.Run(mode.name, func(b *testing.B) {
			for b.Loop() {
				r := rebaseMade(b, h, RebaseOptions{Bisect: true}, mode.options...)
				b.ReportMetric(float64(r.Merges), "merges")
			}
			perRun[mode.name] = b.Elapsed().Seconds() / float64(b.N)
		})
	}
	b.Run("git-rebase", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			work := filepath.Join(b.TempDir(), "work")
			gitIn(b, "", "clone", "-q", "--shared", "-b", "stack", h.repo.Dir(), work)
			b.StartTimer()
			gitIn(b, work, "-c", "user.name=a", "-c", "user.email=a@example.com", "rebase", "-q", "--merge", "--onto", string(h.onto), string(h.stack.Base))
			b.StopTimer()
			os.RemoveAll(work)
			b.StartTimer()
		}
		for name, seconds := range perRun {
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/seconds, "times-"+name)
		}
	})
}

func rebaseMade(t testing.TB, h madeHistory, o RebaseOptions, options ...EngineOption) *Result {
	t.Helper()
	e, err := NewEngine(t.Context(), h.repo, options...)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	r, err := e.Rebase(t.Context(), h.stack, h.onto, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func BenchmarkBisect(b *testing.B) {
	h := makeHistory(b, 1, 2500, 1000, 40, 700)
	for b.Loop() {
		e, err := NewEngine(b.Context(), h.repo)
		if err != nil {
			b.Fatal(err)
		}
		r, err := e.Bisect(b.Context(), h.stack, h.stack.Patches[39].File, h.onto, RebaseOptions{})
		if err != nil {
			b.Fatal(err)
		}
		if r.Guilty.Commit == nil || r.Guilty.Commit.PullRequest != "1700" {
			b.Fatalf("found %+v", r.Guilty)
		}
		b.ReportMetric(float64(r.Guilty.Merges), "merges")
		e.Close()
	}
}

// gitIn runs git in a work tree, with a clean environment.
func gitIn(t testing.TB, dir string, args ...string) string {
	t.Helper()
	out, err := tryGit(dir, args...)
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(out)
}

func tryGit(dir string, args ...string) (string, error) {
	c := exec.Command("git", args...)
	c.Dir = dir
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_EDITOR=true"}
	out, err := c.CombinedOutput()
	return string(out), err
}
