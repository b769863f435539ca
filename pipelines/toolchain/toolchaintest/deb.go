// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package toolchaintest makes small Debian packages for tests, without the
// programs of Debian, and the same ones each time.
package toolchaintest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"time"

	"github.com/1bit-MONSTER/engine/pins"
)

// A File is one entry of a package's data.
type File struct {
	Name string
	Text string // of a file; the target of a link
	Type byte   // tar's; a file when 0
	Mode int64  // 0755 for folders, 0644 else when 0
}

// A Deb is a package.
type Deb struct {
	Name, Version string
	Files         []File
}

// time of all entries; unpacking is to replace it.
var packed = time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)

// Bytes returns the package.
func (d Deb) Bytes() []byte {
	control := fmt.Sprintf("Package: %s\nVersion: %s\nArchitecture: all\nMaintainer: Nobody <nobody@localhost>\nDescription: a test\n", d.Name, d.Version)
	// A script that would show that it ran.
	postinst := "#!/bin/sh\ntouch /ran\n"
	var b bytes.Buffer
	b.WriteString("!<arch>\n")
	member(&b, "debian-binary", []byte("2.0\n"))
	member(&b, "control.tar.gz", Tar([]File{{Name: "./control", Text: control}, {Name: "./postinst", Text: postinst, Mode: 0o755}}))
	member(&b, "data.tar.gz", Tar(d.Files))
	return b.Bytes()
}

// Locked is how a lock has the package.
func (d Deb) Locked() pins.File {
	data := d.Bytes()
	return pins.File{
		Name: d.Name, Version: d.Version, Platform: "all", Size: int64(len(data)), SHA256: fmt.Sprintf("%x", sha256.Sum256(data)),
		Path: fmt.Sprintf("pool/main/%c/%s/%s_%s_all.deb", d.Name[0], d.Name, d.Name, d.Version),
	}
}

func member(b *bytes.Buffer, name string, data []byte) {
	fmt.Fprintf(b, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", name, 0, 0, 0, "100644", len(data))
	b.Write(data)
	if len(data)%2 == 1 {
		b.WriteByte('\n')
	}
}

// Tar returns a compressed tar of files.
func Tar(files []File) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, f := range files {
		h := &tar.Header{Name: f.Name, Typeflag: f.Type, Mode: f.Mode, ModTime: packed}
		if f.Type == 0 {
			h.Typeflag = tar.TypeReg
		}
		if f.Mode == 0 {
			h.Mode = 0o644
			if f.Type == tar.TypeDir {
				h.Mode = 0o755
			}
		}
		switch h.Typeflag {
		case tar.TypeReg:
			h.Size = int64(len(f.Text))
		case tar.TypeSymlink, tar.TypeLink:
			h.Linkname = f.Text
		}
		if err := w.WriteHeader(h); err != nil {
			panic(err)
		}
		if h.Typeflag == tar.TypeReg {
			io.WriteString(w, f.Text)
		}
	}
	w.Close()
	z.Close()
	return b.Bytes()
}

// Base are packages with what a root file system of Debian is made of: folders
// where merged /usr has links, files in both places, programs with several
// providers, and setuid.
func Base() []Deb {
	dir := func(name string) File { return File{Name: name, Type: tar.TypeDir} }
	return []Deb{
		{Name: "base-files", Version: "12.4+test", Files: []File{
			dir("./"), dir("./bin/"), dir("./lib/"), dir("./sbin/"), dir("./etc/"), dir("./etc/dpkg/"), dir("./etc/dpkg/origins/"),
			{Name: "./etc/dpkg/origins/debian", Text: "Vendor: Debian\n"},
			dir("./usr/"), dir("./usr/bin/"), {Name: "./tmp/", Type: tar.TypeDir, Mode: 0o1777},
		}},
		{Name: "dash", Version: "0.5", Files: []File{
			dir("./"), dir("./bin/"), {Name: "./bin/dash", Text: "a shell", Mode: 0o755}, {Name: "./bin/sh", Text: "dash", Type: tar.TypeSymlink},
		}},
		{Name: "gcc", Version: "4:12.2.0-3", Files: []File{
			dir("./"), dir("./usr/"), dir("./usr/bin/"), {Name: "./usr/bin/gcc", Text: "a compiler", Mode: 0o755},
			{Name: "./usr/bin/gcc-again", Text: "./usr/bin/gcc", Type: tar.TypeLink},
		}},
		{Name: "clang", Version: "1:14.0", Files: []File{{Name: "./usr/bin/clang", Text: "another compiler", Mode: 0o755}}},
		{Name: "libc6", Version: "2.36", Files: []File{
			dir("./"), dir("./lib/"), dir("./lib64/"), {Name: "./lib/x/libc.so.6", Text: "a library"},
			{Name: "./lib64/ld.so.2", Text: "/lib/x/ld.so", Type: tar.TypeSymlink},
		}},
		{Name: "login", Version: "1", Files: []File{{Name: "./bin/su", Text: "becomes root", Mode: 0o4755}, {Name: "./usr/bin/wall", Text: "writes", Mode: 0o2755}}},
	}
}
