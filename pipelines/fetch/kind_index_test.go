// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"fmt"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

const dl = "dl.example"

func indexPin(t pins.Track) *pins.Pin {
	t.Kind = pins.Index
	return &pins.Pin{Name: "index", Track: t}
}

// Each format as its site writes it, cut to what is read.
func TestIndexFormats(t *testing.T) {
	semver := []pins.Scheme{{Pattern: "{semver}"}}
	page := `<!DOCTYPE html><html><body>
<a href="../../f/rocm-7.1.0-py3-linux_x86_64.whl#sha256=%s" data-requires-python="&gt;=3">rocm</a>
<a href="../../f/rocm-7.9.0-py3-linux_x86_64.whl#sha256=%[1]s" data-yanked="broken">rocm</a>
<a data-x=1 href='../../f/rocm-7.0.0-py3-linux_x86_64.whl'>rocm</a>
<a href="../../f/rocm-7.1.0-py3-win_amd64.whl">rocm</a></body></html>`
	s3 := func(more string, keys ...string) string {
		out := `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name>` + more
		for _, k := range keys {
			out += "<Contents><Key>" + k + "</Key><Size>4</Size></Contents>"
		}
		return out + "</ListBucketResult>"
	}
	tests := []struct {
		name    string
		track   pins.Track
		pages   map[string]string
		files   map[string]string
		version string
		want    string // name platform of each
	}{
		{"json by platform", pins.Track{
			URL: "https://dl.example/index.json", Format: pins.FormatJSON, Select: "{version}", Platforms: []string{"x86_64-linux"}, Schemes: semver, Ignore: []string{"master"},
		}, map[string]string{"/index.json": `{"master":{"version":"0.16.0-dev"},"0.9.1":{"x86_64-linux":{"tarball":"https://dl.example/old.tar.xz","shasum":"` + sha("zig!") + `","size":"4"}},
			"0.15.2":{"date":"2025-10-11","x86_64-linux":{"tarball":"https://dl.example/zig-x86_64-linux-0.15.2.tar.xz","shasum":"` + sha("zig!") + `","size":"4"},"aarch64-linux":{"tarball":"https://dl.example/b","shasum":"` + sha("b") + `","size":"1"}}}`},
			map[string]string{"/zig-x86_64-linux-0.15.2.tar.xz": "zig!"}, "0.15.2", "zig-x86_64-linux-0.15.2.tar.xz x86_64-linux"},
		{"json by release", pins.Track{
			URL: "https://dl.example/simple/json", Format: pins.FormatJSON, Select: "releases.{version}", Platforms: []string{"manylinux"}, Schemes: semver,
		}, map[string]string{"/simple/json": `{"releases":{"1.0.0":[{"filename":"a-1.0.0-manylinux.whl","url":"https://dl.example/w/a-1.0.0-manylinux.whl","digests":{"sha256":"` + sha("whl") + `"},"size":3},{"filename":"a-1.0.0-win.whl","url":"https://dl.example/w/x","size":3}]}}`},
			map[string]string{"/w/a-1.0.0-manylinux.whl": "whl"}, "1.0.0", "a-1.0.0-manylinux.whl manylinux"},
		{"pep503", pins.Track{
			URL: "https://dl.example/simple/rocm/", Format: pins.FormatPEP503, Select: "rocm-{version}-*.whl", Platforms: []string{"linux_x86_64"}, Schemes: semver,
		}, map[string]string{"/simple/rocm/": fmt.Sprintf(page, sha("wheel"))},
			map[string]string{"/f/rocm-7.1.0-py3-linux_x86_64.whl": "wheel"}, "7.1.0", "rocm-7.1.0-py3-linux_x86_64.whl linux_x86_64"},
		{"s3 in pages", pins.Track{
			URL: "https://dl.example/bucket?prefix=n%2F", Format: pins.FormatS3, Select: "n/therock-linux-{version}.tar.gz", Schemes: semver,
		}, map[string]string{
			"/bucket?list-type=2&prefix=n%2F":                          s3("<IsTruncated>true</IsTruncated><NextContinuationToken>t+1</NextContinuationToken>", "n/", "n/therock-linux-7.9.0.tar.gz"),
			"/bucket?continuation-token=t%2B1&list-type=2&prefix=n%2F": s3("<IsTruncated>false</IsTruncated>", "n/therock-linux-7.10.0.tar.gz", "n/therock-windows-8.0.0.tar.gz"),
		}, map[string]string{"/bucket/n/therock-linux-7.10.0.tar.gz": "rock"}, "7.10.0", "therock-linux-7.10.0.tar.gz "},
		{"one rolling name", pins.Track{
			URL: "https://dl.example/latest.json", Format: pins.FormatJSON, Select: "linux", MutableName: true,
		}, map[string]string{"/latest.json": `{"linux":{"url":"https://dl.example/latest.tgz"}}`},
			map[string]string{"/latest.tgz": "roll"}, "", "latest.tgz "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t)
			e := newKinds(t, s, dl)
			for path, body := range tt.pages {
				s.put("/"+dl+path, body)
			}
			for path, body := range tt.files {
				s.put("/"+dl+path, body)
			}
			p := indexPin(tt.track)
			locked(t, e, p)
			var got []string
			for _, f := range p.Lock.Files {
				got = append(got, f.Name+" "+f.Platform)
			}
			if p.Lock.Version != tt.version || strings.Join(got, ", ") != tt.want {
				t.Errorf("version %q, files %q", p.Lock.Version, got)
			}
			before := p.Lock
			if l, err := update(t, e, p); err != nil || !sameFiles(l.Files, before.Files) {
				t.Errorf("the second time: %+v, %v", l, err)
			}
		})
	}
}

