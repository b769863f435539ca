// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package toolchain

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/atomicfile"
	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/run"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// A HostTool is a program of this machine that a build with --host-tools uses.
type HostTool struct {
	Program string `json:"program"`
	Path    string `json:"path"`    // links followed
	Version string `json:"version"` // the first line that it prints; empty where it prints none
	SHA256  string `json:"sha256"`  // of the program itself
}

// A Missing is a program that this machine lacks.
type Missing struct {
	Program       string `json:"program"`
	DebianPackage string `json:"debian-package,omitempty"` // empty where Debian has none
}

// MissingTools is the error that names all that a build lacks.
type MissingTools struct{ Tools []Missing }

func (e *MissingTools) Error() string {
	var programs, packages, others []string
	for _, m := range e.Tools {
		programs = append(programs, m.Program)
		switch {
		case m.DebianPackage == "":
			others = append(others, m.Program)
		case !slices.Contains(packages, m.DebianPackage):
			packages = append(packages, m.DebianPackage)
		}
	}
	text := "--host-tools: this machine lacks " + strings.Join(programs, ", ")
	if len(packages) > 0 {
		text += "; on Debian: apt-get install " + strings.Join(packages, " ")
	}
	if len(others) > 0 {
		text += "; Debian has no " + strings.Join(others, ", ")
	}
	return text
}

// Verdict is infra: the machine lacks something, not the code.
func (e *MissingTools) Verdict() verdict.Verdict { return verdict.Infra }

// HostTools finds the programs that a recipe needs, by name or absolute path,
// in the folders of search (as PATH has them), and returns a digest of them all
// for keys: of each its name, content and version. memory is a file that
// remembers programs by path, inode, size, mtime and ctime, so that nothing is
// read or run for programs that stay; empty: nothing is remembered. Programs
// that are missing are returned all at once, and the digest is empty then.
//
// Limit: a compiler's driver is summed, what it starts (cc1, libraries,
// headers) is not; so what is built with it is marked as unhermetic.
func HostTools(ctx context.Context, memory, search string, needs []string) (digest string, missing []Missing, err error) {
	known := readMemory(memory)
	seen := toolMemory{}
	h := sha256.New()
	needs = slices.Clone(needs)
	slices.Sort(needs)
	for _, name := range slices.Compact(needs) {
		file, found := lookHost(search, name)
		if !found {
			missing = append(missing, Missing{name, debianPackageOf(name)})
			continue
		}
		st, err := os.Stat(file)
		if err != nil {
			return "", nil, verdict.Infraf("the program %s: %w", name, err)
		}
		stamp := toolStamp(file, name, st)
		tool, ok := known[stamp]
		if !ok {
			if tool, err = probe(ctx, search, name, file); err != nil {
				return "", nil, err
			}
		}
		seen[stamp] = tool
		fmt.Fprintf(h, "%q %s %q\n", name, tool.SHA256, tool.Version)
	}
	if len(missing) > 0 {
		return "", missing, nil
	}
	if err := seen.write(memory, known); err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("in:%x", h.Sum(nil)), nil, nil
}

// lookHost finds a program and follows its links.
func lookHost(search, name string) (string, bool) {
	candidates := []string{name}
	if !filepath.IsAbs(name) {
		candidates = nil
		for _, dir := range filepath.SplitList(search) {
			if filepath.IsAbs(dir) { // another folder has another meaning each time
				candidates = append(candidates, filepath.Join(dir, name))
			}
		}
	}
	for _, c := range candidates {
		if found, err := exec.LookPath(c); err == nil {
			if real, err := filepath.EvalSymlinks(found); err == nil {
				return real, true
			}
		}
	}
	return "", false
}

