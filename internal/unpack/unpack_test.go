// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package unpack

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

var then = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func reg(name, body string) *tar.Header {
	return &tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(body)), Uname: body}
}
func kind(flag byte, name, target string) *tar.Header {
	return &tar.Header{Name: name, Typeflag: flag, Linkname: target, Mode: 0o755}
}
func link(name, target string) *tar.Header { return kind(tar.TypeSymlink, name, target) }
func hard(name, target string) *tar.Header { return kind(tar.TypeLink, name, target) }
func folder(name string) *tar.Header       { return kind(tar.TypeDir, name, "") }

// pack writes headers as a tar; the content of a file is its Uname.
func pack(t testing.TB, hs ...*tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range hs {
		c := *h
		c.Uname = ""
		if c.Typeflag != tar.TypeXGlobalHeader {
			c.ModTime = then
		}
		if err := w.WriteHeader(&c); err != nil {
			t.Fatalf("%s: %v", h.Name, err)
		}
		if h.Typeflag == tar.TypeReg {
			io.WriteString(w, h.Uname)
		}
	}
	w.Close()
	return b.Bytes()
}

// list shows a folder: names, modes, link targets, contents.
func list(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			t.Fatal(err)
		}
		rel, _ := filepath.Rel(dir, p)
		info, _ := d.Info()
		switch {
		case rel == ".":
		case d.IsDir():
			fmt.Fprintf(&b, "%s/ %o\n", rel, info.Mode().Perm())
		case d.Type() == fs.ModeSymlink:
			to, _ := os.Readlink(p)
			fmt.Fprintf(&b, "%s -> %s\n", rel, to)
		default:
			data, _ := os.ReadFile(p)
			fmt.Fprintf(&b, "%s %o %.20s\n", rel, info.Mode().Perm(), data)
		}
		return nil
	})
	return b.String()
}