// A field's files, as Rust's channel manifests list them.
func TestFieldFiles(t *testing.T) {
	s := newSite(t)
	e := newKinds(t, s, dl)
	var text strings.Builder
	text.WriteString("manifest-version = \"2\"\ndate = \"2026-10-01\"\n")
	for _, name := range []string{"rustc", "cargo", "rust-std"} {
		for _, target := range []string{"x86_64-unknown-linux-gnu", "aarch64-apple-darwin"} {
			file := name + "-1.98.1-" + target + ".tar"
			fmt.Fprintf(&text, "[pkg.%s.target.%s]\navailable = true\nurl = \"https://dl.example/%s.gz\"\nhash = %q\nxz_url = \"https://dl.example/%s.xz\"\nxz_hash = %q\n", name, target, file, sha("gz"), file, sha(file))
			s.put("/"+dl+"/"+file+".xz", file)
		}
	}
	s.put("/"+dl+"/channel-rust-1.98.1.toml", text.String())
	p := &pins.Pin{Name: "rust", Track: pins.Track{Kind: pins.Field, Files: &pins.FileIndex{
		URL: "https://dl.example/channel-rust-{version}.toml", Format: pins.FormatTOML,
		Select: "pkg.{rustc,cargo,rust-std}.target.x86_64-unknown-linux-gnu", Platforms: []string{"x86_64-unknown-linux-gnu"},
	}}}
	l, err := fieldKind{}.lock(t.Context(), e, p, &Candidate{Version: "1.98.1"})
	if err != nil {
		t.Fatal(err)
	}
	p.Lock = l
	if len(l.Files) != 3 || l.Files[0].Name != "cargo-1.98.1-x86_64-unknown-linux-gnu.tar.xz" || p.State() != pins.Verified {
		t.Errorf("%+v", l.Files)
	}
	if n := fetchedOffline(t, e, p); n != 3 {
		t.Errorf("%d entries", n)
	}
	_, err = fieldKind{}.lock(t.Context(), e, p, &Candidate{Version: "../../1.98.2"})
	wantError(t, err, verdict.Fail, "404")
}