// probe reads a program and asks for its version. One that fails to answer has
// none: some programs know no --version.
func probe(ctx context.Context, search, name, file string) (HostTool, error) {
	t := HostTool{Program: name, Path: file}
	f, err := os.Open(file)
	if err != nil {
		return t, verdict.Infraf("the program %s: %w", name, err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return t, verdict.Infraf("the program %s: %w", name, err)
	}
	t.SHA256 = fmt.Sprintf("%x", h.Sum(nil))
	r, err := run.Command{Path: file, Args: []string{"--version"}, Env: []string{"PATH=" + search, "LC_ALL=C", "HOME=/nonexistent"}, Timeout: 10 * time.Second}.Run(ctx)
	if ctx.Err() != nil {
		return t, ctx.Err()
	}
	if err == nil {
		first, _, _ := strings.Cut(strings.TrimSpace(string(r.Stdout)), "\n")
		t.Version = inert.Line(first, 200)
	}
	return t, nil
}

// toolMemory is what is known of programs, by their stat.
type toolMemory map[string]HostTool

func toolStamp(file, name string, st fs.FileInfo) string {
	ctime, inode := changeTime(st)
	return fmt.Sprintf("%s %s %d %d %d %d", name, file, st.Size(), st.ModTime().UnixNano(), ctime, inode)
}

// readMemory reads a memory; one that cannot be read only costs time.
func readMemory(file string) toolMemory {
	m := toolMemory{}
	if data, err := os.ReadFile(file); err == nil && json.Unmarshal(data, &m) != nil {
		return toolMemory{}
	}
	return m
}

// racyTool is how long a program must have rested to be known by its stat: file
// times step, and two writes within a step look the same.
const racyTool = 2 * time.Second

// write keeps what was seen beside what was known of other programs.
func (seen toolMemory) write(file string, known toolMemory) error {
	if file == "" {
		return nil
	}
	changed := false
	for stamp, tool := range seen {
		st, err := os.Stat(tool.Path)
		if _, ok := known[stamp]; ok || err != nil || time.Since(st.ModTime()) < racyTool {
			continue
		}
		for old, o := range known {
			if o.Path == tool.Path && o.Program == tool.Program {
				delete(known, old)
			}
		}
		known[stamp], changed = tool, true
	}
	if !changed {
		return nil
	}
	data, err := json.Marshal(known)
	if err != nil {
		return err
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), atomicfile.Write(file, data, 0o644)); err != nil {
		return verdict.Infraf("the memory of programs: %w", err)
	}
	return nil
}

// debianPackages are where programs are whose package has another name.
var debianPackages = map[string]string{
	"ar": "binutils", "as": "binutils", "ld": "binutils", "nm": "binutils", "objcopy": "binutils", "objdump": "binutils", "readelf": "binutils", "strip": "binutils",
	"awk": "mawk", "c++": "g++", "cc": "gcc", "ctest": "cmake", "depmod": "kmod", "find": "findutils", "xargs": "findutils",
	"glslangValidator": "glslang-tools", "ld.lld": "lld", "llvm-ar": "llvm", "llvm-nm": "llvm", "llvm-objcopy": "llvm", "llvm-strip": "llvm",
	"ninja": "ninja-build", "pahole": "dwarves", "protoc": "protobuf-compiler", "rustc": "rustc", "sh": "dash", "spirv-as": "spirv-tools", "spirv-val": "spirv-tools", "spirv-opt": "spirv-tools",
	"xz": "xz-utils", "dpkg-buildpackage": "dpkg-dev", "dpkg-deb": "dpkg", "lsb_release": "lsb-release",
	"cat": "coreutils", "chmod": "coreutils", "cp": "coreutils", "env": "coreutils", "install": "coreutils", "ln": "coreutils", "ls": "coreutils", "mkdir": "coreutils",
	"mv": "coreutils", "rm": "coreutils", "sha256sum": "coreutils", "sort": "coreutils", "touch": "coreutils", "uname": "coreutils",
	"zig": "", "amdclang": "", "amdclang++": "", "aiecc": "", // not in Debian
}

// debianPackageOf returns the package that has a program: most have its name.
func debianPackageOf(program string) string {
	base := filepath.Base(program)
	if p, ok := debianPackages[base]; ok {
		return p
	}
	return base
}