// empty fails when anything but a refusal is left in the parent of a target.
func empty(t testing.TB, dir string) {
	t.Helper()
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestHostileTars(t *testing.T) {
	setuid := reg("su", "x")
	setuid.Mode = 0o4755
	deep := strings.Repeat("d/", 70) + "f"
	for _, c := range []struct {
		name string
		hs   []*tar.Header
		opts []Option
		rule string
	}{
		{"dot dot", []*tar.Header{reg("a/../../b", "x")}, nil, `".." in its name`},
		{"dot dot inside", []*tar.Header{reg("a/../b", "x")}, nil, `".." in its name`},
		{"absolute", []*tar.Header{reg("/etc/x", "x")}, nil, "absolute"},
		{"link out", []*tar.Header{link("l", "../x")}, nil, "leaves the folder"},
		{"link absolute", []*tar.Header{link("l", "/etc")}, nil, "leaves the folder"},
		{"link out from below", []*tar.Header{link("a/l", "../../x")}, nil, "leaves the folder"},
		{"links that leave together", []*tar.Header{folder("a/b/c"), link("a/b/c/s", "../../.."), link("l", "a/b/c/s/../../x")}, nil, "by way of others"},
		{"link to itself", []*tar.Header{link("l", "l")}, nil, "circles"},
		{"through a link", []*tar.Header{folder("d"), link("l", "d"), reg("l/f", "x")}, nil, "passes through a link"},
		{"file over a link", []*tar.Header{link("l", "d"), reg("l", "x")}, nil, "there already"},
		{"folder over a link", []*tar.Header{folder("d"), link("l", "d"), folder("l")}, nil, "there already"},
		{"below a file", []*tar.Header{reg("f", "x"), reg("f/g", "x")}, nil, "no folder"},
		{"hard link out", []*tar.Header{hard("h", "../x")}, nil, "no file of this archive"},
		{"hard link to what is outside", []*tar.Header{hard("h", "etc/passwd")}, nil, "no file of this archive"},
		{"hard link to a link", []*tar.Header{link("l", "f"), hard("h", "l")}, nil, "no file of this archive"},
		{"hard link to itself", []*tar.Header{reg("f", "x"), hard("f", "f")}, []Option{Replace()}, "itself"},
		{"device", []*tar.Header{kind(tar.TypeChar, "c", "")}, nil, "device"},
		{"block device", []*tar.Header{kind(tar.TypeBlock, "c", "")}, nil, "device"},
		{"fifo", []*tar.Header{kind(tar.TypeFifo, "p", "")}, nil, "fifo"},
		{"setuid", []*tar.Header{setuid}, nil, "setuid"},
		{"newline", []*tar.Header{reg("a\nb", "x")}, nil, "control character"},
		{"escape", []*tar.Header{reg("a\x1b[2Jb", "x")}, nil, "control character"},
		{"no UTF-8", []*tar.Header{reg("a\xff", "x")}, nil, "UTF-8"},
		{"git", []*tar.Header{reg("a/.git/config", "x")}, nil, ".git"},
		{"git in capitals", []*tar.Header{reg(".GIT/config", "x")}, nil, ".git"},
		{"git with a dot", []*tar.Header{reg(".git. ./config", "x")}, nil, ".git"},
		{"git short", []*tar.Header{reg("GIT~1/config", "x")}, nil, ".git"},
		{"git stream", []*tar.Header{reg(".git::$INDEX_ALLOCATION/x", "x")}, nil, ".git"},
		{"git for HFS", []*tar.Header{reg(".g\u200cit/config", "x")}, nil, ".git"},
		{"twice", []*tar.Header{reg("f", "x"), reg("./f", "y")}, nil, "there already"},
		{"twins on a case-folding target", []*tar.Header{reg("f", "x"), reg("F", "y")}, []Option{FoldCase()}, "upper and lower case"},
		{"folder twins", []*tar.Header{reg("d/f", "x"), reg("D/g", "y")}, []Option{FoldCase()}, "upper and lower case"},
		{"windows", []*tar.Header{reg(`a\..\b`, "x")}, []Option{WindowsNames()}, "Windows"},
		{"windows device", []*tar.Header{reg("NUL.txt", "x")}, []Option{WindowsNames()}, "Windows"},
		{"deep", []*tar.Header{reg(deep, "x")}, nil, "deep"},
		{"long name", []*tar.Header{reg(strings.Repeat("x", 300), "x")}, nil, "255"},
		{"long path", []*tar.Header{reg("abcdef", "x")}, []Option{MaxPath(5)}, "more than 5 bytes"},
		{"many", []*tar.Header{reg("a", ""), reg("b", ""), reg("c", "")}, []Option{MaxEntries(2)}, "entries"},
		{"many implied", []*tar.Header{reg("a/b/c/d/e", "")}, []Option{MaxEntries(3)}, "entries"},
		{"large", []*tar.Header{reg("a", "0123456789")}, []Option{MaxBytes(9)}, "bytes"},
		{"large together", []*tar.Header{reg("a", strings.Repeat("x", 3000)), reg("b", strings.Repeat("x", 3000))}, []Option{MaxBytes(4096)}, "bytes"},
		{"above the strip", []*tar.Header{reg("f", "x")}, []Option{Strip(1)}, "stripped"},
		{"outside the prefix", []*tar.Header{reg("f", "x")}, []Option{StripPrefix("p/")}, "prefix"},
		{"the folder itself", []*tar.Header{link(".", "x")}, nil, "itself"},
		{"links in circles", []*tar.Header{link("a", "b"), link("b", "a"), reg("a/f", "x")}, []Option{RootFS()}, "circles"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			err := Tar(t.Context(), bytes.NewReader(pack(t, c.hs...)), filepath.Join(dir, "out"), c.opts...)
			var r *Refused
			if !errors.As(err, &r) || !strings.Contains(err.Error(), c.rule) {
				t.Errorf("error %v, want one with %q", err, c.rule)
			}
			if err != nil && (strings.ContainsAny(err.Error(), "\n\x1b") || strings.Contains(err.Error(), "\xff")) {
				t.Errorf("the error is not inert: %q", err)
			}
			empty(t, dir)
		})
	}
}

