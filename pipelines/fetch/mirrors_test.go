// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/verdict"
)

func writeMirrors(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mirrors.yaml")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestMirrors(t *testing.T) {
	t.Parallel()
	path := writeMirrors(t, `
allow-http: true
debian: http://deb.example/debian
urls:
  https://github.com/: https://all.example/gh/
  https://github.com/o: http://127.0.0.1:1/o
  https://github.com/o/r.git: {to: /srv/r.git, stands-in: fork/r}
  https://files.example/: folder
images:
  docker.io/library/: mirror.example/hub/
`)
	m, err := LoadMirrors(path)
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(filepath.Dir(path), "folder")
	for address, want := range map[string]Place{
		"https://github.com/o/r.git":        {"/srv/r.git", true, "fork/r"},
		"https://github.com/o/s.git":        {"http://127.0.0.1:1/o/s.git", true, "https://github.com/o/s.git"},
		"https://github.com/other/s.git":    {"https://all.example/gh/other/s.git", true, "https://github.com/other/s.git"},
		"https://github.community/s.git":    {URL: "https://github.community/s.git"},
		"https://files.example/a/b":         {folder + "/a/b", true, "https://files.example/a/b"},
		"https://files.example/../../etc/x": {folder + "/etc/x", true, "https://files.example/../../etc/x"},
	} {
		if got := m.Place(address); got != want {
			t.Errorf("Place(%s) = %+v, want %+v", address, got, want)
		}
	}
	if got := m.Image("docker.io/library/debian"); got.URL != "mirror.example/hub/debian" || !got.Mapped {
		t.Errorf("image %+v", got)
	}
	if got := m.Image("quay.io/x"); got.Mapped {
		t.Errorf("image %+v", got)
	}
	var none *Mirrors
	if got := none.Place("https://x.example/"); got != (Place{URL: "https://x.example/"}) {
		t.Errorf("no mirrors: %+v", got)
	}
}

func TestBadMirrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"http without saying so": {"urls: {'https://a.example/': 'http://b.example/'}", "allow-http"},
		"from http":              {"urls: {'http://a.example/': 'https://b.example/'}", "https address"},
		"program":                {"urls: {'https://a.example/': 'ext::sh'}", "neither"},
		"option":                 {"urls: {'https://a.example/': '-x'}", "neither"},
		"nothing":                {"urls: {'https://a.example/': ''}", "neither"},
		"unknown key":            {"url: {}", "url"},
		"unknown key inside":     {"urls: {'https://a.example/': {to: /x, stand-in: y}}", "stand-in"},
		"no YAML":                {"urls: [", "line"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := LoadMirrors(writeMirrors(t, c.text))
			if verdict.ExitCode(err) != verdict.ExitUsage || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "mirrors.yaml") {
				t.Errorf("got %v", err)
			}
		})
	}
	if _, err := LoadMirrors(filepath.Join(t.TempDir(), "none")); verdict.ExitCode(err) != verdict.ExitUsage {
		t.Errorf("got %v", err)
	}
}

func TestMirrorsFileIsSmall(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/large", make([]byte, longestMirrors+1), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{dir + "/large": "larger than", dir: "no regular file", os.DevNull: "no regular file"} {
		if _, err := LoadMirrors(name); verdict.ExitCode(err) != verdict.ExitUsage || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A mistake is told in one line and without the names of Go types.
func TestMirrorsMistakesInWords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mirrors.yaml")
	for text, want := range map[string]string{
		"url:\n  a: b\n":                `line 1: unknown key "url"`,
		"urls: [a]\n":                   "line 1: a list cannot stand here",
		"allow-http: 7\nurls: [a]\n":    "; line 2: a list",
		"urls: {}\n---\nurls: {}\n":     "more than one document",
		"urls:\n  https://a/: {x: y}\n": `a mirror has no "x"`,
	} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := LoadMirrors(path)
		if verdict.ExitCode(err) != verdict.ExitUsage || !strings.Contains(err.Error(), want) || strings.ContainsAny(err.Error(), "\n!") || strings.Contains(err.Error(), "fetch.") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
