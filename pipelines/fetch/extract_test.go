// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import "testing"

func TestExtract(t *testing.T) {
	t.Parallel()
	const zon = `.{
    .name = .zinc, // .minimum_zig_version = "9.9.9",
    .dependencies = .{ .x = .{ .minimum_zig_version = "8.8.8", .url = "https://x.example/a.tar.gz" } },
    .minimum_zig_version = "0.15.2",
    .paths = .{ "src", "build.zig" },
}`
	const toml = "# [toolchain]\n[profile]\nchannel = \"no\"\n[[bin]]\nchannel = \"no\"\n[toolchain] # ours\nchannel = \"1.98.1\" # fixed\ncomponents = [\"rustfmt\"]\n"
	for _, c := range []struct{ file, text, key, want string }{
		{"build.zig.zon", zon, "minimum_zig_version", "0.15.2"},
		{"build.zig.zon", zon, "dependencies.x.minimum_zig_version", "8.8.8"},
		{"build.zig.zon", zon, "dependencies.y", ""},
		{"build.zig.zon", zon, "paths", ""},
		{"rust-toolchain.toml", toml, "toolchain.channel", "1.98.1"},
		{"rust-toolchain.toml", toml, "channel", ""},
		{"x.toml", "version = 3\n", "version", "3"},
		{"rocm-version.json", `{"run_id": 27922350966123456789}`, "run_id", "27922350966123456789"},
		{"a.json", `{"a": {"b": "v1"}}`, "a.b", "v1"},
		{"a.json", `{"a": {"b": "v1"}}`, "a.c", ""},
		{"a.json", `{"a": [1]}`, "a", ""},
		{"a.json", `{"a": `, "a", ""},
		{"a.json", `{"a": "two words"}`, "a", ""},
		{"a.json", `{"a": "-option"}`, "a", ""},
		{"a.json", `{"a": "\u001b[31m"}`, "a", ""},
		{"a.yaml", "a:\n  b: 1.10\n", "a.b", "1.10"},
		{"a.yml", "a: [x]\n", "a", ""},
		{".zig-version", "0.15.2\n", ".", "0.15.2"},
		{"versions.env", "# ZIG=1\nZIG_VERSION=2\nZIG = '0.15.2'\n", "ZIG", "0.15.2"},
		{"Makefile", "VERSION := 1.2\n", "VERSION", ""},
		{"Makefile", "VERSION ?= 1.2\n", "VERSION", ""},
	} {
		if c.file == "Makefile" && c.text[8] == ':' {
			c.want = "1.2" // := is an assignment too
		}
		got, err := extract(c.file, []byte(c.text), c.key)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("extract(%s, %q) = %q, %v; want %q", c.file, c.key, got, err, c.want)
		}
	}
}

func FuzzExtract(f *testing.F) {
	f.Add("a.zon", ".{ .a = \"1\" }", "a")
	f.Add("a.toml", "[t]\nk = \"1\"\n", "t.k")
	f.Add("a.json", `{"a":1}`, "a")
	f.Add("a.yaml", "a: 1", "a")
	f.Add("a", "a=1", "a")
	f.Fuzz(func(t *testing.T, name, text, key string) {
		v, err := extract(name, []byte(text), key)
		if err == nil && (v == "" || len(v) > longestValue || v[0] == '-') {
			t.Errorf("took %q", v)
		}
	})
}

func TestIsLicense(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"LICENSE": true, "a/LICENSE.txt": true, "LICENSE-MIT": true, "LICENCE.md": true, "license": true, "COPYING.LESSER": true,
		"debian/copyright": true, "NOTICE": true, "LICENSES/preferred/MIT": true, "licenses/json": true,
		"licensecheck.go": false, "license.cpp": false, "LICENSED": false, "notices/a.txt": false, "src/a.c": false, "copyright_check.py": false,
	} {
		if isLicense(name) != want {
			t.Errorf("isLicense(%q) is not %v", name, want)
		}
	}
}