func TestATarAsItIs(t *testing.T) {
	exe, setuid, ro := reg("top/bin/run", "run"), reg("top/su", "s"), folder("top/ro")
	exe.Mode, setuid.Mode, ro.Mode = 0o700, 0o4711, 0o555
	hs := []*tar.Header{
		{Typeflag: tar.TypeXGlobalHeader, PAXRecords: map[string]string{"comment": "c"}},
		folder("top/"), exe, reg("top/a.txt", "a"), reg("top/A.txt", "A"), link("top/l", "bin/../a.txt"),
		link("top/gone", "not/there"), hard("top/h", "top/a.txt"), ro, reg("top/ro/f", "f"), setuid, reg("top/.gitignore", "i"), reg(`top/a\x2db`, "b"),
	}
	data := pack(t, hs...)
	for _, c := range []struct {
		name string
		opts []Option
		want string
	}{
		{"normal", []Option{Strip(1), SetidBits(ClearSetid)}, ".gitignore 644 i\nA.txt 644 A\na.txt 644 a\na\\x2db 644 b\nbin/ 755\nbin/run 755 run\ngone -> not/there\nh 644 a\nl -> bin/../a.txt\nro/ 755\nro/f 644 f\nsu 755 s\n"},
		{"modes kept", []Option{Strip(1), SetidBits(KeepSetid), KeepModes()}, ".gitignore 644 i\nA.txt 644 A\na.txt 644 a\na\\x2db 644 b\nbin/ 755\nbin/run 700 run\ngone -> not/there\nh 644 a\nl -> bin/../a.txt\nro/ 555\nro/f 644 f\nsu 711 s\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "out")
			tree, err := Begin(dir, append(c.opts, ModTime(then.Add(time.Hour)))...)
			if err != nil {
				t.Fatal(err)
			}
			defer tree.Discard()
			if err := tree.Tar(t.Context(), bytes.NewReader(data)); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(dir); err == nil {
				t.Error("the target is there before Commit")
			}
			if err := tree.Commit(); err != nil {
				t.Fatal(err)
			}
			if got := list(t, dir); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			filepath.WalkDir(dir, func(p string, d fs.DirEntry, _ error) error {
				if info, _ := d.Info(); !info.ModTime().Equal(then.Add(time.Hour)) {
					t.Errorf("%s has the time %v", p, info.ModTime())
				}
				return nil
			})
			info, _ := os.Stat(filepath.Join(dir, "su"))
			if got := info.Mode()&fs.ModeSetuid != 0; got != (c.name == "modes kept") {
				t.Errorf("setuid %v", got)
			}
			if tw := tree.Twins(); len(tw) != 1 || tw[0] != (Twin{"a.txt", "A.txt"}) {
				t.Errorf("twins %v", tw)
			}
			os.Chmod(filepath.Join(dir, "ro"), 0o755) // for a plain user's clean-up
		})
	}
}

// compressions holds ways to compress.
func compressions(t testing.TB, data []byte) map[string][]byte {
	out := map[string][]byte{"plain": data}
	for name, f := range map[string]func(io.Writer) (io.WriteCloser, error){
		"gzip": func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
		"zstd": func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) },
		"xz":   func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) },
	} {
		var b bytes.Buffer
		w, err := f(&b)
		if err != nil {
			t.Fatal(err)
		}
		w.Write(data)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		out[name] = b.Bytes()
	}
	return out
}

// bzipped is a tar with the one file "f" that holds "x\n"; Go has no packer.
const bzipped = "QlpoOTFBWSZTWbDWiKgAAG3bgMmQQAB3AAAA4QAeQAgIIABURqNAAaDQJIpoYj1GI0fWmOhBvIEI5a8TI4psgQwZcjQTsIs4LJolWmTx2XFVfRABF8XckU4UJCw1oioA"

