// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

func modules(pairs ...string) gittest.Files {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&b, "[submodule %q]\n\tpath = %s\n\turl = \"%s\"\n", pairs[i], pairs[i], pairs[i+1])
	}
	return gittest.Files{".gitmodules": b.String(), "a": "top"}
}

func TestSubmodules(t *testing.T) {
	t.Parallel()
	deep := gittest.New(t)
	d := deep.Commit("main", "deep", gittest.Files{"deep.txt": "deep", "COPYING": "GPL\n"})
	mid := gittest.New(t)
	m := mid.Commit("main", "mid", modules("in", "./../deep.git"), gittest.Submodule("in", d), gittest.Symlink("out", "../../.."))
	top := gittest.New(t)
	top.Commit("main", "top", modules("third/mid", "../mid.git", "left", "https://nowhere.example/left.git"), gittest.Submodule("third/mid", m), gittest.Submodule("left", id(5)))
	w := newWorld(t)
	w.serve("x", top, gittest.ServerOptions{})
	w.serve("mid", mid, gittest.ServerOptions{})
	w.local("deep", deep)
	w.e.Mirrors.URLs["https://nowhere.example/"] = Mirror{To: gittest.ClosedPort(t)}
	w.pin("x", followMain)
	w.refused("x", verdict.Infra, "the submodule left", "exclude")
	w.pin("x", followMain+"exclude: [{path: left, why: not needed}, {path: third/mid/in/deep.txt, why: large}]\n")
	l := w.must("x")
	want := []pins.Submodule{
		{Path: "third/mid", URL: "https://up.example/mid.git", Commit: string(m)},
		{Path: "third/mid/in", URL: "https://up.example/deep.git", Commit: string(d)},
	}
	if len(l.Submodules) != 2 {
		t.Fatalf("submodules %+v", l.Submodules)
	}
	for i, s := range l.Submodules {
		if want[i].Sum = s.Sum; s != want[i] || s.Sum == "" {
			t.Errorf("submodule %+v, want %+v", s, want[i])
		}
	}
	if len(l.Excluded) != 2 || l.Excluded[0].Path != "left" || l.Excluded[0].Mode != "160000" || l.Excluded[1].Path != "third/mid/in/deep.txt" || l.Excluded[1].Size != 4 {
		t.Errorf("excluded %+v", l.Excluded)
	}
	if len(l.Licenses) != 1 || l.Licenses[0].Path != "third/mid/in/COPYING" {
		t.Errorf("licenses %+v", l.Licenses)
	}
	p := w.get("x")
	if got := w.read(p, "third/mid/in/COPYING"); got != "GPL\n" {
		t.Errorf("content %q", got)
	}
	if target, err := os.Readlink(w.entry(p) + "/third/mid/out"); err != nil || target != "../../.." {
		t.Errorf("link %q %v", target, err)
	}
	rows, err := w.e.Verify(t.Context(), []*pins.Pin{p}, VerifyOptions{PinsDir: w.pins})
	if err != nil || rows[0].Verdict != verdict.Pass {
		t.Errorf("verify: %+v %v", rows, err)
	}
	// The same from the mirrors again, into an empty store.
	entries, _ := w.e.Store.List()
	for _, x := range entries {
		if err := w.e.Store.Remove(t.Context(), x.Key); err != nil {
			t.Fatal(err)
		}
	}
	w.e.Offline = true
	if got := w.read(p, "a"); got != "top" {
		t.Errorf("content %q", got)
	}
}

func TestHostileSubmodules(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ url, text string }{
		"program":           {"ext::sh -c touch% /tmp/x", "blanks"},
		"program at once":   {"ext::sh", "not https"},
		"local folder":      {"file:///etc", "not https"},
		"path":              {"/etc", "not https"},
		"loopback":          {"https://127.0.0.1/x.git", "this machine"},
		"loopback name":     {"https://localhost/x.git", "this machine"},
		"loopback v6":       {"https://[::1]/x.git", "refused"},
		"metadata":          {"https://169.254.169.254/x.git", "never asked"},
		"private":           {"https://10.0.0.1/x.git", "private network"},
		"plain http":        {"http://up.example/x.git", "only https"},
		"ssh":               {"git@up.example:x.git", "not https"},
		"user":              {"https://user:secret@up.example/x.git", "carries a user"},
		"above the root":    {"../../../../x.git", "above the root"},
		"hidden climb":      {"../a/../../x.git", "nowhere"},
		"control character": {"https://up.example/\\u001b[31m", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			up := gittest.New(t)
			up.Commit("main", "one", modules("s", c.url), gittest.Submodule("s", id(9)))
			w := newWorld(t)
			w.serve("x", up, gittest.ServerOptions{})
			w.pin("x", followMain)
			if c.text == "" {
				r := w.update("x", UpdateOptions{})
				if r.Verdict == verdict.Pass || strings.Contains(r.Why, "\x1b") {
					t.Errorf("%s: %q", r.Verdict, r.Why)
				}
				return
			}
			if c.text == "refused" {
				c.text = "s: "
			}
			r := w.refused("x", verdict.Fail, "submodule s", c.text)
			if strings.Contains(r.Why, "secret") {
				t.Errorf("a secret is shown: %s", r.Why)
			}
		})
	}
}

