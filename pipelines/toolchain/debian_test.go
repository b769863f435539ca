// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package toolchain

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/parts"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/unpack"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/toolchain/toolchaintest"
)

// A pool is Contents from memory.
type pool struct {
	st    *store.Store
	files map[string][]byte // by sha256
	asked int
}

func (p *pool) Content(ctx context.Context, pin *pins.Pin) ([]*store.Entry, error) {
	p.asked++
	var all []*store.Entry
	for _, f := range pin.Lock.Files {
		key, err := store.KeyOf("sha256:" + f.SHA256)
		if err != nil {
			return nil, err
		}
		e, err := p.st.Put(ctx, key, store.Maker{Kind: "file", Name: f.Name, Fill: func(_ context.Context, path string) error {
			return os.WriteFile(path, p.files[f.SHA256], 0o666)
		}})
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

var lockDate = time.Date(2026, 7, 11, 10, 16, 37, 0, time.UTC)

// debianPin returns a verified pin of packages and the pool that has them.
func debianPin(t testing.TB, debs ...toolchaintest.Deb) (*pins.Pin, *pool) {
	t.Helper()
	p := &pool{st: newStore(t), files: map[string][]byte{}}
	pin := &pins.Pin{Name: "debian-test", Use: pins.BuildTool, Track: pins.Track{Kind: pins.Deb, Suite: "bookworm"},
		Lock: &pins.Lock{Version: "12.15", Date: lockDate}}
	for _, d := range debs {
		f := d.Locked()
		pin.Lock.Files = append(pin.Lock.Files, f)
		p.files[f.SHA256] = d.Bytes()
	}
	if pin.State() != pins.Verified {
		t.Fatalf("the pin is %s", pin.State())
	}
	return pin, p
}

func newStore(t testing.TB) *store.Store {
	t.Helper()
	st, err := store.Open(filepath.Join(t.TempDir(), "store"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // its folders are read-only
		filepath.WalkDir(st.Dir(), func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				os.Chmod(name, 0o755)
			}
			return nil
		})
	})
	return st
}

