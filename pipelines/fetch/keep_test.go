// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

func TestVerifyFindsChanges(t *testing.T) {
	t.Parallel()
	up := gittest.New(t)
	up.Commit("main", "one", gittest.Files{"a": "one"})
	w := newWorld(t)
	w.serve("x", up, gittest.ServerOptions{})
	w.pin("x", followMain)
	w.must("x")
	file := w.entry(w.get("x")) + "/a"
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("two"), 0o644); err != nil {
		t.Fatal(err)
	}
	rows, err := w.e.Verify(t.Context(), []*pins.Pin{w.get("x")}, VerifyOptions{PinsDir: w.pins})
	if err != nil {
		t.Fatal(err)
	}
	w.wants(rows[0].Verdict, rows[0].Why, verdict.Fail, "a has other content")
}

func TestVerifyOnline(t *testing.T) {
	t.Parallel()
	upstream, mirror := gittest.New(t), gittest.New(t)
	for _, r := range []*gittest.Repo{upstream, mirror} {
		r.Annotated("b1", "release", r.Commit("main", "one", gittest.Files{"a": "one"}))
	}
	w := newWorld(t)
	w.serve("x", upstream, gittest.ServerOptions{})
	w.e.real = w.e.Mirrors
	w.e.Mirrors = &Mirrors{URLs: map[string]Mirror{"https://up.example/x.git": {To: mirror.Dir(), StandsIn: "fork/x"}}}
	w.pin("x", followTags)
	if l := w.must("x"); l.ViaMirror == nil || l.ViaMirror.StandsIn != "fork/x" {
		t.Errorf("via-mirror %+v", l.ViaMirror)
	}
	online := func() VerifiedPin {
		rows, err := w.e.Verify(t.Context(), []*pins.Pin{w.get("x")}, VerifyOptions{PinsDir: w.pins, Online: true})
		if err != nil {
			t.Fatal(err)
		}
		return rows[0]
	}
	good := git.ID(upstream.Git("rev-parse", "b1"))
	other := upstream.Commit("main", "two", gittest.Files{"a": "other"})
	upstream.Tag("b1", other)
	r := online()
	w.wants(r.Verdict, r.Why, verdict.Fail, "b1", string(other))
	upstream.Annotated("b1", "another text", git.ID(mirror.Git("rev-parse", "b1^{commit}")))
	r = online()
	w.wants(r.Verdict, r.Why, verdict.Fail, "tag object")
	if !w.get("x").ViaMirror() {
		t.Error("cleared without the upstream's word")
	}
	upstream.Git("update-ref", "refs/tags/b1", string(good))
	if r := online(); r.Verdict != verdict.Pass || !r.Cleared || w.get("x").ViaMirror() {
		t.Errorf("%+v", r)
	}
	w.e.real.URLs["https://up.example/x.git"] = Mirror{To: gittest.ClosedPort(t)}
	r = online()
	w.wants(r.Verdict, r.Why, verdict.Infra, "cannot be reached")
}

