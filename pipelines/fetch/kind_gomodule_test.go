// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
	modzip "golang.org/x/mod/zip"

	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// newProxy makes a module proxy of files with versions of example.com/dep, and
// makes the go client use it.
func newProxy(t *testing.T, versions ...string) string {
	t.Helper()
	dir := t.TempDir()
	at := filepath.Join(dir, "example.com", "dep", "@v")
	if err := os.MkdirAll(at, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, v := range versions {
		publishModule(t, dir, v, "package dep\n")
	}
	list := strings.Join(versions, "\n") + "\n"
	os.WriteFile(filepath.Join(at, "list"), []byte(list), 0o666)
	t.Setenv("GOPROXY", "file://"+dir)
	t.Setenv("GOSUMDB", "off")
	return dir
}

func publishModule(t *testing.T, proxy, version, text string) {
	t.Helper()
	src := t.TempDir()
	goMod := "module example.com/dep\n\ngo 1.26\n"
	for name, data := range map[string]string{"go.mod": goMod, "dep.go": text} {
		if err := os.WriteFile(filepath.Join(src, name), []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var zip bytes.Buffer
	if err := modzip.CreateFromDir(&zip, module.Version{Path: "example.com/dep", Version: version}, src); err != nil {
		t.Fatal(err)
	}
	base := filepath.Join(proxy, "example.com", "dep", "@v", version)
	for end, data := range map[string]string{".mod": goMod, ".zip": zip.String(), ".info": fmt.Sprintf(`{"Version":%q,"Time":"2026-10-03T07:00:00Z"}`, version)} {
		if err := os.WriteFile(base+end, []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func modulePin(track pins.Track) *pins.Pin {
	track.Kind, track.Module = pins.GoModule, "example.com/dep"
	return &pins.Pin{Name: "dep", Track: track}
}

func TestGoModule(t *testing.T) {
	proxy := newProxy(t, "v1.9.0", "v1.10.0", "v1.11.0-rc.1")
	e := newKinds(t, newSite(t))
	p := modulePin(pins.Track{})
	entries := locked(t, e, p)
	sum, err := dirhash.HashZip(filepath.Join(proxy, "example.com", "dep", "@v", "v1.10.0.zip"), dirhash.Hash1)
	if err != nil || p.Lock.Version != "v1.10.0" || p.Lock.Sum != sum || p.Lock.Date.Hour() != 7 {
		t.Errorf("%+v, want %s, %v", p.Lock, sum, err)
	}
	if got, _ := os.ReadFile(filepath.Join(entries[0].Path, "dep.go")); string(got) != "package dep\n" {
		t.Errorf("%q", got)
	}
	publishModule(t, proxy, "v1.10.0", "package evil\n")
	_, err = update(t, e, p)
	wantError(t, err, verdict.Fail, "v1.10.0", sum)
	fresh := newKinds(t, newSite(t))
	_, err = goModuleKind{}.fetch(t.Context(), fresh, p)
	wantError(t, err, verdict.Fail, sum, "nothing of it is used")
	if stored(t, fresh) != 0 {
		t.Error("something is in the store")
	}
	fresh.Offline = true
	_, err = goModuleKind{}.fetch(t.Context(), fresh, p)
	wantError(t, err, verdict.Infra, "--offline")
	p.Track.Module = "example.com/absent"
	_, err = update(t, e, p)
	wantError(t, err, verdict.Infra, "example.com/absent")
}

func TestNewestModule(t *testing.T) {
	list := []string{"v0.0.1-go1.26.0.linux-amd64", "v0.0.1-go1.27.4.linux-amd64", "v0.0.1-go1.27.10.linux-amd64", "v0.0.1-go1.28rc1.linux-amd64", "v0.0.1-go1.29.0.darwin-arm64", "v0.0.1-go1.9.2rc2.linux-amd64"}
	p := modulePin(pins.Track{Platform: "linux-amd64", Schemes: []pins.Scheme{{Pattern: "v0.0.1-go{go}.linux-amd64", Since: "v0.0.1-go1.26.0.linux-amd64"}}})
	if v, err := newestModule(p, list); v != "v0.0.1-go1.27.10.linux-amd64" || err != nil {
		t.Errorf("%s, %v", v, err)
	}
	if _, err := newestModule(modulePin(pins.Track{}), list); err == nil {
		t.Error("a version before a release is taken")
	}
}

// The folder is what a build without network needs, and nothing else.
func TestInputGoModules(t *testing.T) {
	proxy := newProxy(t, "v1.10.0")
	sum, err := dirhash.HashZip(filepath.Join(proxy, "example.com", "dep", "@v", "v1.10.0.zip"), dirhash.Hash1)
	if err != nil {
		t.Fatal(err)
	}
	modSum, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader("module example.com/dep\n\ngo 1.26\n")), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	files := gittest.Files{
		"app/go.mod":   "module example.com/app\n\ngo 1.26\n\nrequire example.com/dep v1.10.0\n",
		"app/go.sum":   "example.com/dep v1.10.0 " + sum + "\nexample.com/dep v1.10.0/go.mod " + modSum + "\n",
		"app/main.go":  "package main\n\nimport _ \"example.com/dep\"\n\nfunc main() {}\n",
		"wrong/go.mod": "module example.com/app\n\ngo 1.26\n\nrequire example.com/dep v1.10.0\n",
		"wrong/go.sum": "example.com/dep v1.10.0 h1:" + strings.Repeat("A", 43) + "=\nexample.com/dep v1.10.0/go.mod " + modSum + "\n",
		"lacks/go.mod": "module example.com/app\n\ngo 1.26\n\nrequire example.com/dep v1.10.0\n",
		"lacks/go.sum": "example.com/dep v1.10.0/go.mod " + modSum + "\n",
	}
	e, p := withSource(t, newSite(t), files)
	dir := lockedInputs(t, e, p, pins.Input{Name: "modules", Kind: pins.InputGoModules, DeclaredIn: "app/go.mod"})[0]
	app := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum", "main.go"} {
		if err := os.WriteFile(filepath.Join(app, name), []byte(files["app/"+name]), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", "build", "-mod=readonly", "-o", os.DevNull, ".")
	cmd.Dir = app
	cmd.Env = append(os.Environ(), "GOPROXY=file://"+dir, "GOFLAGS=-modcacherw", "GOMODCACHE="+t.TempDir(), "GOSUMDB=off", "GOWORK=off", "GOTOOLCHAIN=local")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("a build with it: %v\n%s", err, out)
	}
	// What go.sum does not know is not there, and other content is an error.
	dir = lockedInputs(t, e, p, pins.Input{Name: "modules", Kind: pins.InputGoModules, DeclaredIn: "lacks/go.sum"})[0]
	if left, _ := filepath.Glob(filepath.Join(dir, "example.com", "dep", "@v", "*")); len(left) != 2 {
		t.Errorf("%q", left)
	}
	p.Lock.Inputs = []pins.Input{{Name: "modules", Kind: pins.InputGoModules, DeclaredIn: "wrong/go.mod"}}
	_, _, err = e.LockInputs(t.Context(), p)
	wantError(t, err, verdict.Fail, "input modules", "go.sum")
}
