// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package vendored

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/zip"
)

func TestParseGoSum(t *testing.T) {
	h := "h1:" + strings.Repeat("A", 43) + "="
	h2 := "h1:" + strings.Repeat("B", 43) + "="
	for _, c := range []struct{ name, text, want, err string }{
		{name: "empty"},
		{name: "zip and mod", text: "x.example/a v1.0.0 " + h + "\nx.example/a v1.0.0/go.mod " + h2 + "\n", want: "x.example/a@v1.0.0:zip+mod"},
		{name: "only mod, sorted by version", text: "x.example/a v1.10.0/go.mod " + h + "\nx.example/a v1.9.0/go.mod " + h + "\n", want: "x.example/a@v1.9.0:mod x.example/a@v1.10.0:mod"},
		{name: "same line twice", text: strings.Repeat("x.example/a v1.0.0 "+h+"\n", 2), want: "x.example/a@v1.0.0:zip"},
		{name: "two sums", text: "x.example/a v1.0.0 " + h + "\nx.example/a v1.0.0 " + h2 + "\n", err: "go.sum:2: x.example/a@v1.0.0 has two different sums"},
		{name: "two fields", text: "\nx v1\n", err: `go.sum:2: "x v1" is no module, version and sum`},
		{name: "bad sum", text: "x.example/a v1.0.0 h9:x\n", err: `"h9:x" is no h1: sum`},
		{name: "bad path", text: "../a v1.0.0 " + h + "\n", err: "go.sum:1: "},
		{name: "bad version", text: "x.example/a latest " + h + "\n", err: "go.sum:1: "},
		{name: "all at once", text: "x\ny\n", err: "sum\ngo.sum:2: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			list, err := ParseGoSum("go.sum", []byte(c.text))
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("error %v, want %s", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range list {
				var has []string
				if m.Sum != "" {
					has = append(has, "zip")
				}
				if m.ModSum != "" {
					has = append(has, "mod")
				}
				got = append(got, m.String()+":"+strings.Join(has, "+"))
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestCheckGoMod(t *testing.T) {
	mod := "module x.example/m\n\nrequire (\n\tx.example/a v1.0.0\n\tx.example/b v1.0.0\n\tx.example/c v1.0.0\n)\n\nreplace x.example/b => ../b\n\nreplace x.example/c v1.0.0 => x.example/d v1.1.0\n"
	a, d := Module{Path: "x.example/a", Version: "v1.0.0", ModSum: "h1:x"}, Module{Path: "x.example/d", Version: "v1.1.0", ModSum: "h1:x"}
	if err := CheckGoMod("go.mod", []byte(mod), []Module{a, d}); err != nil {
		t.Error(err)
	}
	err := CheckGoMod("go.mod", []byte(mod), []Module{a})
	if err == nil || err.Error() != "go.mod:6: x.example/d@v1.1.0 is required, and go.sum has no sum of it" {
		t.Errorf("error %v", err)
	}
	if err := CheckGoMod("go.mod", []byte("module ("), nil); err == nil {
		t.Error("a broken go.mod was taken")
	}
}

// goModule makes a module's zip and go.mod, with the sums that go.sum has.
func goModule(t *testing.T, dir, path, source string) (Module, string, []byte) {
	t.Helper()
	mod := []byte("module " + path + "\n\ngo 1.21\n")
	src := filepath.Join(dir, "src")
	write(t, filepath.Join(src, "go.mod"), string(mod))
	write(t, filepath.Join(src, "lib.go"), source)
	m := Module{Path: path, Version: "v1.2.3"}
	file := filepath.Join(dir, "m.zip")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(zip.CreateFromDir(f, module.Version{Path: m.Path, Version: m.Version}, src), f.Close()); err != nil {
		t.Fatal(err)
	}
	if m.Sum, err = dirhash.HashZip(file, dirhash.Hash1); err != nil {
		t.Fatal(err)
	}
	if m.ModSum, err = dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(string(mod))), nil
	}); err != nil {
		t.Fatal(err)
	}
	return m, file, mod
}

// The real go builds from the proxy folder with nothing else to ask.
func TestRealGo(t *testing.T) {
	dir := t.TempDir()
	const path = "x.example/Upper/lib"
	m, file, mod := goModule(t, dir, path, "package lib\n\nfunc F() int { return 7 }\n")
	sums := path + " v1.2.3 " + m.Sum + "\n" + path + " v1.2.3/go.mod " + m.ModSum + "\n"
	list, err := ParseGoSum("go.sum", []byte(sums))
	if err != nil {
		t.Fatal(err)
	}
	proxy := filepath.Join(dir, "proxy")
	err = WriteGoProxy(proxy, list, epoch, func(Module) ([]byte, error) { return mod, nil }, func(Module) (string, error) { return file, nil })
	if err != nil {
		t.Fatal(err)
	}
	app := filepath.Join(dir, "app")
	write(t, filepath.Join(app, "go.mod"), "module x.example/app\n\ngo 1.21\n\nrequire "+path+" v1.2.3\n")
	write(t, filepath.Join(app, "go.sum"), sums)
	write(t, filepath.Join(app, "main.go"), "package main\n\nimport \"x.example/Upper/lib\"\n\nfunc main() { println(lib.F()) }\n")
	t.Setenv("GOPROXY", "file://"+filepath.ToSlash(proxy))
	t.Setenv("GOMODCACHE", filepath.Join(dir, "modcache"))
	t.Setenv("GOWORK", "off")
	defer command(t, app, "go", "clean", "-modcache")
	if out, err := command(t, app, "go", "mod", "download", "-x"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := command(t, app, "go", "list", "-deps", "."); err != nil || !strings.Contains(out, path) {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := command(t, app, "go", "list", "-m", "-versions", path); err != nil || strings.TrimSpace(out) != path+" v1.2.3" {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestWriteGoProxyRefuses(t *testing.T) {
	dir := t.TempDir()
	const path = "x.example/lib"
	m, file, mod := goModule(t, dir, path, "package lib\n")
	for _, c := range []struct {
		name   string
		change func(m *Module, file *string, mod *[]byte)
		want   string
	}{
		{"another zip", func(m *Module, _ *string, _ *[]byte) { m.Sum = "h1:" + strings.Repeat("A", 43) + "=" }, "module x.example/lib@v1.2.3: the lock file wants h1:AAAA"},
		{"another go.mod", func(_ *Module, _ *string, mod *[]byte) { *mod = []byte("module other\n") }, "go.mod of module x.example/lib@v1.2.3: the lock file wants"},
		{"no zip", func(_ *Module, file *string, _ *[]byte) { *file = filepath.Join(dir, "gone") }, "gone"},
		{"zip of another module", func(m *Module, _ *string, _ *[]byte) { m.Path = "x.example/other" }, "x.example/other@v1.2.3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, file, mod := m, file, mod
			c.change(&m, &file, &mod)
			at := t.TempDir()
			err := WriteGoProxy(filepath.Join(at, "proxy"), []Module{m}, epoch, func(Module) ([]byte, error) { return mod, nil }, func(Module) (string, error) { return file, nil })
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %s", err, c.want)
			}
			if left, err := os.ReadDir(at); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}