func TestArchive(t *testing.T) {
	t.Parallel()
	sub := gittest.New(t)
	s := sub.Commit("main", "sub", gittest.Files{"s": "s"})
	up := gittest.New(t)
	up.Commit("main", "one", gittest.Files{"a": "one"})
	tip := up.Commit("main", "two", modules("s", "../sub.git"), gittest.Submodule("s", s))
	keep := gittest.New(t)
	w := newWorld(t)
	w.serve("x", up, gittest.ServerOptions{})
	w.serve("sub", sub, gittest.ServerOptions{})
	server := w.serve("keep", keep, gittest.ServerOptions{})
	w.pin("x", followMain)
	w.must("x")
	list := []*pins.Pin{w.get("x")}
	if _, err := w.e.Archive(t.Context(), list, nil); verdict.Of(err) != verdict.Skipped || !strings.Contains(err.Error(), "skipped: no archive configured") {
		t.Errorf("got %v", err)
	}
	remotes := []ArchiveRemote{{URL: "https://up.example/keep.git"}}
	for range 2 { // the second finds it there
		rows, err := w.e.Archive(t.Context(), list, remotes)
		if err != nil || len(rows) != 1 || rows[0].Verdict != verdict.Pass || len(rows[0].Held) != 1 {
			t.Fatalf("%+v %v", rows, err)
		}
	}
	for _, commit := range []git.ID{tip, s} {
		if got := keep.Git("rev-parse", KeptRef("x", commit)); got != string(commit) {
			t.Errorf("kept %s, want %s", got, commit)
		}
	}
	if got := keep.Git("rev-list", "--count", string(tip)); got != "2" {
		t.Errorf("%s commits are kept, want the history", got)
	}
	_ = server
	w.e.Mirrors.URLs["https://up.example/keep.git"] = Mirror{To: gittest.ClosedPort(t)}
	rows, err := w.e.Archive(t.Context(), list, remotes)
	if err != nil {
		t.Fatal(err)
	}
	w.wants(rows[0].Verdict, rows[0].Why, verdict.Infra, "cannot be reached")
	readOnly := gittest.New(t)
	w.serve("keep", readOnly, gittest.ServerOptions{ReadOnly: true})
	if rows, err = w.e.Archive(t.Context(), list, remotes); err != nil {
		t.Fatal(err)
	}
	if rows[0].Verdict == verdict.Pass {
		t.Errorf("nothing was pushed: %+v", rows)
	}
}