func TestBzip2(t *testing.T) {
	data, err := base64.StdEncoding.DecodeString(bzipped)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	if err := Tar(t.Context(), bytes.NewReader(data), out); err != nil {
		t.Fatal(err)
	}
	if got := list(t, out); got != "f 644 x\n\n" {
		t.Errorf("got %q", got)
	}
}

func TestCompressionsTruncationAndBombs(t *testing.T) {
	noise := make([]byte, 50_000)
	for i, x := 0, uint32(1); i < len(noise); i++ {
		x = x*1664525 + 1013904223
		noise[i] = byte(x >> 24)
	}
	good := compressions(t, pack(t, reg("d/f", string(noise))))
	bomb := compressions(t, pack(t, reg("f", strings.Repeat("\x00", 4<<20))))
	for name, data := range good {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			out := filepath.Join(dir, "out")
			var broken *Broken
			for _, n := range []int{len(data) / 2, 700} {
				if err := Tar(t.Context(), bytes.NewReader(data[:n]), out); !errors.As(err, &broken) {
					t.Errorf("cut to %d: %v", n, err)
				}
			}
			if name == "gzip" || name == "xz" {
				bad := bytes.Clone(data)
				bad[len(bad)-6] ^= 1
				if err := Tar(t.Context(), bytes.NewReader(bad), out); !errors.As(err, &broken) {
					t.Errorf("wrong checksum: %v", err)
				}
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := Tar(ctx, bytes.NewReader(data), out); !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled: %v", err)
			}
			empty(t, dir)
			if err := Tar(t.Context(), bytes.NewReader(data), out); err != nil {
				t.Fatal(err)
			}
			if got, _ := os.ReadFile(filepath.Join(out, "d/f")); !bytes.Equal(got, noise) {
				t.Error("another content")
			}
			var r *Refused
			if err := Tar(t.Context(), bytes.NewReader(data), out); err == nil {
				t.Error("a full folder was taken")
			}
			if name != "plain" {
				err := Tar(t.Context(), bytes.NewReader(bomb[name]), out+"2", MaxRatio(50, 1<<20))
				if !errors.As(err, &r) || !strings.Contains(err.Error(), "times its size") {
					t.Errorf("bomb: %v", err)
				}
			}
		})
	}
	head := bytes.Clone(good["xz"][:64])
	head[16] = 0x28 // a dictionary of 4 GiB
	if i := bytes.IndexByte(head[12:20], 0x21); i < 0 {
		t.Fatal("no LZMA2 filter in the header")
	} else {
		head[12+i+2] = 40
	}
	if got := dictionary(head); got <= maxWindow {
		t.Errorf("dictionary %d", got)
	}
}

// A GNU sparse file says in a few bytes that it is 8 GiB of nothing.
func TestSparseBomb(t *testing.T) {
	b := make([]byte, 512)
	copy(b, "sparse")
	copy(b[100:], "0000644\x00")
	copy(b[108:], "0000000\x00")
	copy(b[116:], "0000000\x00")
	copy(b[124:], "00000000000\x00")
	copy(b[136:], "00000000000\x00")
	b[156] = 'S'
	copy(b[257:], "ustar  \x00")
	copy(b[386:], "00000000000\x0000000000000\x00")
	copy(b[483:], "77777777777\x00")
	copy(b[148:], "        ")
	sum := 0
	for _, c := range b {
		sum += int(c)
	}
	copy(b[148:], fmt.Sprintf("%06o\x00 ", sum))
	dir := t.TempDir()
	err := Tar(t.Context(), bytes.NewReader(append(b, make([]byte, 1024)...)), filepath.Join(dir, "out"))
	var r *Refused
	if !errors.As(err, &r) || !strings.Contains(err.Error(), "sparse") {
		t.Errorf("error %v", err)
	}
	empty(t, dir)
}

