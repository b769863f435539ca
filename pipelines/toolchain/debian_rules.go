// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package toolchain

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"fmt"
	"path"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/unpack"
)

// What maintainer scripts do on a real system and builds need is data here.
// What they do besides is left out: caches (ldconfig's is not needed, as all
// libraries lie where the loader looks by itself), byte code of Python,
// services, users of daemons, shells, debconf, certificates (a build has no
// network).

// A link is a symbolic link.
type link struct{ name, to string }

// mergedUsr are the links that make /bin and /usr/bin one. bookworm's
// base-files has folders there, which the package usrmerge turns into links;
// packages still put files in either.
var mergedUsr = []link{
	{"bin", "usr/bin"},
	{"sbin", "usr/sbin"},
	{"lib", "usr/lib"},
	{"lib64", "usr/lib64"},
}

// An alternative is a program with several providers, of which the first that
// is there is taken, as update-alternatives would by priority. The links lead
// to it directly: a root file system that nobody changes needs no switch.
type alternative struct {
	name string
	of   []string // absolute, the highest priority first
}

var alternatives = []alternative{
	// gcc, g++ (20), clang (10): build files that name no compiler call cc
	{"usr/bin/cc", []string{"/usr/bin/gcc", "/usr/bin/clang"}},
	{"usr/bin/c++", []string{"/usr/bin/g++", "/usr/bin/clang++"}},
	{"usr/bin/c89", []string{"/usr/bin/c89-gcc", "/usr/bin/clang"}},
	{"usr/bin/c99", []string{"/usr/bin/c99-gcc", "/usr/bin/clang"}},
	// cpp: imake and old configure scripts look for it in /lib
	{"usr/lib/cpp", []string{"/usr/bin/cpp"}},
	// mawk, gawk: configure scripts and kernel builds
	{"usr/bin/awk", []string{"/usr/bin/gawk", "/usr/bin/mawk"}},
	{"usr/bin/nawk", []string{"/usr/bin/gawk", "/usr/bin/mawk"}},
	// debianutils: scripts ask which
	{"usr/bin/which", []string{"/usr/bin/which.debianutils"}},
	// bison, automake, fakeroot
	{"usr/bin/yacc", []string{"/usr/bin/bison.yacc", "/usr/bin/byacc"}},
	{"usr/bin/automake", []string{"/usr/bin/automake-1.17", "/usr/bin/automake-1.16"}},
	{"usr/bin/aclocal", []string{"/usr/bin/aclocal-1.17", "/usr/bin/aclocal-1.16"}},
	{"usr/bin/fakeroot", []string{"/usr/bin/fakeroot-sysv", "/usr/bin/fakeroot-tcp"}},
	{"usr/bin/faked", []string{"/usr/bin/faked-sysv", "/usr/bin/faked-tcp"}},
	// xz-utils
	{"usr/bin/lzma", []string{"/usr/bin/xz"}},
	{"usr/bin/unlzma", []string{"/usr/bin/unxz"}},
	{"usr/bin/lzcat", []string{"/usr/bin/xzcat"}},
	// git and others page through it
	{"usr/bin/pager", []string{"/usr/bin/less", "/usr/bin/more"}},
}

// debianFiles are what base-passwd, base-files and netbase's scripts write: the
// users that builds may ask for (root, and the one that the sandbox runs
// programs as), and names without a network.
var debianFiles = []struct{ name, text string }{
	{"etc/passwd", "root:x:0:0:root:/root:/bin/sh\nbuild:x:1000:1000:build:/home/build:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"},
	{"etc/group", "root:x:0:\nbuild:x:1000:\nnogroup:x:65534:\n"},
	{"etc/hosts", "127.0.0.1 localhost\n::1 localhost\n"},
	{"etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n"},
}

// debianLinks are links that scripts make and packages do not have: dpkg-vendor
// asks for the origin, on which compiler flags of dpkg-buildflags depend.
var debianLinks = []link{
	{"etc/dpkg/origins/default", "debian"},
	{"var/run", "/run"},
	{"var/lock", "/run/lock"},
}

// debianRules is a digest of all of the above.
func debianRules() string {
	text := fmt.Sprint(mergedUsr, alternatives, debianFiles, debianLinks, debianFolders)
	return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
}

// debianFolders are what must be there for links to lead somewhere, and for
// sandboxes to mount on.
var debianFolders = []string{"usr/bin", "usr/sbin", "usr/lib", "usr/lib64", "dev", "proc", "sys", "run", "tmp", "home/build", "root"}

// debianBefore is unpacked before all packages.
func debianBefore() ([]byte, error) {
	var a added
	for _, d := range debianFolders {
		a.folder(d)
	}
	for _, l := range mergedUsr {
		a.link(l)
	}
	return a.done()
}

// debianAfter is unpacked after them. What a package has itself stays.
func debianAfter(tree *unpack.Tree, status []string) ([]byte, error) {
	var a added
	for _, f := range debianFiles {
		if !tree.Has(f.name) {
			a.file(f.name, f.text)
		}
	}
	for _, l := range debianLinks {
		to := path.Join(path.Dir(l.name), l.to)
		if !tree.Has(l.name) && (strings.HasPrefix(l.to, "/run") || tree.Has(to)) {
			a.link(l)
		}
	}
	for _, alt := range alternatives {
		for _, to := range alt.of {
			if tree.Has(alt.name) || !tree.Has(to[1:]) {
				continue
			}
			a.link(link{alt.name, to})
			break
		}
	}
	// dpkg-buildpackage, dpkg-query and their like ask what is installed.
	a.file("var/lib/dpkg/status", strings.Join(status, "\n"))
	return a.done()
}

// added is a tar of our own.
type added struct {
	buf bytes.Buffer
	w   *tar.Writer
	err error
}

func (a *added) put(h *tar.Header, text string) {
	if a.w == nil {
		a.w = tar.NewWriter(&a.buf)
	}
	if a.err == nil {
		a.err = a.w.WriteHeader(h)
	}
	if a.err == nil && text != "" {
		_, a.err = a.w.Write([]byte(text))
	}
}

func (a *added) folder(name string) {
	a.put(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o755}, "")
}

func (a *added) link(l link) {
	a.put(&tar.Header{Typeflag: tar.TypeSymlink, Name: l.name, Linkname: l.to, Mode: 0o777}, "")
}

func (a *added) file(name, text string) {
	a.put(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(text)), Mode: 0o644}, text)
}

func (a *added) done() ([]byte, error) {
	if a.err == nil && a.w != nil {
		a.err = a.w.Close()
	}
	return a.buf.Bytes(), a.err
}
