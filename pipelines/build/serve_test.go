// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux && amd64

package build

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/toolchain"
)

// pinnedGo is the toolchain of pins/go.yaml.
var pinnedGo = sync.OnceValue(func() GoPin {
	data, err := os.ReadFile("../../pins/go.yaml")
	if err != nil {
		panic(err)
	}
	p, err := pins.Parse(data, "pins/go.yaml")
	if err != nil {
		panic(err)
	}
	return GoPin{Version: p.Lock.Version, Sum: p.Lock.Sum, Date: p.Lock.Date}
})

// fixture is a small program with the repository's layout: a package of its
// own with an embedded file, the version package, and one foreign module.
var fixture = map[string]string{
	"go.mod":                         "module github.com/1bit-MONSTER/engine\n\ngo 1.26.0\n\nrequire golang.org/x/mod v0.43.0\n",
	"go.sum":                         "golang.org/x/mod v0.43.0 h1:XMOD=\n",
	"VERSION":                        "2026.48\n",
	"LICENSE":                        "licence\n",
	"NOTICE":                         "notice\n",
	"README.md":                      "readme\n",
	"engine/serve/unit/1bit.service": "service\n",
	"engine/serve/unit/1bit.socket":  "socket\n",
	"docs/a.md":                      "doc\n",
	"engine/version/version.go":      "package version\n\nvar version, source, pins string\n\nfunc String() string { return version + \" \" + source + \" \" + pins }\n",
	"internal/say/data/hello":        "hello\n",
	"internal/say/say.go":            "package say\n\nimport _ \"embed\"\n\n//go:embed data/hello\nvar Hello string\n",
	"internal/unused/unused.go":      "package unused\n",
	"cmd/1bit/main.go": "package main\n\nimport (\n\t\"github.com/1bit-MONSTER/engine/engine/version\"\n\t\"github.com/1bit-MONSTER/engine/internal/say\"\n\t\"golang.org/x/mod/semver\"\n)\n\n" +
		"func main() { print(say.Hello, version.String(), \" \", semver.Max(\"v1.0.0\", \"v2.0.0\"), \"\\n\") }\n",
}

// project writes the fixture, with changes, as a git repository with one
// commit, and returns its folder.
func project(t *testing.T, changes map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range fixture {
		write(t, dir, name, text)
	}
	write(t, dir, "go.sum", goSum(t))
	for name, text := range changes {
		write(t, dir, name, text)
	}
	old := time.Now().Add(-time.Hour)
	filepath.WalkDir(dir, func(path string, _ os.DirEntry, _ error) error { return os.Chtimes(path, old, old) })
	gitRun(t, dir, "init", "-q")
	commitAll(t, dir)
	return dir
}

