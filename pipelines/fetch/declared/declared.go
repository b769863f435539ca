// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package declared finds what an upstream's build files would download, and
// compares that with the inputs of its pin. It is for fetch, which wants every
// download of a build listed, and for people who review a bump.
//
// Detect reads a tree through a small interface, so a checkout is not needed
// and nothing of the upstream is executed. It reports:
//
//   - CMake: FetchContent_Declare, FetchContent_Populate, ExternalProject_Add,
//     file(DOWNLOAD), the CPM commands, any other command that is given
//     GIT_REPOSITORY or an address after URL, and downloads by a program in
//     execute_process, add_custom_command and add_custom_target;
//   - git submodules; git dependencies in Cargo.toml and Cargo.lock, and one
//     entry for the registry crates of a lock file; one entry for each lock
//     file of npm, Yarn, pnpm and Bun; one for a Cargo.toml or package.json
//     without a lock file; pip's requirements files; go.mod; the dependencies
//     of build.zig.zon; Meson wraps;
//   - shell, Python, PowerShell and batch scripts, makefiles and Dockerfiles
//     that call a program or a function that downloads.
//
// Limits. Build files are programs, and they are read here, not run: a
// download whose address is put together at run time is reported with what is
// written there, and one that is hidden on purpose is not found. Values of
// set() are known in their own file only, and only where all of a variable's
// values agree. Of several addresses for one file the first is reported.
// Workflow files, build.rs, setup.py's dependencies, pyproject.toml, base images
// of Dockerfiles and system packages (apt, dnf, conda) are not looked at. Python text in triple quotes is taken for
// documentation. What is missed fails in the build, which has no network.
package declared

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Kind says in which form a download is declared.
type Kind string

// The kinds of declaration.
const (
	FetchContent    Kind = "cmake-fetchcontent"
	ExternalProject Kind = "cmake-externalproject"
	FileDownload    Kind = "cmake-download"
	CPM             Kind = "cmake-cpm"
	CMakeCall       Kind = "cmake-call" // a project's own command that takes GIT_REPOSITORY or URL
	Submodule       Kind = "git-submodule"
	CargoGit        Kind = "cargo-git"
	CargoLock       Kind = "cargo-lock"
	NPM             Kind = "npm"
	Pip             Kind = "pip"
	GoModules       Kind = "go-modules"
	Zig             Kind = "zig"
	Meson           Kind = "meson-wrap"
	Script          Kind = "script"
	Unread          Kind = "unread" // a build file that could not be looked at; Problem says why
)

// A Declared is one download that a file declares. All its text was written by
// the upstream, cut to maxText bytes and otherwise as it stands there: show it
// through Text or Row, which make it inert.
type Declared struct {
	File    string `json:"file"`
	Line    int    `json:"line"` // from 1
	Kind    Kind   `json:"kind"`
	Scope   Scope  `json:"scope"`
	Name    string `json:"name,omitempty"`
	URL     string `json:"url,omitempty"`     // variables that are not known stay as written
	Rev     string `json:"rev,omitempty"`     // tag, branch, commit or version
	Hash    string `json:"hash,omitempty"`    // ALGORITHM=value, or as the format writes it
	Command string `json:"command,omitempty"` // FetchContent_Declare, curl, pip install
	Count   int    `json:"count,omitempty"`   // packages behind a lock file
	Problem string `json:"problem,omitempty"` // what is wrong with the declaration, in words
	SHA256  string `json:"sha256,omitempty"`  // of File
}

// Red reports whether a build may do this download unless something is said
// about it: see Scope.
func (d Declared) Red() bool {
	switch d.Scope {
	case ScopeBuild:
		return true
	case ScopeTests, ScopeExamples, ScopeScripts:
		return isCMake(d.File)
	}
	return false
}

// An Entry is a file, symbolic link or submodule of a tree.
type Entry struct {
	Path string
	Mode string // as git writes it: 100644, 100755, 120000, 160000
	ID   string // of a submodule its commit; else unused
	Size int64  // bytes; -1 where it is not known
}

// A Tree gives files to look at. Read's error for a file that is listed but
// can not be had matches fs.ErrNotExist, for one above MaxFile it is a
// *TooLarge; any other error ends Detect.
type Tree interface {
	List() ([]Entry, error)
	Read(path string) ([]byte, error)
}

// MaxFile is the size in bytes above which a file is not read.
const MaxFile = 16 << 20

