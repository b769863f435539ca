// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package declared

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// maxNesting bounds how deep the brackets of a data file nest; the reader of
// TOML calls itself for each.
const maxNesting = 200

// decodeTOML reads a TOML file into v.
func decodeTOML(content []byte, v any) error {
	depth := 0
	for _, c := range content {
		switch c {
		case '[', '{':
			if depth++; depth > maxNesting {
				return fmt.Errorf("its brackets nest more than %d deep", maxNesting)
			}
		case ']', '}':
			depth = max(depth-1, 0)
		}
	}
	_, err := toml.Decode(string(content), v)
	return err
}

// problem reports a file whose content can not be read.
func (f *file) problem(kind Kind, err error) {
	text, _, _ := strings.Cut(err.Error(), "\n")
	f.add(Declared{Line: 1, Kind: kind, Name: path.Base(f.path), Problem: "the file can not be read: " + text})
}

// cargoToml looks at the git dependencies of a manifest, wherever they stand:
// dependencies of each kind and target, workspace, patch and replace.
func (f *file) cargoToml() {
	var m map[string]any
	if err := decodeTOML(f.content, &m); err != nil {
		f.problem(CargoGit, err)
		return
	}
	text := string(f.content)
	lines := newLines(text)
	var walk func(name string, v any)
	walk = func(name string, v any) {
		t, ok := v.(map[string]any)
		if !ok {
			return
		}
		if u, ok := t["git"].(string); ok {
			d := Declared{Kind: CargoGit, Name: name, URL: u, Line: lines.at(max(strings.Index(text, u), 0)), Command: "cargo"}
			for _, key := range []string{"rev", "tag", "branch"} {
				if r, ok := t[key].(string); ok {
					d.Rev = r
					break
				}
			}
			f.add(d)
		}
		for _, key := range sortedKeys(t) {
			walk(key, t[key])
		}
	}
	for _, key := range sortedKeys(m) {
		if key != "package" && key != "profile" {
			walk(key, m[key])
		}
	}
	if n := registryCrates(m, 0); n > 0 && !f.hasAbove("Cargo.lock") {
		f.add(Declared{Line: 1, Kind: CargoLock, Name: "Cargo.toml", Count: n, Command: "cargo", Problem: "no lock file says which versions"})
	}
}

// registryCrates counts the dependencies of a manifest that come from a registry.
func registryCrates(m map[string]any, depth int) int {
	n := 0
	for key, v := range m {
		table, ok := v.(map[string]any)
		if !ok {
			continue
		}
		switch key {
		case "dependencies", "dev-dependencies", "build-dependencies":
			for _, d := range table {
				t, _ := d.(map[string]any)
				if t["path"] == nil && t["git"] == nil && t["workspace"] == nil {
					n++
				}
			}
		case "package", "features", "profile", "patch", "replace":
		default: // workspace, target and the targets in it
			if depth < 3 {
				n += registryCrates(table, depth+1)
			}
		}
	}
	return n
}

