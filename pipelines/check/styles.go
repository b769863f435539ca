// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"path"
	"strings"
)

// A style is how one line of comment looks in a kind of file.
type style struct{ before, after string }

var (
	slashes = style{"// ", ""}
	hash    = style{"# ", ""}
	dashes  = style{"-- ", ""}
	rem     = style{"rem ", ""}
	dots    = style{".. ", ""}
	troff   = style{`.\" `, ""}
	cBlock  = style{"/* ", " */"}
	xml     = style{"<!-- ", " -->"}
)

// styles is the comment style by file name or extension; a whole name goes
// before an extension.
var styles = map[string]style{
	"go.mod": slashes, "go.work": slashes,
	"CMakeLists.txt": hash, "CODEOWNERS": hash, "Containerfile": hash, "Dockerfile": hash, "Makefile": hash, "series": hash,
	".clang-format": hash, ".dockerignore": hash, ".editorconfig": hash, ".gitattributes": hash, ".gitignore": hash, ".gitmodules": hash,

	".c": slashes, ".cc": slashes, ".cl": slashes, ".comp": slashes, ".cpp": slashes, ".cu": slashes, ".frag": slashes,
	".glsl": slashes, ".go": slashes, ".h": slashes, ".hip": slashes, ".hpp": slashes, ".inc": slashes, ".js": slashes,
	".mjs": slashes, ".mlir": slashes, ".rs": slashes, ".S": slashes, ".ts": slashes, ".vert": slashes, ".zig": slashes, ".zon": slashes,
	".cmake": hash, ".config": hash, ".fragment": hash, ".mk": hash, ".pl": hash, ".ps1": hash, ".py": hash, ".s": hash,
	".service": hash, ".sh": hash, ".socket": hash, ".timer": hash, ".toml": hash, ".txtar": hash, ".yaml": hash, ".yml": hash, ".cff": hash,
	".lua": dashes, ".sql": dashes,
	".bat": rem, ".cmd": rem,
	".rst": dots,
	".1":   troff, ".5": troff,
	".css": cBlock, ".ld": cBlock, ".map": cBlock,
	".html": xml, ".md": xml, ".svg": xml, ".xml": xml,
}

// exempt says why a file carries no header, by name or extension: it cannot
// hold a comment, it is a licence itself, or other programs read it whole.
var exempt = map[string]string{
	"LICENSE": "a licence", "NOTICE": "generated, says whose it is", "VERSION": "one word",
	"go.sum": "written by go", "go.work.sum": "written by go", ".gitkeep": "empty",
	".json": "holds no comments", ".jsonl": "holds no comments", ".lock": "written by package managers",
	".patch": "the author's own text", ".pub": "a key", ".pem": "a key", ".sig": "a signature",
}

// styleOf returns the comment style of a file, whether it carries a header at
// all, and whether its type is known. first is the first line of the file.
func styleOf(name, first string) (s style, carries, known bool) {
	base, ext := path.Base(name), path.Ext(name)
	if ext == base {
		ext = "" // .gitignore is a name, not an extension
	}
	// Test data are bytes that a test compares; scripts and sources there are
	// read by people.
	if inTestdata(name) && ext != ".go" && ext != ".txtar" {
		return style{}, false, true
	}
	for _, key := range []string{base, ext} {
		if key == "" {
			continue
		}
		if _, ok := exempt[key]; ok {
			return style{}, false, true
		}
		if s, ok := styles[key]; ok {
			if key == ".md" && first == "---" { // front matter, which is YAML
				s = hash
			}
			return s, true, true
		}
	}
	if strings.HasPrefix(first, "#!") { // a script without extension
		return hash, true, true
	}
	return style{}, false, false
}

func inTestdata(name string) bool {
	for part := range strings.SplitSeq(path.Dir(name), "/") {
		if part == "testdata" {
			return true
		}
	}
	return false
}

// leads reports whether a line must stay the first of its file, above the
// header.
func leads(line string, s style) bool {
	lower := strings.ToLower(line)
	switch s {
	case hash:
		return strings.HasPrefix(line, "#!") || strings.HasPrefix(lower, "# syntax=") || line == "---"
	case xml:
		return strings.HasPrefix(lower, "<?xml") || strings.HasPrefix(lower, "<!doctype")
	}
	return strings.HasPrefix(line, "#!") || s == rem && lower == "@echo off"
}