func packZip(t testing.TB, files map[string]string, change func(*zip.FileHeader)) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, body := range files {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: then}
		if change != nil {
			change(h)
		}
		f, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(f, body)
	}
	w.Close()
	return b.Bytes()
}

func TestZips(t *testing.T) {
	mode := func(m fs.FileMode) func(*zip.FileHeader) { return func(h *zip.FileHeader) { h.SetMode(m) } }
	for _, c := range []struct {
		name   string
		files  map[string]string
		change func(*zip.FileHeader)
		opts   []Option
		rule   string
	}{
		{"dot dot", map[string]string{"../a": "x"}, nil, nil, `".."`},
		{"absolute", map[string]string{"/a": "x"}, nil, nil, "absolute"},
		{"backslash", map[string]string{`..\a`: "x"}, nil, nil, "backslash"},
		{"link out", map[string]string{"l": "../x"}, mode(fs.ModeSymlink | 0o777), nil, "leaves the folder"},
		{"setuid", map[string]string{"s": "x"}, mode(fs.ModeSetuid | 0o755), nil, "setuid"},
		{"device", map[string]string{"d": ""}, mode(fs.ModeDevice | 0o644), nil, "device"},
		{"bomb", map[string]string{"b": strings.Repeat("\x00", 4<<20)}, nil, []Option{MaxRatio(50, 1<<20)}, "times its size"},
		{"bomb of many", map[string]string{"a": strings.Repeat("\x00", 1<<20), "b": strings.Repeat("\x00", 1<<20)}, nil, []Option{MaxRatio(50, 1<<20)}, "times its size"},
		{"large", map[string]string{"b": "0123456789"}, nil, []Option{MaxBytes(9)}, "bytes"},
		{"many", map[string]string{"a": "", "b": ""}, nil, []Option{MaxEntries(1)}, "entries"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			data := packZip(t, c.files, c.change)
			err := Zip(t.Context(), bytes.NewReader(data), int64(len(data)), filepath.Join(dir, "out"), c.opts...)
			var r *Refused
			if !errors.As(err, &r) || !strings.Contains(err.Error(), c.rule) {
				t.Errorf("error %v, want one with %q", err, c.rule)
			}
			empty(t, dir)
		})
	}
}

func TestADamagedZip(t *testing.T) {
	data := packZip(t, map[string]string{"a": strings.Repeat("some text ", 100)}, nil)
	bad := bytes.Clone(data)
	bad[40] ^= 0xff
	dir := t.TempDir()
	for name, d := range map[string][]byte{"cut": data[:len(data)-10], "changed": bad, "nothing": nil} {
		var broken *Broken
		if err := Zip(t.Context(), bytes.NewReader(d), int64(len(d)), filepath.Join(dir, "out")); !errors.As(err, &broken) {
			t.Errorf("%s: %v", name, err)
		}
	}
	empty(t, dir)
}

func TestModuleZipOfAToolchain(t *testing.T) {
	prefix := "golang.org/toolchain@v0.0.1-go1.27.4.linux-amd64/"
	data := packZip(t, map[string]string{prefix + "bin/go": "go", prefix + "pkg/tool/linux_amd64/link": "link",
		prefix + "lib/wasm/go_js_wasm_exec": "exec", prefix + "src/fmt/print.go": "package fmt"}, nil)
	out := filepath.Join(t.TempDir(), "go")
	if err := ModuleZip(t.Context(), bytes.NewReader(data), int64(len(data)), out, prefix, ExecBits(GoToolchain), ModTime(then)); err != nil {
		t.Fatal(err)
	}
	want := "bin/ 755\nbin/go 755 go\nlib/ 755\nlib/wasm/ 755\nlib/wasm/go_js_wasm_exec 755 exec\npkg/ 755\npkg/tool/ 755\npkg/tool/linux_amd64/ 755\npkg/tool/linux_amd64/link 755 link\nsrc/ 755\nsrc/fmt/ 755\nsrc/fmt/print.go 644 package fmt\n"
	if got := list(t, out); got != want {
		t.Errorf("got\n%s", got)
	}
}

