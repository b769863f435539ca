// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// Every way to spoil a stack's files is found before anything is touched, with
// the file and the line.
func TestSpoiledFiles(t *testing.T) {
	t.Parallel()
	up, base := three(t)
	up.Commit("ours", "A binary"+status, gittest.Files{"data.bin": "\x00\x01\x02 some bytes", "blank.txt": "a\n \nb  \n"})
	whole := newEngine(t, up, base)
	whole.imports("ours")
	files := whole.state()
	const first, second, third, bin = "patches/demo/first-change.patch", "patches/demo/second-change.patch", "patches/demo/third-change.patch", "patches/demo/a-binary.patch"
	edit := func(file, old, new string) func(*engine) {
		return func(e *engine) {
			text := e.get(file)
			if !strings.Contains(text, old) {
				e.t.Fatalf("%s has no %q:\n%s", file, old, text)
			}
			e.put(file, strings.Replace(text, old, new, 1))
		}
	}
	cut := func(file, at string) func(*engine) {
		return func(e *engine) {
			text := e.get(file)
			i := strings.LastIndex(text, at)
			if i < 0 {
				e.t.Fatalf("%s has no %q:\n%s", file, at, text)
			}
			e.put(file, text[:i])
		}
	}
	for name, x := range map[string]struct {
		spoil func(*engine)
		want  string // with its place
	}{
		"truncated in a hunk":         {cut(first, " line 8"), first + ":21: the patch is truncated"},
		"truncated in a line":         {cut(first, "ne 8\n"), first + ":22: the patch is truncated: its last line does not end"},
		"truncated between files":     {cut(second, "diff --git"), second + ":16: the patch is truncated: it says that it changes 2 files and has 1"},
		"truncated before the change": {cut(first, "--- a"), first + ":11: the patch is truncated: the change of a.c is missing"},
		"truncated in the message":    {cut(first, "---\n 1"), first + ":6: the patch is truncated: the line --- after the message is missing"},
		"empty":                       {cut(first, "From 0"), first + ":1: the patch is truncated"},
		"saved with CRLF":             {func(e *engine) { e.put(first, strings.ReplaceAll(e.get(first), "\n", "\r\n")) }, first + ":1: the file was saved with CRLF line ends"},
		"CRLF series": {func(e *engine) {
			e.put("patches/demo/series", strings.ReplaceAll(e.get("patches/demo/series"), "\n", "\r\n"))
		}, "patches/demo/series:1: the file was saved with CRLF"},
		"its own CRLF stripped":        {edit(second, "+three\r\n", "+three\n"), second + ":17: the change of crlf.txt leads to"},
		"its context's CRLF stripped":  {edit(second, " two\r\n", " two\n"), second + `:23: line 2 should be "two\n": the file has "two\r\n"`},
		"blanks at ends stripped":      {edit(bin, "+b  \n", "+b\n"), bin + ":10: the change of blank.txt leads to"},
		"blank context line stripped":  {edit(first, " line 2\n", "\n"), first + ":15: a line of a hunk has no first character"},
		"binary without index":         {func(e *engine) { e.put(bin, withoutLines(e.get(bin), "index ", 1)) }, bin + ":21: data.bin has no index line"},
		"binary content missing":       {edit(bin, "GIT binary patch", "Binary files /dev/null and b/data.bin differ"), bin + ":22: the content of the binary file is missing"},
		"binary damaged":               {edit(bin, "literal 14\nYcmV", "literal 14\nYcmW"), bin + ":25: the binary hunk "},
		"short ids":                    {func(e *engine) { e.put(first, shortIndex(e.get(first))) }, first + ":11: the index line must have both ids in full"},
		"steps out":                    {edit(first, "a/a.c b/a.c", "a/../a.c b/../a.c"), first + ":10: the path ../a.c is refused"},
		"absolute":                     {edit(first, "a/a.c b/a.c", "a//etc/x b//etc/x"), first + ":10: the path /etc/x is refused"},
		"into .git":                    {edit(first, "a/a.c b/a.c", "a/.GIT/hooks/x b/.GIT/hooks/x"), first + ":10: the path .GIT/hooks/x is refused"},
		"a quoted way into .git":       {edit(first, "a/a.c b/a.c", `"a/sub/\056git/x" "b/sub/\056git/x"`), first + ":10: the path sub/.git/x is refused"},
		"a rename":                     {edit(first, "a/a.c b/a.c", "a/a.c b/b.c"), first + ":10: both names must be the same"},
		"other names below":            {edit(first, "+++ b/a.c", "+++ b/b.c"), first + ":13: the line \"+++ b/a.c\" should be here"},
		"text before":                  {edit(first, "From 0", "Hello\nFrom 0"), first + ":1: this does not start as a patch of ours"},
		"text after":                   {func(e *engine) { e.put(first, e.get(first)+"-- \n2.39.5\n") }, first + ":23: a patch of ours has no signature"},
		"more lines in a hunk":         {edit(first, " line 8\n", " line 8\n line 9\n"), first + ":23: the hunk has more lines"},
		"hunk moved":                   {edit(first, "@@ -2,7 +2,7 @@", "@@ -3,7 +3,7 @@"), first + `:15: line 3 should be "line 2\n": the file has "line 3\n"`},
		"a date that is none":          {edit(first, "Date: ", "Date: never, "), first + ":3: "},
		"subject on two lines":         {edit(first, "Subject: First change\n", "Subject: First\n change\n"), first + ":5: a blank line should be here"},
		"device":                       {edit(bin, "new file mode 100644\nindex", "new file mode 060644\nindex"), bin + ":11: \"060644\" is none of the modes"},
		"listed and missing":           {func(e *engine) { os.Remove(filepath.Join(e.root, second)) }, "patches/demo/series:5: second-change.patch: the file is missing"},
		"twice in the series":          {edit("patches/demo/series", "third-change.patch", "first-change.patch"), "patches/demo/series:6: first-change.patch is there twice, first in line 4"},
		"not in the series":            {edit("patches/demo/series", "third-change.patch\n", ""), third + ":1: the patch is not in the series"},
		"another folder in the series": {edit("patches/demo/series", "third-change.patch", "../third-change.patch"), "patches/demo/series:6: \"../third-change.patch\" is not a file of this folder"},
		"quilt options":                {edit("patches/demo/series", "third-change.patch", "third-change.patch -p0"), "patches/demo/series:6: \"third-change.patch -p0\": a line holds one file name"},
		"no series":                    {func(e *engine) { os.Remove(filepath.Join(e.root, "patches/demo/series")) }, "patches/demo/series:1: the file is missing"},
		"a leftover":                   {func(e *engine) { e.put("patches/demo/a.c.rej", "x") }, "patches/demo/a.c.rej:1: this does not belong"},
		"a link for a patch": {func(e *engine) {
			os.Rename(filepath.Join(e.root, first), filepath.Join(e.root, "x"))
			os.Symlink("../../x", filepath.Join(e.root, first))
		}, "patches/demo/series:4: first-change.patch: this is no regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := &engine{t, t.TempDir(), up, base}
			for name, content := range files {
				e.put(name, content)
			}
			x.spoil(e)
			before := e.state()
			c := e.check()
			if c.Verdict != verdict.Fail || !strings.Contains(c.Why, x.want) {
				t.Errorf("%s: %s\nwant %s\n", c.Verdict, c.Why, x.want)
			}
			r := e.open()
			defer r.Close()
			out := filepath.Join(t.TempDir(), "out")
			if _, err := r.Apply(t.Context(), "demo", out, e.source); err == nil {
				t.Error("it was applied all the same")
			}
			if _, err := os.Lstat(out); err == nil {
				t.Error("the folder was made all the same")
			}
			if !maps.Equal(before, e.state()) {
				t.Error("files were touched")
			}
		})
	}
}

