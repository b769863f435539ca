// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package route

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/1bit-MONSTER/engine/engine/layout"
)

// A Host is what the choice may know of the machine; tests give their own.
type Host struct {
	Getenv   func(string) (string, bool)                                 // as os.LookupEnv
	Dir      string                                                      // folder of the binary 1bit; empty: unknown
	LookPath func(string) (string, error)                                // as exec.LookPath
	GPU      bool                                                        // there is a GPU that this user may open
	List     func(ctx context.Context, program string) ([]string, error) // the devices that a llama-server lists
	GOOS     string
}

// ThisHost returns the machine that we run on.
func ThisHost() Host {
	h := Host{Getenv: os.LookupEnv, LookPath: exec.LookPath, GPU: renderNode("/dev/dri"), List: ListDevices, GOOS: runtime.GOOS}
	if exe, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(exe); err == nil {
			exe = real
		}
		h.Dir = filepath.Dir(exe)
	}
	return h
}

// renderNode says whether a GPU's render node below dir can be opened.
func renderNode(dir string) bool {
	nodes, _ := filepath.Glob(filepath.Join(dir, "renderD*"))
	for _, n := range nodes {
		if f, err := os.OpenFile(n, os.O_RDWR, 0); err == nil {
			f.Close()
			return true
		}
	}
	return false
}

// A program is what a row needs, and how the user can name it.
type program struct {
	name    string
	flag    string
	env     string
	flagOf  func(Request) string
	dirs    func(device string) []string // beside the binary
	install string                       // a clause that says how to get it
}

var llamaServer = program{
	name:    layout.LlamaServer,
	flag:    "--llama-server",
	env:     "ONEBIT_LLAMA_SERVER",
	flagOf:  func(r Request) string { return r.LlamaServer },
	dirs:    layout.LlamaDirs,
	install: "install llama.cpp (Debian's package is llama.cpp-tools)",
}

// A NotFound error says that there is no program to serve with.
type NotFound struct{ Text string }

func (n *NotFound) Error() string { return n.Text }

// find returns the absolute path of the program: as the flag says, else the
// environment, else as the distribution has it beside the binary, else by its
// name in PATH. What the user names must be there.
func (p program) find(r Request, h Host) (string, error) {
	if named := p.flagOf(r); named != "" {
		return p.named(p.flag, named, h)
	}
	if named, _ := h.Getenv(p.env); named != "" {
		return p.named(p.env, named, h)
	}
	exe := layout.Exe(p.name, h.GOOS)
	if h.Dir != "" {
		for _, dir := range p.dirs(string(r.Device)) {
			path := filepath.Join(h.Dir, filepath.FromSlash(dir), exe)
			if runnable(path, h.GOOS) == nil {
				return path, nil
			}
		}
	}
	path, err := h.LookPath(p.name)
	if err != nil {
		return "", &NotFound{fmt.Sprintf("no %s beside this program or in PATH: %s, or give its path with %s or %s", p.name, p.install, p.flag, p.env)}
	}
	return filepath.Abs(path)
}

// named returns the program that the user named by how.
func (p program) named(how, name string, h Host) (string, error) {
	path := name
	if !strings.ContainsAny(name, `/\`) {
		found, err := h.LookPath(name)
		if err != nil {
			return "", &NotFound{fmt.Sprintf("%s %s: not in PATH; give the path of a %s", how, name, p.name)}
		}
		path = found
	}
	if err := runnable(path, h.GOOS); err != nil {
		return "", &NotFound{fmt.Sprintf("%s %s: %v; give the path of a %s", how, name, err, p.name)}
	}
	return filepath.Abs(path)
}

// runnable returns nil when path is a file that may be executed.
func runnable(path, goos string) error {
	info, err := os.Stat(path)
	var pe *fs.PathError
	switch {
	case errors.As(err, &pe):
		return pe.Err
	case err != nil:
		return err
	case info.IsDir():
		return errors.New("is a directory")
	case goos != "windows" && info.Mode()&0o111 == 0:
		return errors.New("is not executable")
	}
	return nil
}