func ar(members ...string) []byte {
	var b bytes.Buffer
	b.WriteString("!<arch>\n")
	for i := 0; i < len(members); i += 2 {
		fmt.Fprintf(&b, "%-16s%-12d%-6d%-6d%-8s%-10d`\n%s", members[i], 0, 0, 0, "100644", len(members[i+1]), members[i+1])
		if len(members[i+1])%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}

// Packages over each other as a root file system: links of the first carry
// files of the second, absolute targets count from the new root.
func TestDebsMakeARoot(t *testing.T) {
	base := pack(t, folder("./"), folder("./usr/lib"), link("./lib", "usr/lib"), link("./bin", "/usr/bin"), link("./etc/mtab", "/proc/mounts"), reg("./usr/bin/a", "old"))
	more := compressions(t, pack(t, folder("./"), folder("./lib/"), reg("./lib/x.so", "so"), reg("./bin/tool", "t"), reg("./usr/bin/a", "new"), hard("./bin/b", "./bin/tool")))
	for name, data := range more {
		out := filepath.Join(t.TempDir(), "root")
		tree, err := Begin(out, RootFS(), Replace(), KeepModes(), SetidBits(ClearSetid))
		if err != nil {
			t.Fatal(err)
		}
		defer tree.Discard()
		for _, d := range [][]byte{
			ar("debian-binary", "2.0\n", "control.tar", "odd", "data.tar", string(base)),
			ar("debian-binary", "2.0\n", "control.tar", "even", "data.tar.x/", string(data)),
		} {
			if err := tree.Deb(t.Context(), bytes.NewReader(d)); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if err := tree.Commit(); err != nil {
			t.Fatal(err)
		}
		want := "bin -> /usr/bin\netc/ 755\netc/mtab -> /proc/mounts\nlib -> usr/lib\nusr/ 755\nusr/bin/ 755\nusr/bin/a 644 new\nusr/bin/b 644 t\nusr/bin/tool 644 t\nusr/lib/ 755\nusr/lib/x.so 644 so\n"
		if got := list(t, out); got != want {
			t.Errorf("%s: got\n%s", name, got)
		}
	}
}

func TestBrokenDebs(t *testing.T) {
	good := ar("debian-binary", "2.0\n", "data.tar", string(pack(t, reg("f", "x"))))
	dir := t.TempDir()
	for name, d := range map[string][]byte{
		"empty": nil, "no ar": []byte("hello, world"), "no data": ar("debian-binary", "2.0\n"), "another format": ar("debian-binary", "3.0\n", "data.tar", ""),
		"no version": ar("data.tar", ""), "cut": good[:300], "size lies": bytes.Replace(good, []byte("4         `"), []byte("-4        `"), 1),
	} {
		var broken *Broken
		if err := Deb(t.Context(), bytes.NewReader(d), filepath.Join(dir, "out")); !errors.As(err, &broken) {
			t.Errorf("%s: %v", name, err)
		}
	}
	empty(t, dir)
}

func TestOptionsAreChecked(t *testing.T) {
	for name, o := range map[string]Option{"bytes": MaxBytes(0), "entries": MaxEntries(-1), "path": MaxPath(0), "depth": MaxDepth(0),
		"ratio": MaxRatio(0, 0), "strip": Strip(-1), "prefix": StripPrefix("a"), "time": ModTime(time.Time{}), "exec": ExecBits(nil), "setid": SetidBits(9)} {
		if _, err := Begin(filepath.Join(t.TempDir(), "x"), o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// inside holds for whatever came out of a fuzzed archive: only files, folders
// and links, and nothing beside the target.
func inside(t *testing.T, dir string, err error) {
	entries, _ := os.ReadDir(dir)
	if err != nil && len(entries) != 0 || err == nil && (len(entries) != 1 || entries[0].Name() != "out") {
		t.Fatalf("error %v, and there is %v", err, entries)
	}
	root, rerr := os.OpenRoot(dir)
	if rerr != nil {
		t.Fatal(rerr)
	}
	defer root.Close()
	filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			t.Fatal(err)
		}
		info, _ := d.Info()
		if m := info.Mode(); m&(fs.ModeSetuid|fs.ModeSetgid|fs.ModeDevice|fs.ModeNamedPipe|fs.ModeSocket) != 0 {
			t.Fatalf("%q has the mode %v", p, m)
		}
		if d.Type() == fs.ModeSymlink {
			if to, err := filepath.EvalSymlinks(p); err == nil && !strings.HasPrefix(to, filepath.Join(dir, "out")) {
				t.Fatalf("%q leads to %q", p, to)
			}
		}
		return nil
	})
}

func FuzzTar(f *testing.F) {
	f.Add(pack(f, folder("a"), reg("a/b", "x"), link("l", "a/b"), hard("h", "a/b")))
	for _, d := range compressions(f, pack(f, link("a", "../x"), reg("a/b", "x"))) {
		f.Add(d)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		inside(t, dir, Tar(t.Context(), bytes.NewReader(data), filepath.Join(dir, "out"), MaxBytes(1<<20), MaxEntries(100)))
	})
}

func FuzzZip(f *testing.F) {
	f.Add(packZip(f, map[string]string{"a/b": "x", "c": "y"}, nil))
	f.Add(packZip(f, map[string]string{"l": "../x"}, func(h *zip.FileHeader) { h.SetMode(fs.ModeSymlink | 0o777) }))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		inside(t, dir, Zip(t.Context(), bytes.NewReader(data), int64(len(data)), filepath.Join(dir, "out"), MaxBytes(1<<20), MaxEntries(100)))
	})
}