// withoutLines drops the lines from the n-th (from 0) that start so.
func withoutLines(text, start string, n int) string {
	var b strings.Builder
	for l := range strings.Lines(text) {
		if strings.HasPrefix(l, start) {
			if n--; n < 0 {
				continue
			}
		}
		b.WriteString(l)
	}
	return b.String()
}

func shortIndex(text string) string {
	i := strings.Index(text, "\nindex ") + len("\nindex ")
	return text[:i+7] + ".." + text[i+42:i+49] + text[i+82:]
}

// What a symbolic link points at is never reached through it.
func TestInsideOfALink(t *testing.T) {
	t.Parallel()
	up := gittest.New(t)
	base := up.Commit("main", "base", gittest.Files{"x": "1\n"}, gittest.Symlink("link", "/etc"))
	e := newEngine(t, up, base)
	p := &Patch{Author: cleanTestAuthor, Message: "In" + status, Changes: []Change{{Path: "link/passwd", NewMode: 0o100644, NewID: emptyBlob}}}
	e.put("patches/demo/in.patch", string(Render(p)))
	e.put("patches/demo/series", "in.patch\n")
	c := e.check()
	if want := "patches/demo/in.patch:10: link/passwd would be inside of link, which is a symbolic link"; c.Verdict != verdict.Conflict || c.Why != want {
		t.Errorf("%s: %s", c.Verdict, c.Why)
	}
}

