// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package elfcheck

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/parts"
)

// handmade is a shared library in the form of ELF for amd64: a string table, a
// dynamic section with the given entries, section names, and a text section.
func handmade(text string, dynamic map[uint64]string) []byte {
	const header, sectionSize = 64, 64
	le := binary.LittleEndian
	table := []byte{0}
	entries := []byte{}
	tags := make([]uint64, 0, len(dynamic))
	for tag := range dynamic {
		tags = append(tags, tag)
	}
	slices.Sort(tags)
	for _, tag := range tags {
		entries = le.AppendUint64(entries, tag)
		entries = le.AppendUint64(entries, uint64(len(table)))
		table = append(append(table, dynamic[tag]...), 0)
	}
	entries = append(entries, make([]byte, 16)...) // DT_NULL
	names := []byte("\x00.rodata\x00.dynstr\x00.dynamic\x00.shstrtab\x00")
	name := func(n string) uint32 { return uint32(bytes.Index(names, append([]byte(n), 0))) }

	var body, heads []byte
	section := func(n string, kind uint32, link uint32, entry uint64, data []byte) {
		heads = le.AppendUint32(heads, name(n))
		heads = le.AppendUint32(heads, kind)
		heads = append(heads, make([]byte, 16)...) // flags, address
		heads = le.AppendUint64(heads, uint64(header+len(body)))
		heads = le.AppendUint64(heads, uint64(len(data)))
		heads = le.AppendUint32(heads, link)
		heads = le.AppendUint32(heads, 0)
		heads = le.AppendUint64(heads, 1)
		heads = le.AppendUint64(heads, entry)
		body = append(body, data...)
	}
	heads = make([]byte, sectionSize)
	section(".rodata", 1, 0, 0, []byte(text))
	section(".dynstr", 3, 0, 0, table)
	section(".dynamic", 6, 2, 16, entries)
	section(".shstrtab", 3, 0, 0, names)

	b := []byte("\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 9))
	b = le.AppendUint16(b, 3)  // ET_DYN
	b = le.AppendUint16(b, 62) // EM_X86_64
	b = le.AppendUint32(b, 1)
	b = append(b, make([]byte, 16)...) // entry, program headers
	b = le.AppendUint64(b, uint64(header+len(body)))
	b = le.AppendUint32(b, 0)
	for _, v := range []uint16{header, 56, 0, sectionSize, 5, 4} {
		b = le.AppendUint16(b, v)
	}
	return append(append(b, body...), heads...)
}

const (
	tagRPath   = 15
	tagRunPath = 29
)

func TestFolder(t *testing.T) {
	for _, c := range []struct {
		name string
		data []byte
		want []string
	}{
		{"clean", handmade("hello\x00/usr/share/x", map[uint64]string{tagRunPath: "$ORIGIN:$ORIGIN/../lib:${ORIGIN}"}), nil},
		{"no search path", handmade("hello", nil), nil},
		{"rpath", handmade("", map[uint64]string{tagRPath: "$ORIGIN"}), []string{"f: RPATH: $ORIGIN"}},
		{"runpath", handmade("", map[uint64]string{tagRunPath: "$ORIGIN/lib:/opt/lib:relative::$ORIGINAL"}),
			[]string{"f: RUNPATH: ", "f: RUNPATH: $ORIGINAL", "f: RUNPATH: /opt/lib", "f: RUNPATH: relative"}},
		{"runpath in the build folder", handmade("", map[uint64]string{tagRunPath: "/build/out/lib"}),
			[]string{"f: RUNPATH: /build/out/lib", "f: build path in .dynstr: /build/out/lib"}},
		{"string", handmade("x\x00assert in /build/src/a.c:3\x00y", nil), []string{"f: build path in .rodata: assert in /build/src/a.c:3"}},
		{"end of a path", handmade("/build", nil), []string{"f: build path in .rodata: /build"}},
		{"another folder", handmade("/builder/x /build-2 /x/build/y /build.d", nil), nil},
		{"an address", handmade("https://example.org/build/x http://h:80/build {base}/build/x $(top)/build/x", nil), nil},
		{"a folder's own name", handmade("GET /job/src\x00/job/src/\x00/job/src/ x", nil), nil},
		{"in a folder", handmade("(/job/src/a.c)", nil), []string{"f: build path in .rodata: (/job/src/a.c)"}},
		{"behind the sections", append(handmade("", nil), "\x00/build/x\x00"...), []string{"f: build path: /build/x"}},
		{"no ELF", []byte("/build/x"), nil},
		{"empty", nil, nil},
		{"cut off", append([]byte("\x7fELF\x02\x01\x01"), "\x00/build/x"...), []string{"f: broken: EOF", "f: build path: /build/x"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "f"), c.data, 0o666); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("/build/nothing", filepath.Join(dir, "link")); err != nil {
				t.Fatal(err)
			}
			found, files, err := Folder(dir, []string{"/build", "/job/src/"})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range found {
				got = append(got, f.String())
			}
			if c.name == "cut off" && len(got) > 0 && strings.HasPrefix(got[0], "f: broken: ") {
				got[0] = c.want[0] // the reason is Go's
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if is := bytes.HasPrefix(c.data, []byte("\x7fELF")); (files == 1) != is {
				t.Errorf("%d ELF files", files)
			}
		})
	}
}