func FuzzDeb(f *testing.F) {
	f.Add(ar("debian-binary", "2.0\n", "control.tar", "odd", "data.tar", string(pack(f, folder("./"), reg("./a", "x")))))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		inside(t, dir, Deb(t.Context(), bytes.NewReader(data), filepath.Join(dir, "out"), MaxBytes(1<<20), MaxEntries(100)))
	})
}

func FuzzLayer(f *testing.F) {
	below := pack(f, folder("a"), reg("a/b", "x"), link("l", "a"), reg("c", "x"))
	f.Add(pack(f, reg("a/.wh.b", ""), reg("l/d", "y"), hard("h", "c"), folder("c")))
	f.Add(pack(f, reg("a/.wh..wh..opq", ""), reg("l/.wh.b", ""), link("c", "/etc"), reg("../.wh.x", "")))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		tree, err := Begin(filepath.Join(dir, "out"), RootFS(), Replace(), SetidBits(ClearSetid), MaxBytes(1<<20), MaxEntries(100))
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range [][]byte{below, data} {
			if err = tree.Layer(t.Context(), func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(l)), nil }); err != nil {
				break
			}
		}
		if err != nil {
			tree.Discard()
			empty(t, dir)
			return
		}
		// What the tree believes to be there is there, and nothing else.
		count := 0
		filepath.WalkDir(tree.temp, func(p string, d fs.DirEntry, err error) error {
			rel, _ := filepath.Rel(tree.temp, p)
			if err != nil || !tree.Has(filepath.ToSlash(rel)) {
				t.Errorf("%q is not in the tree: %v", rel, err)
			}
			count++
			return nil
		})
		if count != len(tree.entries) {
			t.Errorf("%d are there, the tree has %d", count, len(tree.entries))
		}
		if err := tree.Commit(); err != nil {
			t.Fatal(err)
		}
	})
}