// opnsense/ports#161: two functions share their context and upstream rewrote
// the second; a patch tool puts the hunk into the first with status 0.
func TestPatchForAnotherBase(t *testing.T) {
	t.Parallel()
	twin := func(second string) string {
		return "int f(void)\n{\n\tint a;\n\tint b;\n\tint c;\n\treturn 0;\n}\n\nint g(void)\n{\n" + second + "}\n"
	}
	up := gittest.New(t)
	base := up.Commit("main", "base", gittest.Files{"f.c": twin("\tint a;\n\tint b;\n\tint c;\n\treturn 0;\n")})
	up.Move("ours", base)
	up.Commit("ours", "Return one"+status, gittest.Files{"f.c": twin("\tint a;\n\tint b;\n\tint c;\n\treturn 1;\n")})
	e := newEngine(t, up, base)
	e.imports("ours")
	patch, series := e.get("patches/demo/return-one.patch"), e.get("patches/demo/series")
	moved := up.Commit("main", "rewrite g", gittest.Files{"f.c": twin("\treturn h();\n")})
	other := newEngine(t, up, moved)
	other.put("patches/demo/return-one.patch", patch)
	other.put("patches/demo/series", series)
	c := other.check()
	if c.Verdict != verdict.Conflict || !strings.Contains(c.Why, "patches/demo/return-one.patch:10: f.c is ") || !strings.Contains(c.Why, "it is for another base") {
		t.Errorf("%s: %s", c.Verdict, c.Why)
	}
}

// A patch of which a whole file was taken out is well formed and applies; only
// the trees in the lock tell.
func TestStepsInTheLock(t *testing.T) {
	t.Parallel()
	up, base := three(t)
	e := newEngine(t, up, base)
	im := e.imports("ours")
	if !im.Locked {
		t.Fatal("the steps are not in the lock")
	}
	text := e.get("patches/demo/second-change.patch")
	i := strings.LastIndex(text, "diff --git")
	e.put("patches/demo/second-change.patch", strings.Replace(text[:i], " 2 files changed", " 1 file changed", 1))
	c := e.check()
	const want = "pin demo: after second-change.patch the tree is "
	if c.Verdict != verdict.Fail || !strings.HasPrefix(c.Why, want) || !strings.Contains(c.Why, "but the lock says "+up.Git("rev-parse", "ours~1^{tree}")) {
		t.Errorf("%s: %s", c.Verdict, c.Why)
	}
	r := e.open()
	defer r.Close()
	_, err := r.Apply(t.Context(), "demo", filepath.Join(t.TempDir(), "out"), e.source)
	wantError(t, err, verdict.Fail, want)
}

func TestCheckDemandsStatus(t *testing.T) {
	t.Parallel()
	up := gittest.New(t)
	base := up.Commit("main", "base", gittest.Files{"x": "1\n"})
	up.Move("ours", base)
	up.Commit("ours", "Say nothing", gittest.Files{"x": "2\n"})
	e := newEngine(t, up, base)
	im := e.imports("ours")
	if len(im.Notes) == 0 {
		t.Error("the import says nothing about it")
	}
	c := e.check()
	if c.Verdict != verdict.Fail || !strings.Contains(c.Why, "patches/demo/say-nothing.patch:4: the message has no line \"Upstream-Status:\"") {
		t.Errorf("%s: %s", c.Verdict, c.Why)
	}
}

// A file of a gigabyte in one line is not read at all.
func TestGiantLine(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"first-change.patch", "series", "policy.yaml"} {
		up, base := three(t)
		e := newEngine(t, up, base)
		e.imports("ours")
		path := filepath.Join(e.root, "patches", "demo", file)
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o666)
		if err == nil {
			err = f.Truncate(1 << 30)
		}
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		if c := e.check(); c.Verdict != verdict.Fail || !strings.Contains(c.Why, "the file has more than 64 MiB") {
			t.Errorf("%s: %s %s", file, c.Verdict, c.Why)
		}
	}
}

// Policy and resolutions are checked together with the patches.
func TestCheckReadsPolicyAndResolutions(t *testing.T) {
	t.Parallel()
	up, base := three(t)
	e := newEngine(t, up, base)
	e.imports("ours")
	e.put("patches/demo/policy.yaml", "conflicts:\n  - {under: a/, keep: mine}\n")
	e.put("patches/demo/resolutions/00.yaml", "path: f\npatch: x\nhunk: []\n")
	c := e.check()
	for _, want := range []string{`patches/demo/policy.yaml: conflicts[0]: keep: "mine" is neither ours nor theirs`, "patches/demo/resolutions/00.yaml:3: field hunk not found"} {
		if c.Verdict != verdict.Fail || !strings.Contains(c.Why, want) {
			t.Errorf("%s: %s\nwant %s", c.Verdict, c.Why, want)
		}
	}
}
