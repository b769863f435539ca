// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
)

// The text is fixed to the byte: a change here changes every patch file that
// exists.
func TestRenderGolden(t *testing.T) {
	t.Parallel()
	repo := gittest.New(t)
	base := repo.Commit("main", "base", gittest.Files{
		"run.sh": "echo\n", "f.c": "int f(void)\n{\n\ta();\n\tb();\n\tc();\n\td();\n\te();\n}\n", "gone": "x", "dos": "a\r\nb\r\n", "with blank": "1\n",
	}, gittest.Symlink("link", "f.c"), gittest.Submodule("sub", "1111111111111111111111111111111111111111"))
	c := repo.Commit("main", "Grow älter\n\nSome words:\n---\ndiff --git a/x b/x\n>From here\n\nUpstream-Status: submitted https://example.org/pull/1\n", gittest.Files{
		"run.sh": "echo\n", "f.c": "int f(void)\n{\n\ta();\n\tb();\n\tc();\n\td();\n\tE();\n}", "dos": "a\r\nB\r\n", "empty": "", "ünï": "\x00\x01", "with blank": "2\n",
	}, gittest.Exec("run.sh"), gittest.Delete("gone"), gittest.Symlink("link", "run.sh"), gittest.Author("Jürgen <j@example.com>"),
		gittest.At(time.Date(2026, 3, 1, 9, 5, 7, 0, time.FixedZone("", -5400))), gittest.Submodule("sub", "2222222222222222222222222222222222222222"))
	list := commitsOf(t, repo.Repo, base, c)
	got := string(Render(list[0]))
	const golden = "testdata/golden.patch"
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(golden, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("other text; if that is meant: UPDATE=1 go test -run TestRenderGolden ./patches\n%s", got)
	}
	roundTrip(t, repo, base, list, []git.ID{c})
}