// listing shows a folder: names, exec bits, link targets, contents.
func listing(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		info, err := d.Info()
		if err != nil {
			return err
		}
		if !info.ModTime().Equal(lockDate) {
			t.Errorf("%s has the time %s", rel, info.ModTime())
		}
		if info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0 {
			t.Errorf("%s has the mode %s", rel, info.Mode())
		}
		switch {
		case d.IsDir():
		case d.Type() == fs.ModeSymlink:
			to, _ := os.Readlink(name)
			fmt.Fprintf(&b, "%s -> %s\n", rel, to)
		default:
			if info.Mode().Perm()&0o222 != 0 {
				t.Errorf("%s can be written: %s", rel, info.Mode())
			}
			data, _ := os.ReadFile(name)
			fmt.Fprintf(&b, "%s %o %.14q\n", rel, info.Mode().Perm(), data)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const baseTree = `bin -> usr/bin
etc/dpkg/origins/debian 444 "Vendor: Debian"
etc/dpkg/origins/default -> debian
etc/group 444 "root:x:0:\nbuil"
etc/hosts 444 "127.0.0.1 loca"
etc/nsswitch.conf 444 "passwd: files\n"
etc/passwd 444 "root:x:0:0:roo"
lib -> usr/lib
lib64 -> usr/lib64
sbin -> usr/sbin
usr/bin/c89 -> /usr/bin/clang
usr/bin/c99 -> /usr/bin/clang
usr/bin/cc -> /usr/bin/gcc
usr/bin/clang 555 "another compil"
usr/bin/dash 555 "a shell"
usr/bin/gcc 555 "a compiler"
usr/bin/gcc-again 555 "a compiler"
usr/bin/sh -> dash
usr/bin/su 555 "becomes root"
usr/bin/wall 555 "writes"
usr/lib/x/libc.so.6 444 "a library"
usr/lib64/ld.so.2 -> /lib/x/ld.so
var/lib/dpkg/status 444 "Package: base-"
var/lock -> /run/lock
var/run -> /run
`

func TestDebianRootFileSystem(t *testing.T) {
	pin, p := debianPin(t, toolchaintest.Base()...)
	dir, err := Fetch(t.Context(), p.st, p, pin, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := listing(t, dir); got != baseTree {
		t.Errorf("got\n%s\nwant\n%s", got, baseTree)
	}
	status, err := os.ReadFile(filepath.Join(dir, "var/lib/dpkg/status"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Package: gcc\nStatus: install ok installed\nVersion: 4:12.2.0-3\n", "\n\nPackage: login\n"} {
		if !strings.Contains(string(status), want) {
			t.Errorf("the status lacks %q", want)
		}
	}
	again, err := Fetch(t.Context(), p.st, p, pin, nil)
	if err != nil || again != dir || p.asked != 1 {
		t.Errorf("a second fetch gives %s, %v, and asked %d times", again, err, p.asked)
	}
}

// The same lock gives the same tree, in another store and in another order of
// its files.
func TestDebianIsTheSameTwice(t *testing.T) {
	var sums []string
	for i := range 2 {
		debs := toolchaintest.Base()
		if i == 1 {
			slices.Reverse(debs)
		}
		pin, p := debianPin(t, debs...)
		if _, err := Fetch(t.Context(), p.st, p, pin, nil); err != nil {
			t.Fatal(err)
		}
		e, err := Cached(p.st, pin)
		if err != nil {
			t.Fatal(err)
		}
		sums = append(sums, string(e.Key)+" "+e.Sum)
	}
	if sums[0] != sums[1] {
		t.Errorf("%s, then %s", sums[0], sums[1])
	}
	other, _ := debianPin(t, toolchaintest.Base()[1:]...)
	a, errA := Sum(other)
	pin, _ := debianPin(t, toolchaintest.Base()...)
	b, errB := Sum(pin)
	if a == b || errA != nil || errB != nil {
		t.Errorf("other packages have the same sum %s (%v, %v)", a, errA, errB)
	}
	pin.Lock.Date = lockDate.Add(time.Second)
	if c, _ := Sum(pin); c == b {
		t.Error("another date has the same sum")
	}
}

func TestDebianHostile(t *testing.T) {
	deb := func(name string, files ...toolchaintest.File) toolchaintest.Deb {
		return toolchaintest.Deb{Name: name, Version: "1", Files: files}
	}
	for _, c := range []struct {
		name string
		deb  toolchaintest.Deb
		say  string
	}{
		{"dot dot", deb("evil", toolchaintest.File{Name: "./../x", Text: "x"}), `".."`},
		{"absolute", deb("evil", toolchaintest.File{Name: "/etc/x", Text: "x"}), "absolute"},
		{"device", deb("evil", toolchaintest.File{Name: "./dev/sda", Type: tar.TypeBlock}), "device"},
		{"fifo", deb("evil", toolchaintest.File{Name: "./p", Type: tar.TypeFifo}), "fifo"},
		{"another's file", deb("evil", toolchaintest.File{Name: "./usr/bin/gcc", Text: "mine"}), "package gcc has the file usr/bin/gcc, which a package before it has too"},
		{"another's file by another name", deb("zevil", toolchaintest.File{Name: "./bin/gcc", Text: "mine"}), "package zevil has the file usr/bin/gcc"},
		{"a folder for a link", deb("zevil", toolchaintest.File{Name: "./bin/sh/x", Text: "mine"}), "no folder"},
	} {
		t.Run(c.name, func(t *testing.T) {
			pin, p := debianPin(t, append(toolchaintest.Base(), c.deb)...)
			_, err := Fetch(t.Context(), p.st, p, pin, nil)
			if err == nil || !strings.Contains(err.Error(), c.say) || !strings.Contains(err.Error(), "toolchain debian-test: ") {
				t.Errorf("error %v, want one with %q", err, c.say)
			}
			nothing(t, p.st, pin)
		})
	}
}

// nothing fails the test when a toolchain, or something of it, is in the store.
func nothing(t *testing.T, st *store.Store, pin *pins.Pin) {
	t.Helper()
	var absent *store.Absent
	if _, err := Cached(st, pin); !errors.As(err, &absent) {
		t.Errorf("the store has it: %v", err)
	}
	left, err := os.ReadDir(filepath.Join(st.Dir(), "tmp"))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range left {
		if !strings.HasSuffix(x.Name(), ".lock") {
			t.Errorf("left behind: %s", x.Name())
		}
	}
}

func TestDebianDamaged(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func([]byte) []byte
	}{
		{"cut short", func(b []byte) []byte { return b[:len(b)-40] }},
		{"no package", func([]byte) []byte { return []byte("hello") }},
		{"another package", func([]byte) []byte { return toolchaintest.Deb{Name: "other", Version: "1"}.Bytes() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			pin, p := debianPin(t, toolchaintest.Base()...)
			entries, err := p.Content(t.Context(), pin)
			if err != nil {
				t.Fatal(err)
			}
			bad := filepath.Join(t.TempDir(), "bad")
			if err := os.WriteFile(bad, c.change(p.files[pin.Lock.Files[2].SHA256]), 0o666); err != nil {
				t.Fatal(err)
			}
			entries[2].Path = bad
			dir := filepath.Join(t.TempDir(), "out")
			if err := unpackDebian(t.Context(), pin, entries, dir); err == nil {
				t.Error("no error")
			}
			if _, err := os.Stat(dir); err == nil {
				t.Error("a folder is there")
			}
		})
	}
}

func TestDebianInterrupted(t *testing.T) {
	pin, p := debianPin(t, toolchaintest.Base()...)
	ctx, cancel := context.WithCancel(t.Context())
	contents := cancelling{p, cancel}
	if _, err := Fetch(ctx, p.st, contents, pin, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	nothing(t, p.st, pin)
	if _, err := Fetch(t.Context(), p.st, p, pin, nil); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// cancelling ends the context when all is downloaded.
type cancelling struct {
	*pool
	cancel func()
}

func (c cancelling) Content(ctx context.Context, pin *pins.Pin) ([]*store.Entry, error) {
	defer c.cancel()
	return c.pool.Content(ctx, pin)
}

// A package that Debian's own program made, compressed as Debian does.
func TestDebianOwnPackage(t *testing.T) {
	parts.Need(t, "dpkg-deb")
	top := t.TempDir()
	for name, text := range map[string]string{
		"DEBIAN/control":  "Package: real\nVersion: 1\nArchitecture: all\nMaintainer: Nobody <nobody@localhost>\nDescription: a test\n",
		"DEBIAN/postinst": "#!/bin/sh\ntouch /ran\n",
		"bin/real":        "a program",
	} {
		path := filepath.Join(top, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "real.deb")
	if out, err := exec.Command("dpkg-deb", "--build", "--root-owner-group", top, file).CombinedOutput(); err != nil {
		t.Fatalf("dpkg-deb: %v\n%s", err, out)
	}
	pin, _ := debianPin(t, toolchaintest.Deb{Name: "real", Version: "1"})
	dir := filepath.Join(t.TempDir(), "out")
	if err := unpackDebian(t.Context(), pin, []*store.Entry{{Path: file}}, dir); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "usr/bin/real")); string(data) != "a program" {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("a maintainer script ran")
	}
}

// A bomb is refused while it is decompressed, before the disk is full.
func TestDecompressBomb(t *testing.T) {
	bomb := toolchaintest.Tar([]toolchaintest.File{{Name: "zero", Text: strings.Repeat("\x00", 64<<20)}})
	var out bytes.Buffer
	err := unpack.Decompress(t.Context(), &out, bytes.NewReader(bomb), 1<<30)
	var refused *unpack.Refused
	if !errors.As(err, &refused) || out.Len() > 40<<20 {
		t.Errorf("%d bytes, %v", out.Len(), err)
	}
}
