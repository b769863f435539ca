// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"archive/tar"
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

var noon = time.Date(2026, 11, 29, 12, 0, 0, 500, time.UTC)

func pack(t *testing.T, files ...File) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, "top-1", noon, files); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestWriteIsAFunctionOfItsContent(t *testing.T) {
	exe := Bytes("bin/1bit", bytes.Repeat([]byte("program "), 1<<16))
	exe.Exec = true
	license := Bytes("LICENSE", []byte("text"))
	a := pack(t, exe, license)
	if b := pack(t, license, exe); !bytes.Equal(a, b) {
		t.Error("the order in which files are given changes the bytes")
	}
	z, err := zstd.NewReader(bytes.NewReader(a))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var got []string
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, h.FileInfo().Mode().String()+" "+h.Name+" "+h.ModTime.UTC().Format(time.RFC3339))
		if h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.Gname != "" || len(h.PAXRecords) > 0 {
			t.Errorf("%s: owner or extended header: %+v", h.Name, h)
		}
	}
	want := []string{
		"drwxr-xr-x top-1/ 2026-11-29T12:00:00Z",
		"-rw-r--r-- top-1/LICENSE 2026-11-29T12:00:00Z",
		"drwxr-xr-x top-1/bin/ 2026-11-29T12:00:00Z",
		"-rwxr-xr-x top-1/bin/1bit 2026-11-29T12:00:00Z",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestWriteRefusesNamesThatLeaveOrRepeat(t *testing.T) {
	for _, name := range []string{"../x", "/x", "a/../x", "", ".", "a//b", "a/"} {
		if err := Write(io.Discard, "top", noon, []File{Bytes(name, nil)}); err == nil {
			t.Errorf("%q was taken", name)
		}
	}
	err := Write(io.Discard, "top", noon, []File{Bytes("a", nil), Bytes("a", nil)})
	if err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("twice the same name: %v", err)
	}
}

func TestWriteRefusesAFileThatChangedItsSize(t *testing.T) {
	for _, size := range []int64{2, 4} {
		f := Bytes("a", []byte("abc"))
		f.Size = size
		if err := Write(io.Discard, "top", noon, []File{f}); err == nil {
			t.Errorf("3 bytes announced as %d were taken", size)
		}
	}
}

func TestWriteLinks(t *testing.T) {
	packed := pack(t, Bytes("lib/a.so.1", []byte("elf")), File{Name: "lib/a.so", Link: "a.so.1", Size: 6})
	z, err := zstd.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var got []string
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, h.FileInfo().Mode().String()+" "+h.Name+" "+h.Linkname)
	}
	want := []string{"drwxr-xr-x top-1/ ", "drwxr-xr-x top-1/lib/ ", "Lrwxrwxrwx top-1/lib/a.so a.so.1", "-rw-r--r-- top-1/lib/a.so.1 "}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