func TestForbiddenPathsAreChecked(t *testing.T) {
	for _, f := range []string{"", "build", "/", "//"} {
		if _, _, err := Folder(t.TempDir(), []string{f}); err == nil {
			t.Errorf("%q is taken", f)
		}
	}
}

// A path is found wherever it lies to the pieces in which a file is read.
func TestScanFindsAcrossPieces(t *testing.T) {
	for _, at := range []int{0, piece - 20, piece - 3, piece, piece + overlap/2 - 1, piece + overlap/2, piece + overlap - 3, piece + overlap, 2*piece + 5} {
		b := bytes.Repeat([]byte{0}, 3*piece)
		copy(b[at:], "/build/deep/file.c")
		got, err := scan(bytes.NewReader(b), []string{"/build"})
		if err != nil || len(got) != 1 || got[0] != "/build/deep/file.c" {
			t.Errorf("at %d: %q, %v", at, got, err)
		}
	}
}

func TestFilesOfGCC(t *testing.T) {
	gcc := parts.Need(t, "gcc").Path
	src, out := t.TempDir(), t.TempDir()
	source := filepath.Join(src, "a.c")
	if err := os.WriteFile(source, []byte("#include <assert.h>\nint main(int n, char **v) { assert(n < 100); return 0; }\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		args []string
		want []string // kinds, with sections
	}{
		{"mapped", []string{"-g", "-ffile-prefix-map=" + src + "=/src", "-Wl,-rpath,$ORIGIN/../lib", "-Wl,--enable-new-dtags"}, nil},
		{"assert", nil, []string{"build path .rodata"}},
		{"debug", []string{"-g", "-gz=none", "-DNDEBUG"}, []string{"build path .debug_line_str"}},
		{"compressed debug", []string{"-g", "-gz=zlib", "-DNDEBUG"}, []string{"build path .debug_line_str"}},
		{"runpath", []string{"-DNDEBUG", "-Wl,-rpath," + src, "-Wl,--enable-new-dtags"}, []string{"RUNPATH ", "build path .dynstr"}},
		{"rpath", []string{"-DNDEBUG", "-Wl,-rpath,$ORIGIN", "-Wl,--disable-new-dtags"}, []string{"RPATH "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.Command(gcc, append(c.args, "-o", filepath.Join(out, "f"), source)...)
			cmd.Dir = "/"
			if msg, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, msg)
			}
			found, files, err := Folder(out, []string{src})
			if err != nil || files != 1 {
				t.Fatal(files, err)
			}
			var got []string
			for _, f := range found {
				got = append(got, fmt.Sprintf("%s %s", f.Kind, f.Section))
			}
			for _, w := range c.want {
				if !slices.Contains(got, w) {
					t.Errorf("no %q in %q", w, found)
				}
			}
			if len(c.want) == 0 && len(found) > 0 {
				t.Errorf("found %q", found)
			}
		})
	}
}
