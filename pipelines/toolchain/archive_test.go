// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package toolchain

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"

	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/toolchain/toolchaintest"
)

// archivePin returns a verified pin of archives and the pool that has them.
func archivePin(t testing.TB, archives ...[]byte) (*pins.Pin, *pool) {
	t.Helper()
	p := &pool{st: newStore(t), files: map[string][]byte{}}
	pin := &pins.Pin{Name: "tool", Use: pins.BuildTool, Track: pins.Track{Kind: pins.Index, URL: "https://example.org/index.json"}, Lock: &pins.Lock{Version: "1.0", Date: lockDate}}
	for i, data := range archives {
		f := pins.File{Name: fmt.Sprintf("archive%d", i), SHA256: fmt.Sprintf("%x", sha256.Sum256(data)), Size: int64(len(data))}
		pin.Lock.Files = append(pin.Lock.Files, f)
		p.files[f.SHA256] = data
	}
	return pin, p
}

type file = toolchaintest.File

func xzTar(t testing.TB, files ...file) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(toolchaintest.Tar(files)))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w, err := xz.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(w, z); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// rustInstaller is an archive as Rust's are, with one component.
func rustInstaller(name string, files ...file) []byte {
	top := name + "-1.98.1-x86_64-unknown-linux-gnu/"
	all := []file{
		{Name: top + "components", Text: name + "\n"}, {Name: top + "rust-installer-version", Text: "3\n"},
		{Name: top + "install.sh", Text: "#!/bin/sh\ntouch /ran\n", Mode: 0o755}, {Name: top + name + "/manifest.in", Text: "file:bin\n"},
	}
	for _, f := range files {
		f.Name = top + name + "/" + f.Name
		all = append(all, f)
	}
	return toolchaintest.Tar(all)
}

func TestArchives(t *testing.T) {
	var wheel bytes.Buffer
	w := zip.NewWriter(&wheel)
	for _, name := range []string{"llvm/bin/clang", "llvm-1.dist-info/METADATA"} {
		f, _ := w.Create(name)
		io.WriteString(f, name)
	}
	w.Close()
	for _, c := range []struct {
		name     string
		archives [][]byte
		want     string // the listing, or what the error says
	}{
		{"one folder is stripped", [][]byte{xzTar(t, file{Name: "zig-1/zig", Text: "zig", Mode: 0o755}, file{Name: "zig-1/lib/std.zig", Text: "std"})},
			"lib/std.zig 444 \"std\"\nzig 555 \"zig\"\n"},
		{"two are not", [][]byte{toolchaintest.Tar([]file{{Name: "bin/a", Text: "a"}, {Name: "lib/b", Text: "b"}})},
			"bin/a 444 \"a\"\nlib/b 444 \"b\"\n"},
		{"a wheel", [][]byte{wheel.Bytes()}, "llvm/bin/clang 444 \"llvm/bin/clang\"\nllvm-1.dist-info/METADATA 444 \"llvm-1.dist-in\"\n"},
		{"Rust's installers", [][]byte{
			rustInstaller("rustc", file{Name: "bin/rustc", Text: "rustc", Mode: 0o755}, file{Name: "lib/a.so", Text: "a"}),
			rustInstaller("cargo", file{Name: "bin/cargo", Text: "cargo", Mode: 0o755}),
		}, "bin/cargo 555 \"cargo\"\nbin/rustc 555 \"rustc\"\nlib/a.so 444 \"a\"\n"},
		{"the same file twice", [][]byte{rustInstaller("rustc", file{Name: "bin/x"}), rustInstaller("cargo", file{Name: "bin/x"})}, "archive1: x is in an archive before it too"},
		{"a folder where a link is", [][]byte{rustInstaller("rustc", file{Name: "bin", Text: "lib", Type: tar.TypeSymlink}), rustInstaller("cargo", file{Name: "bin/x"})}, "archive1: bin is in an archive before it too"},
		{"a component outside", [][]byte{toolchaintest.Tar([]file{{Name: "t/components", Text: "../x\n"}, {Name: "t/rust-installer-version", Text: "3"}})}, `names "../x"`},
		{"a link that leaves", [][]byte{toolchaintest.Tar([]file{{Name: "t/l", Text: "/etc", Type: tar.TypeSymlink}})}, "leaves the folder"},
		{"no archive", [][]byte{[]byte("hello, world, this is no archive at all")}, "damaged"},
		{"empty", [][]byte{{}}, "damaged"},
	} {
		t.Run(c.name, func(t *testing.T) {
			pin, p := archivePin(t, c.archives...)
			dir, err := Fetch(t.Context(), p.st, p, pin, nil)
			if err != nil {
				if !strings.Contains(err.Error(), c.want) {
					t.Errorf("error %v, want one with %q", err, c.want)
				}
				nothing(t, p.st, pin)
				return
			}
			if got := listing(t, dir); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// Each kind that cannot be had says what is missing.
func TestWhatCannotBeHad(t *testing.T) {
	for _, c := range []struct {
		name string
		pin  pins.Pin
		say  string
	}{
		{"a branch", pins.Pin{Track: pins.Track{Kind: pins.GitBranch}}, "followed as a source (git-branch)"},
		{"a field without files", pins.Pin{Track: pins.Track{Kind: pins.Field}}, "its track needs files:"},
		{"a release's source", pins.Pin{Track: pins.Track{Kind: pins.GithubRelease}}, "its track needs assets:"},
		{"another module", pins.Pin{Track: pins.Track{Kind: pins.GoModule, Module: "example.org/m"}}, "is no toolchain"},
		{"no lock", pins.Pin{Track: pins.Track{Kind: pins.Deb}}, "is unlocked: run 'dist toolchain lock tool' first"},
		{"no sums", pins.Pin{Track: pins.Track{Kind: pins.Index}, Lock: &pins.Lock{Version: "1"}}, "is resolved: run 'dist toolchain lock tool' first"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.pin.Name, c.pin.Use = "tool", pins.BuildTool
			_, err := Fetch(t.Context(), nil, nil, &c.pin, nil)
			if err == nil || verdict.Of(err) != verdict.Fail || !strings.Contains(err.Error(), "pin tool ") || !strings.Contains(err.Error(), c.say) {
				t.Errorf("error %v, want one with %q", err, c.say)
			}
		})
	}
}

// Content that fails passes its verdict on, and nothing is left.
func TestContentFails(t *testing.T) {
	pin, p := archivePin(t, toolchaintest.Tar([]file{{Name: "a/b"}}))
	p.files[pin.Lock.Files[0].SHA256] = []byte("something else")
	if _, err := Fetch(t.Context(), p.st, p, pin, nil); err == nil {
		t.Error("a wrong file is taken")
	}
	nothing(t, p.st, pin)
}