// maxPerFile bounds what one file may declare.
const maxPerFile = 10000

// maxText bounds each text of a Declared, in bytes.
const maxText = 1000

// TooLarge says that a file is above MaxFile.
type TooLarge struct {
	Path string
	Size int64 // bytes
}

func (e *TooLarge) Error() string {
	return fmt.Sprintf("%q has %d bytes; build files above %d are not read", e.Path, e.Size, MaxFile)
}

// Detect returns what the files of a tree declare, sorted by file, line, kind,
// name and address, without repetition. Only files whose name, or mode without
// an ending, makes them a candidate are read. A candidate that can not be read
// is an entry of kind Unread. An error is one of the tree itself.
func Detect(tree Tree) ([]Declared, error) {
	entries, err := tree.List()
	if err != nil {
		return nil, err
	}
	var list []Declared
	has := map[string]bool{}
	var links []Entry
	for _, e := range entries {
		has[e.Path] = true
		if e.Mode == "160000" {
			links = append(links, e)
		}
	}
	for _, e := range entries {
		find := candidate(e)
		if find == nil {
			continue
		}
		f := &file{path: e.Path, scope: ScopeOf(e.Path), has: has, links: links}
		if err := f.read(tree, e); err != nil {
			return nil, err
		}
		if f.content != nil {
			find(f)
		}
		list = append(list, f.found...)
	}
	list = append(list, undeclaredLinks(links, list)...)
	slices.SortFunc(list, func(a, b Declared) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.Name, b.Name), cmp.Compare(a.URL, b.URL), cmp.Compare(a.Rev, b.Rev),
			cmp.Compare(a.Hash, b.Hash), cmp.Compare(a.Command, b.Command), cmp.Compare(a.Problem, b.Problem))
	})
	return slices.Compact(list), nil
}

// A file is a candidate while it is looked at.
type file struct {
	path    string
	scope   Scope
	content []byte
	sum     string
	has     map[string]bool // all paths of the tree
	links   []Entry         // the submodules of the tree
	found   []Declared
	scanned int             // bytes of scripts that were read
	tired   bool            // too many
	local   map[string]bool // variables that hold an address on the machine itself; nil: not looked at yet
}

func (f *file) read(tree Tree, e Entry) error {
	if e.Size > MaxFile {
		f.unread((&TooLarge{e.Path, e.Size}).Error())
		return nil
	}
	content, err := tree.Read(e.Path)
	var large *TooLarge
	switch {
	case errors.As(err, &large):
		f.unread(large.Error())
		return nil
	case errors.Is(err, fs.ErrNotExist):
		f.unread("the file is listed but its content is not there")
		return nil
	case err != nil:
		return fmt.Errorf("read %q: %w", e.Path, err)
	case int64(len(content)) > MaxFile:
		f.unread((&TooLarge{e.Path, int64(len(content))}).Error())
		return nil
	}
	sum := sha256.Sum256(content)
	f.sum = hex.EncodeToString(sum[:])
	if bytes.IndexByte(content, 0) >= 0 {
		return nil // binary: no build tool reads it as text
	}
	f.content = content
	if content == nil {
		f.content = []byte{}
	}
	return nil
}

func (f *file) unread(why string) { f.add(Declared{Line: 1, Kind: Unread, Problem: why}) }

// add completes a finding and keeps it.
func (f *file) add(d Declared) {
	switch {
	case len(f.found) > maxPerFile:
		return
	case len(f.found) == maxPerFile:
		d = Declared{Line: d.Line, Kind: Unread, Problem: fmt.Sprintf("more than %d downloads; the rest of the file was not read", maxPerFile)}
	}
	d.File, d.Scope, d.SHA256 = f.path, f.scope, f.sum
	d.Line = max(d.Line, 1)
	for _, s := range []*string{&d.Name, &d.URL} {
		*s = secretRE.ReplaceAllString(*s, "://***@")
	}
	for _, s := range []*string{&d.Name, &d.URL, &d.Rev, &d.Hash, &d.Command, &d.Problem} {
		*s = clean(*s)
	}
	f.found = append(f.found, d)
}

// secretRE is a password inside an address. It is not shown, though the upstream
// published it.
var secretRE = regexp.MustCompile(`://[^/@\s]*:[^/@\s]*@`)

// clean makes text valid, short UTF-8 without spaces at its ends.
func clean(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > maxText {
		s = s[:maxText] + "…"
	}
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return s
}