// git itself refuses an address that begins like an option.
func TestOptionAsSubmodule(t *testing.T) {
	t.Parallel()
	up := gittest.New(t)
	up.Commit("main", "one", modules("s", "-uupload-pack=touch"), gittest.Submodule("s", id(9)))
	w := newWorld(t)
	w.serve("x", up, gittest.ServerOptions{})
	w.pin("x", followMain)
	w.refused("x", verdict.Fail, "disallowed submodule url")
	if _, err := resolveURL("https://up.example/x.git", "-uupload-pack=touch"); err == nil {
		t.Error("an option is an address")
	}
}

func TestSubmoduleWithoutAddress(t *testing.T) {
	t.Parallel()
	up := gittest.New(t)
	up.Commit("main", "one", gittest.Files{"a": "a"}, gittest.Submodule("s", id(9)))
	w := newWorld(t)
	w.serve("x", up, gittest.ServerOptions{})
	w.pin("x", followMain)
	w.refused("x", verdict.Fail, "no .gitmodules says where it is")
}

// A chain of submodules ends somewhere, even when each is another repository.
func TestDeepSubmodules(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var below git.ID
	for i := maxSubmoduleDepth + 2; i >= 0; i-- {
		r := gittest.New(t)
		name := fmt.Sprintf("d%d", i)
		if below == "" {
			below = r.Commit("main", name, gittest.Files{"a": "a"})
		} else {
			below = r.Commit("main", name, modules("s", fmt.Sprintf("../d%d.git", i+1)), gittest.Submodule("s", below))
		}
		w.local(name, r)
	}
	w.pin("d0", followMain)
	w.refused("d0", verdict.Fail, "inside each other")
}

// Hashes do not let a commit contain itself, so the guard is asked directly.
func TestCycle(t *testing.T) {
	t.Parallel()
	w := &walk{e: newWorld(t).e, pin: &pins.Pin{Name: "x"}, source: &source{}}
	_, err := w.module(t.Context(), "s", "https://up.example/x.git", id(3), []string{"https://up.example/x.git " + string(id(3))})
	if err == nil || !strings.Contains(err.Error(), "contains itself") {
		t.Errorf("got %v", err)
	}
}

func TestHostileTrees(t *testing.T) {
	t.Parallel()
	up := gittest.New(t)
	blob := up.Object("blob", []byte("x"))
	tree := func(names ...string) git.ID {
		var all []git.TreeEntry
		for _, n := range names {
			all = append(all, git.TreeEntry{Mode: git.ModeFile, Name: n, ID: blob})
		}
		return up.RawTree(all...)
	}
	sub := tree("f")
	for name, root := range map[string]git.ID{
		"dot git":         tree(".git"),
		"dot git in caps": tree(".GIT"),
		"dot git on NTFS": tree("git~1"),
		"dot git on HFS":  tree(".g\u200cit"),
		"up":              tree(".."),
		"newline":         tree("a\nb"),
		"slash":           tree("a/b"),
		"link and folder": up.RawTree(git.TreeEntry{Mode: git.ModeSymlink, Name: "a", ID: blob}, git.TreeEntry{Mode: git.ModeTree, Name: "a", ID: sub}),
	} {
		branch := strings.ReplaceAll(name, " ", "-")
		up.RawCommit(branch, name, root)
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.serve("x", up, gittest.ServerOptions{})
			w.pin("x", "track: {kind: git-branch, branch: "+branch+"}\n")
			w.refused("x", verdict.Fail, "refused")
		})
	}
}

func TestResolveURL(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ base, url, want string }{
		{"https://h.example/o/r.git", "../s.git", "https://h.example/o/s.git"},
		{"https://h.example/o/r.git/", "../s.git", "https://h.example/o/s.git"},
		{"https://h.example/o/r.git", "./s", "https://h.example/o/r.git/s"},
		{"https://h.example/o/r.git", "../../p/s", "https://h.example/p/s"},
		{"https://h.example/o/r", "https://other.example/s.git", "https://other.example/s.git"},
		{"https://h.example/r.git", "../../s", ""},
		{"https://h.example/o/r.git", "../", ""},
		{"https://h.example/o/r.git", "s.git", ""},
		{"/srv/r.git", "../s", ""},
	} {
		got, err := resolveURL(c.base, c.url)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("resolveURL(%q, %q) = %q, %v; want %q", c.base, c.url, got, err, c.want)
		}
	}
}