func TestIndexBadAnswers(t *testing.T) {
	one := func(entry string) string { return `{"1.0.0":{"linux":` + entry + `}}` }
	good := `{"url":"https://dl.example/f","sha256":"` + sha("file") + `","size":4}`
	tests := []struct {
		name, index, file string
		want              verdict.Verdict
		words             []string
	}{
		{"not JSON", "oops", "", verdict.Fail, []string{"no JSON"}},
		{"web page", "<html>sign in", "", verdict.Fail, []string{"web page"}},
		{"no version", `{}`, "", verdict.Fail, []string{"has no"}},
		{"no platform", `{"1.0.0":{"mac":` + good + `}}`, "", verdict.Fail, []string{"no file that select and platforms leave"}},
		{"plain address", one(`{"url":"http://dl.example/f"}`), "", verdict.Fail, []string{"no https address"}},
		{"password in it", one(`{"url":"https://u:p@dl.example/f"}`), "", verdict.Fail, []string{"no https address"}},
		{"short sum", one(`{"url":"https://dl.example/f","sha256":"abc"}`), "", verdict.Fail, []string{"no sha256"}},
		{"other content", one(good), "evil", verdict.Fail, []string{sha("evil"), sha("file")}},
		{"short file", one(good), "fil", verdict.Fail, []string{"3 bytes"}},
		{"file gone", one(good), "", verdict.Fail, []string{"404"}},
		{"name with a path", one(`{"url":"https://dl.example/f","filename":"../f"}`), "", verdict.Fail, []string{"with the name"}},
		{"new scheme", `{"v2":{"linux":` + good + `},"1.0.0":{"linux":` + good + `}}`, "file", verdict.Held, []string{"v2"}},
		{"LFS pointer", one(good), "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 4\n", verdict.Fail, []string{"LFS pointer"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t)
			e := newKinds(t, s, dl)
			s.put("/"+dl+"/i", tt.index)
			if tt.file != "" {
				s.put("/"+dl+"/f", tt.file)
			}
			_, err := update(t, e, indexPin(pins.Track{URL: "https://dl.example/i", Format: pins.FormatJSON, Select: "{version}", Platforms: []string{"linux"}, Schemes: []pins.Scheme{{Pattern: "{semver}"}}}))
			wantError(t, err, tt.want, tt.words...)
			if n := stored(t, e); n != 0 {
				t.Errorf("%d entries are in the store", n)
			}
		})
	}
}

// A rolling name's content is new each time; a version's is not.
func TestIndexReplaced(t *testing.T) {
	for _, mutable := range []bool{true, false} {
		s := newSite(t)
		e := newKinds(t, s, dl)
		s.put("/"+dl+"/i", `{"linux":{"url":"https://dl.example/latest.tgz"}}`)
		s.put("/"+dl+"/latest.tgz", "one")
		p := indexPin(pins.Track{URL: "https://dl.example/i", Format: pins.FormatJSON, Select: "linux", MutableName: mutable})
		locked(t, e, p)
		s.put("/"+dl+"/latest.tgz", "two")
		l, err := update(t, e, p)
		if mutable {
			if err != nil || l.Files[0].SHA256 != sha("two") {
				t.Errorf("%+v, %v", l, err)
			}
		} else {
			wantError(t, err, verdict.Fail, sha("one"), sha("two"))
		}
		if fetchedOffline(t, e, p) != 1 {
			t.Error("the old file is gone")
		}
	}
}

func TestVersionGlob(t *testing.T) {
	tests := []struct{ glob, name, want string }{
		{"a-{version}.tgz", "a-1.2.tgz", "1.2"},
		{"a-{version}.tgz", "a-.tgz", "no"},
		{"a-{version}.tgz", "b-1.tgz", "no"},
		{"d/*/a-{version}.t?z", "d/x/a-7.txz", "7"},
		{"d/*/a-{version}.t?z", "d/x/y/a-7.txz", "no"},
		{"a.b-{version}", "axb-1", "no"},
		{"*.whl", "x.whl", ""},
		{"", "x", ""},
	}
	for _, tt := range tests {
		g, err := newVersionGlob(tt.glob)
		if err != nil {
			t.Fatal(err)
		}
		v, ok := g.match(tt.name)
		if !ok {
			v = "no"
		}
		if v != tt.want {
			t.Errorf("%q %q: %q", tt.glob, tt.name, v)
		}
	}
	if _, err := newVersionGlob("{version}{version}"); err == nil {
		t.Error("two versions are taken")
	}
}
