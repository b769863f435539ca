// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package declared

import (
	"strings"
	"testing"
)

func FuzzCMake(f *testing.F) {
	for _, s := range []string{
		"FetchContent_Declare(a URL \"${X}\")\nset(X [==[ y ]==] CACHE STRING z)", "a(b(c)d # e\n)", "#[[ x ]] file(DOWNLOAD x y", "a(\"\\", "set(A ${A${B}})", "x(y;\\;z [[",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		lines := strings.Count(s, "\n") + 1
		last := 1
		for _, c := range cmakeCommands(s) {
			if c.line < last || c.line > lines {
				t.Fatalf("%s in line %d after %d of %d", c.name, c.line, last, lines)
			}
			last = c.line
			for _, a := range c.args {
				if a.line < c.line || a.line > lines {
					t.Fatalf("argument in line %d of %d", a.line, lines)
				}
			}
		}
		check(t, "CMakeLists.txt", s, lines)
	})
}

func FuzzScripts(f *testing.F) {
	for _, s := range []string{
		"curl -o x \"$(wget `y` ${z:-$(curl https://x.example/a)})\"", "\"\ncurl 00000000$000\"", "RUN a && \\\n# b\n curl https://x.example/c <<E\nE", "a = ['curl', 'https://x.example/d']\nrequests.get('''\n''')", "x:\n\t@$(shell curl $$(y", "[submodule \"a\"]\npath=x\n", ".{ .dependencies = .{ .@\"a\" = .{ .url = \"\\",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		lines := strings.Count(s, "\n") + 1
		for _, p := range []string{"a.sh", "a.py", "a.ps1", "a.bat", "Makefile", "Dockerfile", ".gitmodules", "build.zig.zon", "a.wrap", "requirements.txt", "yarn.lock", "Cargo.toml", "Cargo.lock", "go.mod", "package-lock.json", "package.json"} {
			check(t, p, s, lines)
		}
	})
}

func check(t *testing.T, path, content string, lines int) {
	for _, d := range detectOne(t, path, content) {
		if d.Line < 1 || d.Line > lines {
			t.Fatalf("%s: line %d of %d: %+v", path, d.Line, lines, d)
		}
		if len(d.URL) > maxText+10 || strings.ToValidUTF8(d.URL+d.Name, "") != d.URL+d.Name {
			t.Fatalf("%s: bad text: %+v", path, d)
		}
	}
}
