// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package vendored

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/parts"
)

const sumA = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

func TestParseCargoLock(t *testing.T) {
	const commit = "0123456789012345678901234567890123456789"
	pkg := func(name, version, source, more string) string {
		return fmt.Sprintf("[[package]]\nname = %q\nversion = %q\nsource = %q\n%s\n", name, version, source, more)
	}
	sum := "checksum = \"" + sumA + "\"\n"
	registry := "registry+https://registry.example/index"
	for _, c := range []struct {
		name, text string
		version    int
		crates     string
		git        string
		err        string // in the error
	}{
		{name: "version 1", version: 1, crates: "a 1.0.0",
			text: pkg("a", "1.0.0", registry, "") + "[metadata]\n\"checksum a 1.0.0 (" + registry + ")\" = \"" + sumA + "\"\n"},
		{name: "version 2", version: 2, crates: "a 1.0.0", text: pkg("a", "1.0.0", registry, sum)},
		{name: "version 3, two versions", version: 3, crates: "a 1.0.0,a 2.0.0+build", text: "version = 3\n" + pkg("a", "2.0.0+build", registry, sum) + pkg("a", "1.0.0", registry, sum)},
		{name: "version 4, git and sparse and own", version: 4, crates: "s 0.1.0", git: "g tag=v1 " + commit,
			text: "version = 4\n[[package]]\nname=\"own\"\nversion=\"0.1.0\"\n" + pkg("s", "0.1.0", "sparse+https://registry.example/", sum) + pkg("g", "0.1.0", "git+https://x.example/g?tag=v1#"+commit, "")},
		{name: "encoded branch", version: 4, git: "g branch=a/b " + commit, text: "version = 4\n" + pkg("g", "0.1.0", "git+https://x.example/g?branch=a%2Fb#"+commit, "")},
		{name: "version 5", text: "version = 5\n", err: "Cargo.lock: version 5 of the format is not known"},
		{name: "no checksum", text: pkg("a", "1.0.0", registry, ""), err: "a 1.0.0 has no checksum"},
		{name: "short checksum", text: pkg("a", "1.0.0", registry, "checksum = \"abcd\"\n"), err: "a 1.0.0 has no checksum"},
		{name: "git without a commit", text: pkg("a", "1.0.0", "git+https://x.example/a", ""), err: "a 1.0.0 is from git without a commit"},
		{name: "unknown source", text: pkg("a", "1.0.0", "ftp+x", sum), err: "which is no registry and no git repository"},
		{name: "name leaves", text: pkg("../a", "1.0.0", registry, sum), err: `"../a" "1.0.0" is no name and version of a crate`},
		{name: "version leaves", text: pkg("a", "1/../..", registry, sum), err: "is no name and version of a crate"},
		{name: "twice", text: pkg("a", "1.0.0", registry, sum) + pkg("a", "1.0.0", registry, sum), err: "a 1.0.0 is here twice"},
		{name: "all at once", text: pkg("a", "1.0.0", registry, "") + pkg("b", "1.0.0", registry, ""), err: "a 1.0.0 has no checksum; nothing says what must come\nCargo.lock: b 1.0.0"},
		{name: "no TOML", text: "x = 1\n[[package\n", err: "Cargo.lock:3: "},
		{name: "nests", text: "a = " + strings.Repeat("[", 1000000), err: "nest more than 100 deep"},
	} {
		t.Run(c.name, func(t *testing.T) {
			lock, err := ParseCargoLock("Cargo.lock", []byte(c.text))
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
			var crates, git []string
			for _, k := range lock.Crates {
				crates = append(crates, k.Name+" "+k.Version)
				if k.SHA256 != sumA {
					t.Errorf("sum of %s: %s", k.Name, k.SHA256)
				}
			}
			for _, g := range lock.Git {
				git = append(git, g.Name+" "+g.Ref+" "+g.Commit)
			}
			if lock.Version != c.version || strings.Join(crates, ",") != c.crates || strings.Join(git, ",") != c.git {
				t.Errorf("version %d, crates %q, git %q", lock.Version, crates, git)
			}
		})
	}
}

