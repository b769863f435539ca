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

	"github.com/1bit-MONSTER/engine/engine/ability"
	"github.com/1bit-MONSTER/engine/engine/devices"
	"github.com/1bit-MONSTER/engine/engine/layout"
)

// A Host is what the choice may know of the machine; tests give their own.
type Host struct {
	Getenv   func(string) (string, bool)                                  // as os.LookupEnv
	Dir      string                                                       // folder of the binary 1bit; empty: unknown
	LookPath func(string) (string, error)                                 // as exec.LookPath
	Able     func(ctx context.Context, p string) (ability.Program, error) // what a llama-server can do
	Memory   func() (total, available int64)                              // bytes; 0: unknown
	TheRock  string                                                       // folder below which an HSA runtime may be
	GOOS     string
}

// ThisHost returns the machine that we run on.
func ThisHost() Host {
	h := Host{
		Getenv: os.LookupEnv, LookPath: exec.LookPath, Able: ability.UserCache().Get,
		Memory: systemMemory, TheRock: "/opt/rocm-therock", GOOS: runtime.GOOS,
	}
	if exe, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(exe); err == nil {
			exe = real
		}
		h.Dir = filepath.Dir(exe)
	}
	return h
}

// A program is what a row needs, and how the user can name it.
type program struct {
	name   string
	flag   string // empty: there is none, as with env
	env    string
	flagOf func(Request) string
	dirs   []string // beside the binary
	inPath bool
	brings string // a clause that says how to get it
}

const debianLlama = "install llama.cpp (Debian's package is llama.cpp-tools)"

// llama is the llama-server of a build, see package layout.
func llama(build string, m Model) program {
	p := program{
		name: layout.LlamaServer, flag: "--llama-server", env: "ONEBIT_LLAMA_SERVER",
		flagOf: func(r Request) string { return r.LlamaServer },
		dirs:   layout.LlamaDirs(build), inPath: true, brings: debianLlama,
	}
	switch build {
	case layout.HRX:
		p.brings = "the component llama-hrx brings it"
	case layout.LeanVulkan, layout.LeanROCm:
		p.env = "ONEBIT_LEAN_SERVER"
		p.brings = "the component " + map[string]string{layout.LeanVulkan: "lean", layout.LeanROCm: "lean-rocm"}[build] + " brings it"
		// Any other build would run, and for a rotated model give noise.
		rotated, _ := m.Rotated()
		p.inPath = build == layout.LeanROCm && !rotated
	}
	return p
}

var (
	npu  = program{name: layout.NPU, dirs: layout.Dirs(layout.NPU), inPath: true, brings: "a later release brings it"}
	zinc = program{
		name: layout.ZINC, flag: "--zinc", env: "ONEBIT_ZINC", flagOf: func(r Request) string { return r.ZINC },
		dirs: layout.Dirs(layout.ZINC), inPath: true, brings: "the component zinc brings it",
	}
	mlx = program{
		name: layout.MLX, flag: "--mlx-server", env: "LEMONADE_MLX_SERVER", flagOf: func(r Request) string { return r.MLXServer },
		dirs: layout.Dirs(layout.MLX), inPath: true, brings: "lemon-mlx-engine is such a server, and no component yet",
	}
)

// buildOf returns which build of llama-server d needs for a model.
func buildOf(d devices.Name, r Request, m Model) string {
	switch {
	case d == devices.HRX:
		return layout.HRX
	case d == devices.ROCm:
		return layout.LeanROCm
	case d == devices.CPU:
		return layout.CPU
	case r.Lean:
		return layout.LeanVulkan
	case r.PrefillDevice != "" || m.isOf(onlyInHRX):
		return layout.HRX
	}
	return layout.Vulkan
}

// A NotFound error says that there is no program to serve with.
type NotFound struct{ Text string }

func (n *NotFound) Error() string { return n.Text }

// find returns the absolute path of the program: as the flag says, else the
// environment, else as the distribution has it beside the binary, else by its
// name in PATH. What the user names must be there.
func (p program) find(r Request, h Host, d devices.Name) (string, error) {
	if p.flag != "" {
		if named := p.flagOf(r); named != "" {
			return p.named(p.flag, named, h)
		}
		if named, _ := h.Getenv(p.env); named != "" {
			return p.named(p.env, named, h)
		}
	}
	if path := p.beside(h); path != "" {
		return path, nil
	}
	if p.inPath {
		if path, err := h.LookPath(p.name); err == nil {
			return filepath.Abs(path)
		}
	}
	return "", &NotFound{fmt.Sprintf("--device %s: not in this build: %s", d, p.absent())}
}

// beside returns the program of the distribution, or "".
func (p program) beside(h Host) string {
	if h.Dir == "" {
		return ""
	}
	for _, dir := range p.dirs {
		path := filepath.Join(h.Dir, filepath.FromSlash(dir), layout.Exe(p.name, h.GOOS))
		if runnable(path, h.GOOS) == nil {
			return path
		}
	}
	return ""
}

// absent says where the program was looked for and what would bring it.
func (p program) absent() string {
	where := p.name + " beside this program"
	if p.dirs[0] != "." {
		where = p.dirs[0] + "/" + where
	}
	text := "there is no " + where
	if p.inPath {
		text += " or in PATH"
	}
	text += ": " + p.brings
	if p.flag != "" {
		text += fmt.Sprintf(", or give its path with %s or %s", p.flag, p.env)
	}
	return text
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

// Find returns the program of a device on the machine h for the main flags of
// r, or why there is none.
func Find(d devices.Name, r Request, h Host) (string, error) {
	row, err := rowOf(d)
	if err != nil {
		return "", err
	}
	return row.program(r, Model{}).find(r, h, d)
}
