// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package vendored

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/parts"
)

func sri(alg string, content []byte) string {
	if alg == "sha1" {
		s := sha1.Sum(content)
		return "sha1-" + base64.StdEncoding.EncodeToString(s[:])
	}
	s := sha512.Sum512(content)
	return "sha512-" + base64.StdEncoding.EncodeToString(s[:])
}

func TestIntegrity(t *testing.T) {
	right, wrong := []byte("right"), []byte("wrong")
	for _, c := range []struct {
		name, text string
		content    []byte
		alg        string // of the sum that is right
		parse      string // in the error of ParseIntegrity
		mismatch   bool
	}{
		{name: "sha512", text: sri("sha512", right), content: right, alg: "sha512"},
		{name: "sha1", text: sri("sha1", right), content: right, alg: "sha1"},
		{name: "two of one algorithm", text: sri("sha512", wrong) + " " + sri("sha512", right), content: right, alg: "sha512"},
		{name: "options", text: sri("sha512", right) + "?x=y", content: right, alg: "sha512"},
		{name: "unknown beside known", text: "md5-AAAA " + sri("sha512", right), content: right, alg: "sha512"},
		{name: "the strongest counts", text: sri("sha1", wrong) + " " + sri("sha512", right), content: wrong, mismatch: true},
		{name: "the strongest counts in any order", text: sri("sha512", right) + " " + sri("sha1", wrong), content: wrong, mismatch: true},
		{name: "wrong", text: sri("sha512", right), content: wrong, mismatch: true},
		{name: "empty", parse: "has no sha512"},
		{name: "only unknown", text: "md5-AAAA", parse: "has no sha512"},
		{name: "short", text: "sha512-AAAA", parse: "is no sha512 sum"},
		{name: "no base64", text: "sha1-****", parse: "is no sha1 sum"},
	} {
		t.Run(c.name, func(t *testing.T) {
			i, err := ParseIntegrity(c.text)
			if c.parse != "" {
				if err == nil || !strings.Contains(err.Error(), c.parse) {
					t.Fatalf("error %v, want %s", err, c.parse)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			sum, err := i.Verify("package x", bytes.NewReader(c.content))
			var m *Mismatch
			switch {
			case c.mismatch && !errors.As(err, &m):
				t.Errorf("error %v, want a mismatch", err)
			case !c.mismatch && (err != nil || sum.Algorithm != c.alg):
				t.Errorf("%v, %v", sum, err)
			}
			if i.Weak() != (c.alg == "sha1") {
				t.Errorf("weak: %v", i.Weak())
			}
		})
	}
}

func TestParsePackageLock(t *testing.T) {
	sum, other := sri("sha512", []byte("a")), sri("sha512", []byte("b"))
	entry := func(version, integrity, more string) string {
		return `{"version": "` + version + `", "resolved": "https://registry.example/x.tgz", "integrity": "` + integrity + `"` + more + `}`
	}
	v3 := func(packages string) string {
		return `{"lockfileVersion": 3, "packages": {"": {"name": "app"}, ` + packages + `}}`
	}
	for _, c := range []struct{ name, text, want, err string }{
		{name: "version 3", text: v3(`"node_modules/b": ` + entry("2.0.0", sum, "") + `, "node_modules/@s/a": ` + entry("1.0.0", sum, "") + `, "node_modules/b/node_modules/c": ` + entry("3.0.0-rc.1", sum, `, "optional": true`)),
			want: "@s/a/-/a-1.0.0.tgz b/-/b-2.0.0.tgz c/-/c-3.0.0-rc.1.tgz?"},
		{name: "one in two places", text: v3(`"node_modules/b": ` + entry("1.0.0", sum, `, "optional": true`) + `, "node_modules/c/node_modules/b": ` + entry("1.0.0", sum, "")), want: "b/-/b-1.0.0.tgz"},
		{name: "one version, two contents", text: v3(`"node_modules/b": ` + entry("1.0.0", sum, "") + `, "node_modules/c/node_modules/b": ` + entry("1.0.0", other, "")), want: "b/-/b-1.0.0.tgz b/-/b-1.0.0.tgz"},
		{name: "links, folders and bundles", text: v3(`"packages/x": {"version": "1.0.0"}, "node_modules/x": {"link": true, "resolved": "packages/x"}, "node_modules/y": {"version": "1.0.0", "inBundle": true}, "node_modules/z": {"version": "1.0.0", "resolved": "file:../z.tgz"}`)},
		{name: "alias", text: v3(`"node_modules/short": ` + entry("1.0.0", sum, `, "name": "@long/name"`)), want: "@long/name/-/name-1.0.0.tgz"},
		{name: "version 2 counts packages", text: `{"lockfileVersion": 2, "packages": {"node_modules/a": ` + entry("1.0.0", sum, "") + `}, "dependencies": {"b": ` + entry("1.0.0", sum, "") + `}}`, want: "a/-/a-1.0.0.tgz"},
		{name: "version 1", text: `{"lockfileVersion": 1, "dependencies": {"a": ` + entry("1.0.0", sum, `, "dependencies": {"b": `+entry("2.0.0", sum, "")+`}`) + `, "c": ` + entry("npm:d@4.0.0", sum, "") + `, "l": {"version": "file:../l"}, "m": {"version": "1.0.0", "bundled": true}}}`,
			want: "a/-/a-1.0.0.tgz b/-/b-2.0.0.tgz d/-/d-4.0.0.tgz"},
		{name: "no integrity", text: v3(`"node_modules/a": {"version": "1.0.0"}, "node_modules/b": {"version": "1.0.0"}`), err: "a 1.0.0 has no integrity; nothing says what must come\npackage-lock.json: b 1.0.0"},
		{name: "bad integrity", text: v3(`"node_modules/a": ` + entry("1.0.0", "sha512-AA", "")), err: "is no sha512 sum"},
		{name: "git", text: v3(`"node_modules/a": {"version": "1.0.0", "resolved": "git+ssh://git@x.example/a.git#abc"}`), err: "a is from git"},
		{name: "name leaves", text: v3(`"node_modules/../../a": ` + entry("1.0.0", sum, "")), err: "is no name and version of a package"},
		{name: "scope leaves", text: v3(`"node_modules/@../a": ` + entry("1.0.0", sum, "")), err: "is no name and version of a package"},
		{name: "version leaves", text: v3(`"node_modules/a": ` + entry("../1", sum, "")), err: "is no name and version of a package"},
		{name: "address is none", text: v3(`"node_modules/a": {"version": "1.0.0", "resolved": "ssh://x/y", "integrity": "` + sum + `"}`), err: `"ssh://x/y" is no address`},
		{name: "version 4", text: `{"lockfileVersion": 4}`, err: "version 4 of the format is not known"},
		{name: "no JSON", text: `{`, err: "unexpected end"},
		{name: "nests", text: `{"lockfileVersion": 1, "dependencies": ` + strings.Repeat(`{"a": {"version": "file:x", "dependencies": `, 200) + "{}" + strings.Repeat("}}", 200) + "}", err: "nest more than 100 deep"},
	} {
		t.Run(c.name, func(t *testing.T) {
			list, err := ParsePackageLock("package-lock.json", []byte(c.text))
			if c.err != "" {
				var bad *BadLock
				if err == nil || !errors.As(err, &bad) || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("error %v, want %s", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range list {
				s := p.Path()
				if p.Optional {
					s += "?"
				}
				got = append(got, s)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	if got := (Tarball{Name: "@s/a", Version: "1.0.0"}).On("https://r.example/npm/"); got != "https://r.example/npm/@s/a/-/a-1.0.0.tgz" {
		t.Errorf("address %s", got)
	}
}

func TestWriteNPMCacheRefuses(t *testing.T) {
	i, err := ParseIntegrity(sri("sha512", []byte("right")))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	err = WriteNPMCache(filepath.Join(dir, "cache"), []Tarball{{Name: "a", Version: "1.0.0", Integrity: i}}, epoch, func(Tarball) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader("wrong")), nil
	})
	var m *Mismatch
	if !errors.As(err, &m) || !strings.Contains(err.Error(), "package a@1.0.0") {
		t.Errorf("error %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A real npm installs from the cache, offline; without it, it cannot.
func TestRealNPM(t *testing.T) {
	npm := parts.Need(t, "npm").Path
	pkg := tgz(t, "package/package.json", `{"name": "dep", "version": "1.2.3"}`, "package/index.js", "module.exports = 7\n")
	lock := `{"name": "app", "version": "1.0.0", "lockfileVersion": 3, "requires": true, "packages": {
"": {"name": "app", "version": "1.0.0", "dependencies": {"dep": "1.2.3"}},
"node_modules/dep": {"version": "1.2.3", "resolved": "https://registry.example/dep/-/dep-1.2.3.tgz", "integrity": "` + sri("sha512", pkg) + `"}}}`
	list, err := ParsePackageLock("package-lock.json", []byte(lock))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cache := filepath.Join(dir, "cache")
	if err := WriteNPMCache(cache, list, epoch, func(Tarball) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(pkg)), nil }); err != nil {
		t.Fatal(err)
	}
	app := filepath.Join(dir, "app")
	write(t, filepath.Join(app, "package.json"), `{"name": "app", "version": "1.0.0", "dependencies": {"dep": "1.2.3"}}`)
	write(t, filepath.Join(app, "package-lock.json"), lock)
	args := []string{"ci", "--offline", "--no-audit", "--no-fund", "--ignore-scripts", "--cache"}
	if out, err := command(t, app, npm, append(args, filepath.Join(dir, "empty"))...); err == nil {
		t.Fatalf("npm needs no cache:\n%s", out)
	}
	if out, err := command(t, app, npm, append(args, cache)...); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got, err := os.ReadFile(filepath.Join(app, "node_modules", "dep", "index.js"))
	if err != nil || string(got) != "module.exports = 7\n" {
		t.Errorf("%q, %v", got, err)
	}
}