func TestMessages(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a very long subject ", 30)
	for name, x := range map[string]struct{ in, encoding, want string }{
		"plain":           {"s\n\nb\n", "", "s\n\nb\n"},
		"no newline":      {"s", "", "s\n"},
		"blank lines":     {"\n\n s \n\n\n\nb\n\n\n", "", "s\n\nb\n"},
		"long subject":    {long, "", strings.TrimSpace(long) + "\n"},
		"two lines":       {"s\nt\n\nb\n", "", "s t\n\nb\n"},
		"trailing blanks": {"s\t\r\n\r\nb  \r\n  c\n", "", "s\n\nb\n  c\n"},
		"latin 1":         {"gr\xfc\xdfe", "ISO-8859-1", "grüße\n"},
		"looks like mail": {"[PATCH 1/2] s\n\nFrom: x\nSubject: y\n---\n--- a/b\n+++ b/b\nIndex: z\n>---\n>>diff -r\nFrom 1234\n-- \nsig\n", "",
			"[PATCH 1/2] s\n\nFrom: x\nSubject: y\n---\n--- a/b\n+++ b/b\nIndex: z\n>---\n>>diff -r\nFrom 1234\n--\nsig\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := CleanMessage(x.in, x.encoding)
			if err != nil || got != x.want {
				t.Fatalf("%q, %v; want %q", got, err, x.want)
			}
			p := &Patch{File: "x", Author: git.Signature{Name: "A", Email: "a@b", When: epoch}, Message: got,
				Changes: []Change{{Path: "f", OldMode: git.ModeFile, NewMode: git.ModeExecutable}}}
			q, err := Parse("x", Render(p))
			if err != nil || q.Message != got {
				t.Fatalf("read back: %v, %v", q, err)
			}
		})
	}
	for name, x := range map[string][2]string{
		"empty": {"\n \n", ""}, "not UTF-8": {"a\xff", ""}, "unknown encoding": {"a", "koi8-r"}, "NUL": {"a\x00b", ""},
	} {
		if got, err := CleanMessage(x[0], x[1]); err == nil {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestFileNames(t *testing.T) {
	t.Parallel()
	subjects := []string{"Add a thing", "add: a THING!", "Add a thing-2", "Größe über 5.2x: naïve café", "日本語", "../../etc/passwd", ".hidden.", "a..b", strings.Repeat("word ", 40), "v1.0", "...", "x.patch"}
	want := []string{"add-a-thing", "add-a-thing-2", "add-a-thing-2-2", "groesse-ueber-5.2x-naive-cafe", "patch", "etc-passwd", "hidden", "a.-b",
		"word-word-word-word-word-word-word-word-word-word-word-word", "v1.0", "patch-2", "x.patch"}
	for i, got := range FileNames(subjects) {
		if badFile(got) != "" {
			t.Errorf("%q is refused in a series: %s", got, badFile(got))
		}
		if w := strings.ReplaceAll(want[i], ".-", "-") + ".patch"; got != w {
			t.Errorf("%q: %s, want %s", subjects[i], got, w)
		}
	}
}

func TestSeriesKeepsComments(t *testing.T) {
	t.Parallel()
	text := "# Copyright\n# SPDX\n\n# first group\na.patch\nb.patch  # why b\n\n# second group\nc.patch\n# the end\n"
	s, problems := ParseSeries("series", []byte(text))
	if len(problems) > 0 || string(s.Format()) != text {
		t.Fatalf("%v\n%s", problems, s.Format())
	}
	for name, x := range map[string]struct {
		base  git.ID
		files []string
		want  string
	}{
		"same":    {"", []string{"a.patch", "b.patch", "c.patch"}, text},
		"dropped": {"", []string{"b.patch", "c.patch"}, "# Copyright\n# SPDX\n\n# first group\nb.patch  # why b\n\n# second group\nc.patch\n# the end\n"},
		"moved":   {"", []string{"c.patch", "a.patch", "n.patch"}, "# Copyright\n# SPDX\n\n\n# second group\nc.patch\n# first group\na.patch\nn.patch\n# the end\n"},
		"based":   {"1234567890123456789012345678901234567890", []string{"a.patch"}, "# Copyright\n# SPDX\n\n# base: 1234567890123456789012345678901234567890\n# first group\na.patch\n\n# second group\n# the end\n"},
		"none":    {"", nil, "# Copyright\n# SPDX\n\n# first group\n\n# second group\n# the end\n"},
	} {
		got := string(s.With(x.base, x.files, nil).Format())
		if got != x.want {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
		again, problems := ParseSeries("series", []byte(got))
		if len(problems) > 0 || string(again.Format()) != got || again.Base != x.base {
			t.Errorf("%s: read back: %v %q", name, problems, again.Format())
		}
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"pending": "pending", "Pending": "pending", "inappropriate": "inappropriate", "inappropriate [for gfx1151]": "inappropriate [for gfx1151]",
		"submitted https://example.org/1": "submitted https://example.org/1", "backport <https://example.org/c>": "backport https://example.org/c",
		"pending soon": "", "submitted": "", "submitted #12": "", "backport http://x": "", "accepted": "", "": "",
	} {
		s, err := ParseStatus(value)
		if (err == nil) != (want != "") || err == nil && s.String() != want {
			t.Errorf("%q: %v, %v", value, s, err)
		}
	}
	p := &Patch{Message: "s\n\nbody\n\nSigned-off-by: A <a@b>\n"}
	p.AddStatus(UpstreamStatus{State: "pending"})
	p.AddStatus(UpstreamStatus{State: "inappropriate"})
	if want := "s\n\nbody\n\nSigned-off-by: A <a@b>\nUpstream-Status: pending\n"; p.Message != want {
		t.Errorf("%q", p.Message)
	}
	p.Message += "upstream-status: pending\n"
	if _, err := p.Status(); err == nil {
		t.Error("two are one too many")
	}
}

// A person can send our files with git am, and gets the same tree and message.
func TestGitAm(t *testing.T) {
	t.Parallel()
	up, base := three(t)
	list := commitsOf(t, up.Repo, base, git.ID(up.Git("rev-parse", "ours~2")), git.ID(up.Git("rev-parse", "ours~1")), git.ID(up.Git("rev-parse", "ours")))
	dir := t.TempDir()
	run := func(args ...string) string {
		t.Helper()
		c := exec.Command("git", args...)
		c.Dir = dir
		c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_COMMITTER_NAME=C", "GIT_COMMITTER_EMAIL=c@d", "GIT_CONFIG_NOSYSTEM=1"}
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	run("clone", "-q", "-b", "main", up.Dir(), ".")
	for _, p := range list {
		file := filepath.Join(dir, ".git", "p.patch")
		if err := os.WriteFile(file, Render(p), 0o666); err != nil {
			t.Fatal(err)
		}
		run("am", "-q", "--keep-cr", "--keep-non-patch", file)
		if got := run("log", "-1", "--format=%an|%ae|%aI|%B"); got != "Test|test@example.com|"+p.Author.When.Format("2006-01-02T15:04:05-07:00")+"|"+strings.TrimSpace(p.Message) {
			t.Errorf("git am reads %q", got)
		}
	}
	if got, want := run("rev-parse", "HEAD^{tree}"), up.Git("rev-parse", "ours^{tree}"); got != want {
		t.Errorf("git am gives the tree %s, want %s", got, want)
	}
}