func TestCrateURL(t *testing.T) {
	for _, c := range []struct{ name, dl, want string }{
		{"serde", "https://r.example/api/v1/crates/", "https://r.example/api/v1/crates/serde/1.0.0/download"},
		{"serde", "https://r.example/{crate}/{crate}-{version}.crate", "https://r.example/serde/serde-1.0.0.crate"},
		{"Serde", "https://r.example/{prefix}/{lowerprefix}/{sha256-checksum}", "https://r.example/Se/rd/se/rd/" + sumA},
		{"abc", "https://r.example/{prefix}", "https://r.example/3/a"},
		{"ab", "https://r.example/{prefix}", "https://r.example/2"},
	} {
		if got := (Crate{Name: c.name, Version: "1.0.0", SHA256: sumA}).URL(c.dl); got != c.want {
			t.Errorf("%s on %s: %s, want %s", c.name, c.dl, got, c.want)
		}
	}
}

type seekCloser struct{ *bytes.Reader }

func (seekCloser) Close() error { return nil }

// tgz makes a tar.gz of names and contents.
func tgz(t *testing.T, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for i := 0; i < len(files); i += 2 {
		h := &tar.Header{Name: files[i], Mode: 0o644, Size: int64(len(files[i+1])), Typeflag: tar.TypeReg}
		if to, ok := strings.CutPrefix(files[i+1], "link "); ok {
			h.Typeflag, h.Linkname, h.Size = tar.TypeSymlink, to, 0
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			if _, err := io.WriteString(w, files[i+1]); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func crate(name string, content []byte) Crate {
	s := sha256.Sum256(content)
	return Crate{name, "0.1.0", hex.EncodeToString(s[:]), "registry+https://registry.example/crates.io-index"}
}

var epoch = time.Unix(1700000000, 0)

func writeVendor(t *testing.T, lock *CargoLock, files map[string][]byte) (string, error) {
	target := filepath.Join(t.TempDir(), "vendor")
	err := WriteVendor(context.Background(), target, lock, epoch, func(c Crate) (io.ReadSeekCloser, error) {
		return seekCloser{bytes.NewReader(files[c.Name])}, nil
	})
	return target, err
}

func TestWriteVendor(t *testing.T) {
	good := tgz(t, "dep-0.1.0/Cargo.toml", "[package]\nname = \"dep\"\n", "dep-0.1.0/src/lib.rs", "pub fn f() {}\n", "dep-0.1.0/.cargo-checksum.json", "{}")
	c := crate("dep", good)
	target, err := writeVendor(t, &CargoLock{Crates: []Crate{c}}, map[string][]byte{"dep": good})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(target, "dep-0.1.0", ".cargo-checksum.json"))
	if err != nil {
		t.Fatal(err)
	}
	var sums struct {
		Files   map[string]string
		Package string
	}
	if err := json.Unmarshal(text, &sums); err != nil {
		t.Fatal(err)
	}
	lib := sha256.Sum256([]byte("pub fn f() {}\n"))
	if sums.Package != c.SHA256 || len(sums.Files) != 2 || sums.Files["src/lib.rs"] != hex.EncodeToString(lib[:]) {
		t.Errorf("checksums: %s", text)
	}
	info, err := os.Stat(filepath.Join(target, "dep-0.1.0", "src"))
	if err != nil || !info.ModTime().Equal(epoch) {
		t.Errorf("time of src: %v, %v", info, err)
	}
}

func TestWriteVendorRefuses(t *testing.T) {
	good := tgz(t, "dep-0.1.0/Cargo.toml", "x")
	for _, c := range []struct {
		name    string
		content []byte
		lock    func(Crate) *CargoLock
		want    string
	}{
		{name: "another sum", content: good, lock: func(c Crate) *CargoLock { c.SHA256 = sumA; return &CargoLock{Crates: []Crate{c}} }, want: "the lock file wants sha256 " + sumA},
		{name: "another folder", content: tgz(t, "other-0.1.0/x", "x"), want: "other-0.1.0"},
		{name: "leaves", content: tgz(t, "dep-0.1.0/../../x", "x"), want: "refuse"},
		{name: "a link", content: tgz(t, "dep-0.1.0/a", "x", "dep-0.1.0/l", "link a"), want: "is no file"},
		{name: "cut short", content: good[:len(good)/2], want: "dep-0.1.0"},
		{name: "git", content: good, lock: func(c Crate) *CargoLock {
			return &CargoLock{Crates: []Crate{c}, Git: []GitCrate{{Name: "g", Version: "1.0.0", URL: "https://x.example/g"}}}
		}, want: "g 1.0.0 from https://x.example/g: crates from git can not be in a vendor folder"},
		{name: "two registries", content: good, lock: func(c Crate) *CargoLock { return &CargoLock{Crates: []Crate{c, c}} }, want: "need the same folder"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := crate("dep", c.content)
			lock := &CargoLock{Crates: []Crate{k}}
			if c.lock != nil {
				lock = c.lock(k)
			}
			target, err := writeVendor(t, lock, map[string][]byte{"dep": c.content})
			if err == nil || c.want != "refuse" && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %s", err, c.want)
			}
			if left, _ := filepath.Glob(filepath.Join(filepath.Dir(target), "*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
			if left, _ := filepath.Glob(filepath.Join(filepath.Dir(target), ".*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestCargoConfig(t *testing.T) {
	l := &CargoLock{
		Crates: []Crate{{Source: "registry+https://x.example/crates.io-index"}, {Source: "registry+https://other.example/index"}, {Source: "sparse+https://sparse.example/"}},
		Git:    []GitCrate{{Source: "git+https://x.example/g?tag=v1#abc", URL: "https://x.example/g", Ref: "tag=v1"}},
	}
	want := `[source."crates-io"]
replace-with = "vendored-sources"

[source."git+https://x.example/g?tag=v1"]
git = "https://x.example/g"
tag = "v1"
replace-with = "vendored-sources"

[source."registry+https://other.example/index"]
registry = "https://other.example/index"
replace-with = "vendored-sources"

[source."sparse+https://sparse.example/"]
registry = "sparse+https://sparse.example/"
replace-with = "vendored-sources"

[source.vendored-sources]
directory = "/in \"puts\""

[net]
offline = true
`
	if got := l.CargoConfig(`/in "puts"`); got != want {
		t.Errorf("got:\n%s", got)
	}
}

// command runs a program in a folder with a home of its own.
func command(t *testing.T, dir, program string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CARGO_NET_OFFLINE=true", "CARGO_HOME="+filepath.Join(dir, ".cargo-home"), "npm_config_update_notifier=false", "npm_config_userconfig=/dev/null", "GOFLAGS=-mod=mod", "GOTOOLCHAIN=local", "GOSUMDB=off")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// A real cargo takes the vendor folder, offline, and refuses it when a file in
// it was changed.
func TestRealCargo(t *testing.T) {
	cargo := parts.Need(t, "cargo").Path
	content := tgz(t, "dep-0.1.0/Cargo.toml", "[package]\nname = \"dep\"\nversion = \"0.1.0\"\nedition = \"2021\"\n", "dep-0.1.0/src/lib.rs", "pub fn f() -> u32 { 7 }\n")
	k := crate("dep", content)
	dir := t.TempDir()
	// The name of cargo's own registry, as lock files write it.
	k.Source = "registry+https://github.com/rust-lang/crates.io-index"
	lockText := "version = 3\n\n[[package]]\nname = \"app\"\nversion = \"0.1.0\"\ndependencies = [\n \"dep\",\n]\n\n[[package]]\nname = \"dep\"\nversion = \"0.1.0\"\nsource = \"" + k.Source + "\"\nchecksum = \"" + k.SHA256 + "\"\n"
	lock, err := ParseCargoLock("Cargo.lock", []byte(lockText))
	if err != nil {
		t.Fatal(err)
	}
	vendor := filepath.Join(dir, "vendor")
	if err := WriteVendor(t.Context(), vendor, lock, epoch, func(Crate) (io.ReadSeekCloser, error) { return seekCloser{bytes.NewReader(content)}, nil }); err != nil {
		t.Fatal(err)
	}
	app := filepath.Join(dir, "app")
	for name, text := range map[string]string{
		"Cargo.toml":         "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\ndep = \"0.1\"\n",
		"Cargo.lock":         lockText,
		"src/main.rs":        "fn main() { println!(\"{}\", dep::f()); }\n",
		".cargo/config.toml": lock.CargoConfig(vendor),
	} {
		write(t, filepath.Join(app, name), text)
	}
	if out, err := command(t, app, cargo, "metadata", "--locked", "--offline", "--format-version", "1"); err != nil || !strings.Contains(out, "dep-0.1.0") {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := command(t, app, cargo, "check", "--locked", "--offline"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	write(t, filepath.Join(vendor, "dep-0.1.0", "src", "lib.rs"), "pub fn f() -> u32 { 8 }\n")
	os.RemoveAll(filepath.Join(app, "target"))
	if out, err := command(t, app, cargo, "check", "--locked", "--offline"); err == nil || !strings.Contains(out, "checksum") {
		t.Errorf("a changed file was taken: %v\n%s", err, out)
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}