// hasAbove reports whether the tree has a file of one of these names beside this
// one or in a folder above.
func (f *file) hasAbove(names ...string) bool {
	for dir := path.Dir(f.path); ; dir = path.Dir(dir) {
		for _, n := range names {
			if f.has[path.Join(dir, n)] {
				return true
			}
		}
		if dir == "." || dir == "/" {
			return false
		}
	}
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// cargoLock adds one entry for the crates from registries and one for each
// git source.
func (f *file) cargoLock() {
	var lock struct {
		Package []struct{ Name, Version, Source string }
	}
	if err := decodeTOML(f.content, &lock); err != nil {
		f.problem(CargoLock, err)
		return
	}
	text := string(f.content)
	lines := newLines(text)
	count := 0
	seen := map[string]bool{}
	for _, p := range lock.Package {
		switch {
		case strings.HasPrefix(p.Source, "git+"):
			if seen[p.Source] {
				continue
			}
			seen[p.Source] = true
			u, rev, _ := strings.Cut(strings.TrimPrefix(p.Source, "git+"), "#")
			u, _, _ = strings.Cut(u, "?")
			f.add(Declared{Line: lines.at(max(strings.Index(text, p.Source), 0)), Kind: CargoGit, Name: baseName(u), URL: u, Rev: rev, Command: "cargo"})
		case p.Source != "":
			count++
		}
	}
	if count > 0 {
		f.add(Declared{Line: 1, Kind: CargoLock, Name: "Cargo.lock", Count: count, Command: "cargo"})
	}
}

// packageJSON counts when no lock file beside it, or above it, does.
func (f *file) packageJSON() {
	if f.hasAbove("package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock") {
		return
	}
	var m struct {
		Dependencies, DevDependencies, OptionalDependencies map[string]any
	}
	if err := json.Unmarshal(f.content, &m); err != nil {
		var other *json.UnmarshalTypeError
		if !errors.As(err, &other) { // another program's file of that name
			f.problem(NPM, err)
		}
		return
	}
	if n := len(m.Dependencies) + len(m.DevDependencies) + len(m.OptionalDependencies); n > 0 {
		f.add(Declared{Line: 1, Kind: NPM, Name: "package.json", Count: n, Command: "npm", Problem: "no lock file says which versions"})
	}
}

func (f *file) packageLock() {
	type entry struct {
		Link bool
	}
	var m struct {
		Packages     map[string]entry
		Dependencies map[string]json.RawMessage
	}
	if err := json.Unmarshal(f.content, &m); err != nil {
		f.problem(NPM, err)
		return
	}
	n := 0
	for name, e := range m.Packages {
		if strings.Contains("/"+name, "/node_modules/") && !e.Link {
			n++
		}
	}
	if m.Packages == nil {
		n = len(m.Dependencies)
	}
	f.lockFile(n)
}

// lockFile adds the one entry of a lock file of n packages.
func (f *file) lockFile(n int) {
	if n > 0 {
		f.add(Declared{Line: 1, Kind: NPM, Name: path.Base(f.path), Count: n, Command: "npm"})
	}
}

func (f *file) yarnLock() {
	n := 0
	for line := range strings.Lines(string(f.content)) {
		if t := strings.TrimRight(line, "\r\n"); strings.HasSuffix(t, ":") && !strings.HasPrefix(t, " ") && !strings.HasPrefix(t, "#") && t != "__metadata:" {
			n++
		}
	}
	f.lockFile(n)
}

// pnpmLock counts the entries that have a resolution.
func (f *file) pnpmLock() {
	f.lockFile(strings.Count("\n"+string(f.content), "\n    resolution:"))
}

// requirements adds one entry for the packages of a pip requirements file, and
// one for each that has an address of its own.
func (f *file) requirements() {
	count, start := 0, 0
	for i, line := range strings.Split(string(f.content), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if j := strings.Index(line, " #"); j >= 0 {
			line = strings.TrimSpace(line[:j])
		}
		if line[0] == '-' && !strings.HasPrefix(line, "-e") && !strings.HasPrefix(line, "--editable") {
			continue // -r and -c name other files, --index-url the place
		}
		name, u, _ := strings.Cut(line, "@ ")
		if u == "" {
			u = line
		}
		if j := strings.Index(u, "://"); j >= 0 {
			u = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(u, "--editable"), "-e"))
			u, _, _ = strings.Cut(u, " ")
			u, frag, _ := strings.Cut(u, "#")
			rev := ""
			if j := strings.LastIndex(u, "@"); strings.HasPrefix(u, "git+") && j > strings.LastIndex(u, "/") {
				u, rev = u[:j], u[j+1:]
			}
			if strings.Contains(name, "://") {
				name = baseName(u)
			}
			f.add(Declared{Line: i + 1, Kind: Pip, Name: name, URL: u, Rev: rev, Hash: hashFragment(frag), Command: "pip"})
			continue
		}
		if line[0] == '-' || line[0] == '.' || line[0] == '/' {
			continue // a folder
		}
		if count++; start == 0 {
			start = i + 1
		}
	}
	if count > 0 {
		f.add(Declared{Line: start, Kind: Pip, Name: path.Base(f.path), Count: count, Command: "pip"})
	}
}

func hashFragment(s string) string {
	q, err := url.ParseQuery(s)
	if err != nil {
		return ""
	}
	for _, alg := range []string{"sha256", "sha512", "sha1", "md5"} {
		if v := q.Get(alg); v != "" {
			return strings.ToUpper(alg) + "=" + v
		}
	}
	return ""
}

// bunLock adds an entry without a count: its form is not read here.
func (f *file) bunLock() {
	f.add(Declared{Line: 1, Kind: NPM, Name: "bun.lock", Command: "npm"})
}