func TestExport(t *testing.T) {
	t.Parallel()
	up := gittest.New(t)
	up.Commit("main", "one", gittest.Files{"a": "one", "d/e/run": "#!", "d/e/f": "f"}, gittest.Exec("d/e/run"), gittest.Symlink("d/link", "../a"))
	w := newWorld(t)
	w.serve("x", up, gittest.ServerOptions{})
	w.pin("x", followMain)
	w.must("x")
	p := w.get("x")
	ctx := t.Context()
	to := t.TempDir() + "/out"
	if _, err := w.e.Export(ctx, p, to, false); err != nil {
		t.Fatal(err)
	}
	listing := func() string {
		var b strings.Builder
		err := filepath.WalkDir(to, func(path string, d os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			st, err := d.Info()
			if err != nil {
				return err
			}
			rel, _ := filepath.Rel(to, path)
			mode := st.Mode()
			if mode&os.ModeSymlink != 0 {
				mode = os.ModeSymlink
			}
			b.WriteString(mode.String() + " " + st.ModTime().UTC().Format(time.RFC3339) + " " + filepath.ToSlash(rel) + "\n")
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	const want = `drwxr-xr-x 2026-10-01T12:00:00Z .
-rw-r--r-- 2026-10-01T12:00:00Z a
drwxr-xr-x 2026-10-01T12:00:00Z d
drwxr-xr-x 2026-10-01T12:00:00Z d/e
-rw-r--r-- 2026-10-01T12:00:00Z d/e/f
-rwxr-xr-x 2026-10-01T12:00:00Z d/e/run
L--------- 2026-10-01T12:00:00Z d/link
`
	if got := listing(); got != want {
		t.Errorf("exported\n%swant\n%s", got, want)
	}
	if _, err := w.e.Export(ctx, p, to, false); verdict.ExitCode(err) != verdict.ExitUsage {
		t.Errorf("a folder that is not empty: %v", err)
	}
	// Links in the way are replaced, never followed.
	outside := t.TempDir()
	if err := os.WriteFile(outside+"/a", []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	os.RemoveAll(to + "/d")
	os.Remove(to + "/a")
	if err := os.Symlink(outside, to+"/d"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside+"/a", to+"/a"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.e.Export(ctx, p, to, true); err != nil {
		t.Fatal(err)
	}
	if got := listing(); got != want {
		t.Errorf("exported by force\n%swant\n%s", got, want)
	}
	if data, _ := os.ReadFile(outside + "/a"); string(data) != "mine" {
		t.Errorf("a file outside was written: %q", data)
	}
	if names, _ := os.ReadDir(outside); len(names) != 1 {
		t.Errorf("files outside: %v", names)
	}
	link := t.TempDir() + "/link"
	if err := os.Symlink(outside, link); err != nil {
		t.Fatal(err)
	}
	if _, err := w.e.Export(ctx, p, link, true); verdict.ExitCode(err) != verdict.ExitUsage {
		t.Errorf("a link as the folder: %v", err)
	}
}

func TestRollback(t *testing.T) {
	t.Parallel()
	up := gittest.New(t)
	a := up.Commit("main", "one", gittest.Files{"a": "one"})
	w := newWorld(t)
	w.serve("x", up, gittest.ServerOptions{})
	repo := filepath.Dir(w.pins)
	own := func(args ...string) {
		t.Helper()
		c := git.Command("", append([]string{"-C", repo, "-c", "user.name=T", "-c", "user.email=t@example.com"}, args...)...)
		if _, err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	stack := func(text string) {
		t.Helper()
		os.MkdirAll(repo+"/patches/x", 0o777)
		if err := os.WriteFile(repo+"/patches/x/series", []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	own("init", "-q", "-b", "main", repo)
	w.pin("x", followMain+"stack: x\n")
	w.must("x")
	stack("first")
	own("add", "pins", "patches")
	own("commit", "-qm", "one")
	if _, err := Rollback(t.Context(), repo, w.get("x"), "bad"); verdict.Of(err) != verdict.Fail || !strings.Contains(err.Error(), "no earlier lock") {
		t.Errorf("got %v", err)
	}
	b := up.Commit("main", "two", gittest.Files{"a": "two"})
	w.must("x")
	stack("second")
	os.WriteFile(repo+"/patches/x/0002-more.patch", []byte("x"), 0o666)
	before, _ := os.ReadFile(w.pins + "/x.yaml")
	if _, err := Rollback(t.Context(), repo, w.get("x"), "bad"); verdict.ExitCode(err) != verdict.ExitUsage {
		t.Errorf("a stack with changes: %v", err)
	}
	if after, _ := os.ReadFile(w.pins + "/x.yaml"); string(after) != string(before) {
		t.Error("a refused rollback changed the pin")
	}
	own("add", "pins", "patches")
	own("commit", "-qm", "two")
	// Killed between any two of its steps, the next run does the whole of it
	// and no more.
	stacked := repo + "/patches/x"
	for name, killed := range map[string]func(){
		"before the swap": func() { os.MkdirAll(repo+"/patches/.x.restored/half", 0o777) },
		"in the swap": func() {
			os.Mkdir(repo+"/patches/.x.restored", 0o777)
			os.Rename(stacked, repo+"/patches/.x.restored.old")
		},
		"before the pin":    func() { os.RemoveAll(stacked); stack("first") },
		"in the tidying up": func() { os.Rename(stacked, repo+"/patches/.x.restored.old"); stack("first") },
	} {
		killed()
		done, err := Rollback(t.Context(), repo, w.get("x"), "loses tokens")
		if err != nil || done.To != string(a) {
			t.Errorf("killed %s: %+v %v", name, done, err)
		}
		if text, _ := os.ReadFile(stacked + "/series"); string(text) != "first" {
			t.Errorf("killed %s: stack %q", name, text)
		}
		own("checkout", "-q", "-f", "HEAD", "--", "pins", "patches")
	}
	done, err := Rollback(t.Context(), repo, w.get("x"), "loses tokens")
	if err != nil || done.From != string(b) || done.To != string(a) || done.Stack != "patches/x" {
		t.Fatalf("%+v %v", done, err)
	}
	p := w.get("x")
	if r, is := p.Rejected(string(b)); !is || r.Why != "loses tokens" || p.Lock.Commit != string(a) || p.State() != pins.Verified {
		t.Errorf("pin %+v %+v", p.Lock, p.Reject)
	}
	if text, _ := os.ReadFile(repo + "/patches/x/series"); string(text) != "first" {
		t.Errorf("stack %q", text)
	}
	if names, _ := os.ReadDir(repo + "/patches"); len(names) != 1 {
		t.Errorf("left behind: %v", names)
	}
	if _, err := os.Stat(repo + "/patches/x/0002-more.patch"); err == nil {
		t.Error("a patch of the bad version is still there")
	}
	w.refused("x", verdict.Held, "loses tokens")
}
