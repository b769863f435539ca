// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package declared

import (
	"path"
	"strings"
)

// A Scope says what kind of folder a file is in. It is told from the path
// alone: whether the build really reaches the file is not known here.
//
// Red are all of scope build, and the CMake files of scripts, tests and
// examples, because a build from the top reaches those by default.
type Scope string

// The scopes.
const (
	ScopeBuild     Scope = "build"
	ScopeTests     Scope = "tests"
	ScopeExamples  Scope = "examples"
	ScopeScripts   Scope = "scripts"
	ScopeDocs      Scope = "docs"
	ScopeCI        Scope = "ci"
	ScopeContainer Scope = "container" // Dockerfiles, wherever they are: our builds do not use them
)

// folders maps the name of a folder, anywhere in a path, to a scope.
var folders = map[string]Scope{
	"test": ScopeTests, "tests": ScopeTests, "testing": ScopeTests, "testdata": ScopeTests, "unittests": ScopeTests,
	"bench": ScopeTests, "benches": ScopeTests, "benchmark": ScopeTests, "benchmarks": ScopeTests,
	"example": ScopeExamples, "examples": ScopeExamples, "demo": ScopeExamples, "demos": ScopeExamples, "samples": ScopeExamples,
	"script": ScopeScripts, "scripts": ScopeScripts,
	"doc": ScopeDocs, "docs": ScopeDocs, "documentation": ScopeDocs,
	"ci": ScopeCI,
}

// ScopeOf classifies a path. The outermost folder that says something decides;
// folders that begin with a dot (.github, .devops) are ci.
func ScopeOf(p string) Scope {
	p = path.Clean(p)
	if isDockerfile(path.Base(p)) {
		return ScopeContainer
	}
	parts := strings.Split(p, "/")
	for _, part := range parts[:len(parts)-1] {
		if strings.HasPrefix(part, ".") {
			return ScopeCI
		}
		if s, ok := folders[strings.ToLower(part)]; ok {
			return s
		}
	}
	return ScopeBuild
}

func isDockerfile(base string) bool {
	l := strings.ToLower(base)
	return l == "dockerfile" || l == "containerfile" || strings.HasPrefix(l, "dockerfile.") ||
		strings.HasPrefix(l, "containerfile.") || strings.HasSuffix(l, ".dockerfile") || strings.HasSuffix(l, ".containerfile")
}

func isCMake(p string) bool {
	l := strings.ToLower(path.Base(p))
	return l == "cmakelists.txt" || strings.HasSuffix(l, ".cmake") || strings.HasSuffix(l, ".cmake.in") || strings.HasSuffix(l, "cmakelists.txt.in")
}

// candidate returns what looks at a file, or nil for files that are not read.
func candidate(e Entry) func(*file) {
	if e.Mode == "120000" || e.Mode == "160000" {
		return nil
	}
	base := path.Base(e.Path)
	l := strings.ToLower(base)
	switch {
	case isCMake(e.Path):
		return (*file).cmake
	case e.Path == ".gitmodules":
		return (*file).gitmodules
	case isDockerfile(base):
		return (*file).dockerfile
	case l == "makefile" || l == "gnumakefile" || l == "bsdmakefile" || strings.HasPrefix(l, "makefile.") || strings.HasSuffix(l, ".mk"):
		return (*file).makefile
	case strings.HasPrefix(l, "requirements") && strings.HasSuffix(l, ".txt"), strings.HasSuffix(l, "-requirements.txt"), strings.HasSuffix(l, "_requirements.txt"),
		path.Base(path.Dir(e.Path)) == "requirements" && strings.HasSuffix(l, ".txt"):
		return (*file).requirements
	}
	switch base {
	case "Cargo.toml":
		return (*file).cargoToml
	case "Cargo.lock":
		return (*file).cargoLock
	case "package.json":
		return (*file).packageJSON
	case "package-lock.json", "npm-shrinkwrap.json":
		return (*file).packageLock
	case "yarn.lock":
		return (*file).yarnLock
	case "pnpm-lock.yaml":
		return (*file).pnpmLock
	case "bun.lock":
		return (*file).bunLock
	case "go.mod":
		return (*file).goMod
	case "build.zig.zon":
		return (*file).zon
	}
	switch path.Ext(l) {
	case ".wrap":
		return (*file).wrap
	case ".sh", ".bash", ".zsh", ".ksh":
		return (*file).shell
	case ".py", ".pyw":
		return (*file).python
	case ".ps1", ".psm1":
		return (*file).powershell
	case ".bat", ".cmd":
		return (*file).batch
	case "":
		if e.Mode == "100755" {
			return (*file).byShebang
		}
	}
	return nil
}

// byShebang looks at an executable without an ending.
func (f *file) byShebang() {
	first, _, _ := strings.Cut(string(f.content[:min(len(f.content), 200)]), "\n")
	if !strings.HasPrefix(first, "#!") {
		return
	}
	for _, word := range strings.Fields(first[2:]) {
		switch b := path.Base(word); {
		case b == "sh" || b == "bash" || b == "dash" || b == "zsh" || b == "ksh":
			f.shell()
			return
		case strings.HasPrefix(b, "python"):
			f.python()
			return
		}
	}
}