// goSum returns the lines for the fixture's module from this repository's own
// go.sum, so that they are written down once.
func goSum(t *testing.T) string {
	data, err := os.ReadFile("../../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "golang.org/x/mod v0.43.0") {
			lines.WriteString(line)
		}
	}
	return lines.String()
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func gitRun(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func commitAll(t *testing.T, dir string) {
	t.Helper()
	gitRun(t, dir, "add", "-A")
	gitRun(t, dir, "commit", "-qm", "commit")
}

// sharedCache is the user's own cache: the toolchain is 76 MB to download.
func sharedCache(t *testing.T) Cache {
	t.Helper()
	c, err := DefaultCache()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// newCache returns an empty cache that has the toolchain, by a link.
func newCache(t *testing.T) Cache {
	t.Helper()
	shared, err := sharedCache(t).Store()
	if err != nil {
		t.Fatal(err)
	}
	g, err := toolchain.FetchGo(t.Context(), shared, pinnedGo().Version, pinnedGo().Sum, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := Cache{t.TempDir()}
	st, err := c.Store()
	if err != nil {
		t.Fatal(err)
	}
	entry := filepath.Dir(g.Dir)
	if err := os.Symlink(entry, filepath.Join(st.Dir(), "entries", filepath.Base(entry))); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { exec.Command("chmod", "-R", "u+w", c.Dir).Run() }) // the module cache is read-only
	return c
}

func build(t *testing.T, o Options) *Result {
	t.Helper()
	o.Go = pinnedGo()
	r, err := Serve(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// read unpacks an archive.
func read(t *testing.T, path string) map[string]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	files := map[string]string{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name] = string(data)
	}
}

func TestServe(t *testing.T) {
	repo, cache := project(t, nil), newCache(t)
	o := Options{Repo: repo, Out: filepath.Join(repo, "dist"), Cache: cache}
	first := build(t, o)
	if first.UpToDate || first.Hit {
		t.Errorf("the first build says up to date %v, hit %v", first.UpToDate, first.Hit)
	}
	if want := filepath.Join(repo, "dist", "1bit-2026.48-linux-x86_64.tar.zst"); first.Archive != want {
		t.Errorf("archive is %s, want %s", first.Archive, want)
	}
	files := read(t, first.Archive)
	const top = "1bit-2026.48-linux-x86_64/"
	var m manifest
	if err := json.Unmarshal([]byte(files[top+"manifest.json"]), &m); err != nil {
		t.Fatal(err)
	}
	if m.Commit.ID != gitRun(t, repo, "rev-parse", "HEAD") || m.Modified {
		t.Errorf("manifest says commit %s, modified %v", m.Commit.ID, m.Modified)
	}
	if len(m.Modules) != 1 || m.Modules[0].Path != "golang.org/x/mod" || !strings.Contains(goSum(t), m.Modules[0].Sum) {
		t.Errorf("manifest says modules %+v", m.Modules)
	}
	for name, want := range map[string]string{"README.md": "readme\n", "systemd/1bit.service": "service\n", "systemd/1bit.socket": "socket\n"} {
		listed := slices.ContainsFunc(m.Files, func(f manifestFile) bool { return f.Path == name && f.Size == int64(len(want)) })
		if files[top+name] != want || !listed {
			t.Errorf("%s is %q, in the manifest: %v", name, files[top+name], listed)
		}
	}
	program := filepath.Join(t.TempDir(), "1bit")
	if err := os.WriteFile(program, []byte(files[top+"1bit"]), 0o755); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(program).CombinedOutput()
	if want := "hello\n2026.48 " + first.Source + " go=" + pinnedGo().Version + " v2.0.0\n"; err != nil || string(out) != want {
		t.Errorf("the program says %q (%v), want %q", out, err, want)
	}

	t.Run("nothing changed", func(t *testing.T) {
		build(t, o) // the first may have come too close to the writing of its sources to be remembered
		if r := build(t, o); !r.UpToDate || r.SHA256 != first.SHA256 {
			t.Errorf("up to date %v, sha256 %s, want %s", r.UpToDate, r.SHA256, first.SHA256)
		}
	})
	t.Run("docs changed and committed", func(t *testing.T) {
		write(t, repo, "docs/a.md", "better\n")
		commitAll(t, repo)
		r := build(t, o)
		if r.UpToDate || !r.Hit || r.Component != first.Component || r.Commit.ID == first.Commit.ID {
			t.Errorf("got %+v", r)
		}
		depth1 := filepath.Join(t.TempDir(), "clone")
		gitRun(t, repo, "clone", "-q", "--depth=1", "file://"+repo, depth1)
		c := build(t, Options{Repo: depth1, Out: t.TempDir(), Cache: cache})
		if c.Component != first.Component || !c.Hit || c.SHA256 != r.SHA256 {
			t.Errorf("the depth-1 clone gave %+v, want %+v", c, r)
		}
	})
	t.Run("tagged", func(t *testing.T) {
		gitRun(t, repo, "tag", "v2026.48")
		if r := build(t, o); r.Tag != "v2026.48" || r.Component != first.Component {
			t.Errorf("got %+v", r)
		}
	})
	t.Run("a package that is not linked changed", func(t *testing.T) {
		write(t, repo, "internal/unused/unused.go", "package unused // changed\n")
		if r := build(t, o); r.Component != first.Component || r.Modified {
			t.Errorf("got %+v", r)
		}
	})
	t.Run("the embedded file changed", func(t *testing.T) {
		write(t, repo, "internal/say/data/hello", "HELLO\n")
		r := build(t, o)
		if r.Source == first.Source || r.Component == first.Component || r.Hit || !r.Modified {
			t.Errorf("got %+v", r)
		}
		write(t, repo, "internal/say/data/hello", "hello\n")
		if r := build(t, o); r.Component != first.Component || !r.Hit || r.Modified {
			t.Errorf("changed back, it gave %+v", r)
		}
	})
	t.Run("the archive was removed", func(t *testing.T) {
		if err := os.Remove(first.Archive); err != nil {
			t.Fatal(err)
		}
		if r := build(t, o); r.UpToDate || !r.Hit {
			t.Errorf("got %+v", r)
		}
	})
}

// TestServeIsReproducible builds in two folders with all varied that may not
// matter: folder, umask, zone, locale, core count, file order and times,
// caches, and a poisoned environment.
func TestServeIsReproducible(t *testing.T) {
	first := newCache(t)
	plain := build(t, Options{Repo: project(t, nil), Out: t.TempDir(), Cache: first})

	other := project(t, nil)
	gitRun(t, other, "commit", "-q", "--amend", "--no-edit", "--reset-author", "--date=2001-01-01T00:00:00Z")
	cache := newCache(t)
	poison := t.TempDir()
	write(t, poison, "bin/go", "#!/bin/sh\necho poisoned >&2; exit 7\n")
	write(t, poison, "bin/gcc", "#!/bin/sh\nexit 7\n")
	for _, name := range []string{"go", "gcc"} {
		if err := os.Chmod(filepath.Join(poison, "bin", name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, poison, "env", "GOFLAGS=-tags=poison\nCGO_ENABLED=1\nGOARCH=arm64\n")
	write(t, poison, ".config/go/env", "GOFLAGS=-race\n")
	for name, v := range map[string]string{
		"PATH": filepath.Join(poison, "bin") + ":" + os.Getenv("PATH"), "HOME": poison, "XDG_CONFIG_HOME": filepath.Join(poison, ".config"),
		"GOENV": filepath.Join(poison, "env"), "GOFLAGS": "-ldflags=-X=main.x=poison", "GOARCH": "arm64", "GOOS": "plan9",
		"GOEXPERIMENT": "rangefunc", "GODEBUG": "http2debug=1", "GOAMD64": "v3", "CGO_ENABLED": "1", "CGO_CFLAGS": "-O0", "GOROOT": poison,
		"GOWORK": filepath.Join(poison, "go.work"), "GOMODCACHE": filepath.Join(poison, "mod"), "GOTOOLCHAIN": "go1.1",
		"TZ": "Pacific/Kiritimati", "LC_ALL": "tr_TR.UTF-8", "SOURCE_DATE_EPOCH": "1", "GOMAXPROCS": "1", "TMPDIR": t.TempDir(),
	} {
		t.Setenv(name, v)
	}
	defer syscall.Umask(syscall.Umask(0o077))
	varied := build(t, Options{Repo: other, Out: t.TempDir(), Cache: cache})
	if varied.Component != plain.Component || varied.Source != plain.Source {
		t.Fatalf("component %s from %s, was %s from %s", varied.Component, varied.Source, plain.Component, plain.Source)
	}
	a, b := read(t, plain.Archive), read(t, varied.Archive)
	const name = "1bit-2026.48-linux-x86_64/manifest.json"
	a[name] = strings.ReplaceAll(a[name], plain.Commit.ID, varied.Commit.ID) // two commits, one source
	for name := range a {
		if a[name] != b[name] {
			t.Errorf("%s differs", name)
		}
	}
	if len(a) != len(b) {
		t.Errorf("%d files, then %d", len(a), len(b))
	}

	// From one commit the whole archive is the same.
	clone := filepath.Join(t.TempDir(), "a", "deeper", "folder")
	gitRun(t, other, "clone", "-q", other, clone)
	again := build(t, Options{Repo: clone, Out: t.TempDir(), Cache: first})
	x, _ := os.ReadFile(varied.Archive)
	y, _ := os.ReadFile(again.Archive)
	if !bytes.Equal(x, y) || len(x) == 0 {
		t.Error("two clones of one commit gave two archives")
	}
}

func TestServeRefuses(t *testing.T) {
	ctx := context.Background()
	cache := newCache(t)
	for _, c := range []struct {
		name    string
		prepare func(t *testing.T, o *Options)
		verdict verdict.Verdict
		exit    int
		say     string
	}{
		{"an output folder that is a file", func(t *testing.T, o *Options) {
			o.Out = filepath.Join(o.Repo, "LICENSE")
		}, verdict.Fail, verdict.ExitUsage, "LICENSE is a file: name a folder with --out"},
		{"a cache that is a file", func(t *testing.T, o *Options) {
			o.Cache = Cache{filepath.Join(o.Repo, "LICENSE")}
		}, verdict.Infra, 5, "name another cache with DIST_CACHE"},
		{"no go command at all", func(t *testing.T, o *Options) {
			o.Cache = Cache{t.TempDir()}
			t.Setenv("PATH", t.TempDir())
			t.Setenv("GOROOT", t.TempDir())
		}, verdict.Infra, 5, "install Go 1.26 or newer"},
		{"no toolchain, offline", func(t *testing.T, o *Options) {
			o.Cache, o.Offline = Cache{t.TempDir()}, true
		}, verdict.Infra, 5, "the toolchain go is not here, or damaged, and --offline forbids"},
		{"no modules, offline", func(t *testing.T, o *Options) {
			// The store of before, and no modules beside it.
			bare := t.TempDir()
			if err := os.Symlink(filepath.Join(cache.Dir, "store"), filepath.Join(bare, "store")); err != nil {
				t.Fatal(err)
			}
			o.Cache, o.Offline = Cache{bare}, true
		}, verdict.Infra, 5, "Go modules of 1bit are not here and --offline forbids"},
		{"a module that go.sum does not know", func(t *testing.T, o *Options) {
			write(t, o.Repo, "go.sum", "")
		}, verdict.Fail, 1, "go.sum"},
		{"a module whose sum is another", func(t *testing.T, o *Options) {
			write(t, o.Repo, "go.sum", strings.ReplaceAll(goSum(t), "h1:", "h1:AAAA"))
		}, verdict.Fail, 1, "golang.org/x/mod"},
		{"a toolchain whose sum is another", func(t *testing.T, o *Options) {
			o.Go.Sum = "h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
		}, verdict.Fail, 1, "nothing of it is used"},
		{"a source that does not compile", func(t *testing.T, o *Options) {
			write(t, o.Repo, "internal/say/say.go", "package say\n\nvar Hello int = \"x\"\n")
		}, verdict.Fail, 1, `serve: step "compile": exit status 1; its last lines:`},
		{"a source that imports nothing known", func(t *testing.T, o *Options) {
			write(t, o.Repo, "internal/say/say.go", "package say\n\nimport _ \"example.com/nowhere\"\n")
		}, verdict.Fail, 1, "example.com/nowhere"},
		{"a VERSION that is none", func(t *testing.T, o *Options) {
			write(t, o.Repo, "VERSION", "1.0 -X evil\n")
		}, verdict.Fail, 1, "YEAR.WEEK"},
		{"no LICENSE", func(t *testing.T, o *Options) {
			os.Remove(filepath.Join(o.Repo, "LICENSE"))
		}, verdict.Fail, 1, "LICENSE is missing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := Options{Repo: project(t, nil), Cache: cache, Go: pinnedGo()}
			o.Out = filepath.Join(o.Repo, "dist")
			c.prepare(t, &o)
			_, err := Serve(ctx, o)
			if err == nil {
				t.Fatal("it was built")
			}
			if got := verdict.Of(err); got != c.verdict || verdict.ExitCode(err) != c.exit {
				t.Errorf("verdict %s, exit %d, want %s, %d: %v", got, verdict.ExitCode(err), c.verdict, c.exit, err)
			}
			if !strings.Contains(err.Error(), c.say) {
				t.Errorf("it says %q, want %q in it", err, c.say)
			}
			if left, _ := filepath.Glob(filepath.Join(o.Repo, "dist", "*")); len(left) > 0 {
				t.Errorf("it left %v", left)
			}
			if st, err := store.Open(filepath.Join(o.Cache.Dir, "store")); err == nil {
				for _, dir := range []string{"tmp"} {
					if left, _ := os.ReadDir(filepath.Join(st.Dir(), dir)); len(left) > 0 {
						t.Errorf("the store's %s holds %v", dir, left)
					}
				}
			}
		})
	}
}

// Where this machine refuses namespaces the program is built all the same, in
// plain sight: the same bytes, but under another key and with a mark.
func TestServeWithoutSandbox(t *testing.T) {
	cache := newCache(t)
	repo := project(t, nil)
	walled := build(t, Options{Repo: repo, Out: t.TempDir(), Cache: cache})
	plain := build(t, Options{Repo: repo, Out: t.TempDir(), Cache: cache, NoSandbox: true})
	if plain.Component != walled.Component || plain.Source != walled.Source {
		t.Errorf("without a sandbox the component is %s, with one %s", plain.Component, walled.Component)
	}
	if plain.Key == walled.Key {
		t.Error("both have the same key")
	}
	st, err := cache.Store()
	if err != nil {
		t.Fatal(err)
	}
	e, err := st.Get(plain.Key)
	if err != nil || e.Meta["space"] != string(NoSandbox) {
		t.Errorf("the record says %v, %v", e, err)
	}
}
