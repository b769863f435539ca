// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package route

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/engine/devices"
	"github.com/1bit-MONSTER/engine/engine/layout"
)

func TestProgramIsFoundInOrder(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return writeProgram(t, filepath.Join(dir, name)) }
	flagged, variable, inPath := at("flag/llama-server"), at("env/llama-server"), at("path/llama-server")
	beside, vulkan := at("dist/llama-server"), at("dist/vulkan/llama/bin/llama-server")

	h := host(map[string]string{"ONEBIT_LLAMA_SERVER": variable})
	h.Dir = filepath.Join(dir, "dist")
	h.LookPath = func(name string) (string, error) {
		if name == "llama-server" {
			return inPath, nil
		}
		return "", errors.New("not in PATH")
	}
	find := func(want, build string, r Request) {
		t.Helper()
		if got, err := llama(build, Model{}).find(r, h, devices.Vulkan); err != nil || got != want {
			t.Errorf("found %q, %v; want %q", got, err, want)
		}
	}
	find(flagged, layout.Vulkan, Request{LlamaServer: flagged})
	find(inPath, layout.Vulkan, Request{LlamaServer: "llama-server"}) // a bare name is looked up
	find(variable, layout.Vulkan, Request{})
	h.Getenv = host(nil).Getenv
	find(vulkan, layout.Vulkan, Request{})
	find(vulkan, layout.CPU, Request{})
	find(beside, layout.HRX, Request{})
	os.Remove(vulkan)
	find(beside, layout.Vulkan, Request{})
	os.Remove(beside)
	find(inPath, layout.Vulkan, Request{})
	if _, err := llama(layout.LeanVulkan, Model{}).find(Request{}, h, devices.Vulkan); err == nil {
		t.Error("PATH's llama-server is no lean build")
	}
}

func TestProgramIsNotFound(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, flag, env, want string }{
		{"nowhere", "", "", "--device cpu: not in this build: there is no cpu/llama/bin/llama-server beside this program or in PATH: install llama.cpp (Debian's package is llama.cpp-tools), or give its path with --llama-server or ONEBIT_LLAMA_SERVER"},
		{"absent", dir + "/absent", "", "--llama-server " + dir + "/absent: no such file or directory; give the path of a llama-server"},
		{"a folder", dir, "", "--llama-server " + dir + ": is a directory; give the path of a llama-server"},
		{"not executable", "", plain, "ONEBIT_LLAMA_SERVER " + plain + ": is not executable; give the path of a llama-server"},
		{"a name", "my-server", "", "--llama-server my-server: not in PATH; give the path of a llama-server"},
	} {
		env := map[string]string{}
		if c.env != "" {
			env["ONEBIT_LLAMA_SERVER"] = c.env
		}
		_, err := Find(devices.CPU, Request{LlamaServer: c.flag}, host(env))
		var missing *NotFound
		if !errors.As(err, &missing) || err.Error() != c.want {
			t.Errorf("%s: %v\nwant %s", c.name, err, c.want)
		}
	}
}

// TestNotInThisBuild: each device names what would bring its program.
func TestNotInThisBuild(t *testing.T) {
	for d, want := range map[devices.Name][]string{
		devices.NPU:    {"1bit-npu", "a later release brings it"},
		devices.Vulkan: {"vulkan/llama/bin/llama-server", "install llama.cpp", "ONEBIT_LLAMA_SERVER"},
		devices.HRX:    {"hrx/llama/bin/llama-server", "the component llama-hrx", "--llama-server"},
		devices.ROCm:   {"lean/llama-rocm/bin/llama-server", "the component lean-rocm brings it", "ONEBIT_LEAN_SERVER"},
		devices.ZINC:   {"zinc/vulkan/bin/zinc", "the component zinc", "--zinc or ONEBIT_ZINC"},
		devices.MLX:    {"mlx/bin/mlx-server", "lemon-mlx-engine is such a server", "--mlx-server or LEMONADE_MLX_SERVER"},
	} {
		r := Request{Model: write(t), Device: d}
		if d == devices.MLX {
			r.Model = "owner/name"
		}
		wantRefused(t, r, host(nil), append(want, "--device "+string(d)+": not in this build: ")...)
	}
}

func TestHSA(t *testing.T) {
	dir := t.TempDir()
	rock := filepath.Join(dir, "rock")
	deep := writeProgram(t, filepath.Join(rock, "b/c/d/e/f/libhsa-runtime64.so.1"))
	writeProgram(t, filepath.Join(rock, "a/b/c/d/e/f/g/libhsa-runtime64.so.1")) // too deep
	h := halo(t, nil)
	h.TheRock = rock
	env := func(r Request) string {
		t.Helper()
		r.Model, r.Device = write(t), devices.HRX
		return strings.Join(one(t, r, h).Env, " ")
	}
	if got := env(Request{}); got != hsaVariable+"="+deep {
		t.Errorf("below TheRock: %s", got)
	}
	own := writeProgram(t, filepath.Join(h.Dir, "hrx/lib/libhsa-runtime64.so.1"))
	if got := env(Request{}); got != hsaVariable+"="+own {
		t.Errorf("the distribution's: %s", got)
	}
	if got := env(Request{LibHSA: "/x/hsa"}); got != hsaVariable+"=/x/hsa" {
		t.Errorf("the flag's: %s", got)
	}
	h.Getenv = host(map[string]string{hsaVariable: "/mine", "ONEBIT_HRX_DECODE_SPLIT": "0"}).Getenv
	if got := env(Request{Parallel: 2}); got != "GGML_HRX_DISABLE_DISPATCH=decode_split,qwen.attention" {
		t.Errorf("the user's variable: %s", got)
	}
}

func TestLeanIsNotTakenFromPath(t *testing.T) {
	h := host(nil, "ROCm0")
	server := writeProgram(t, filepath.Join(t.TempDir(), "llama-server"))
	h.LookPath = func(string) (string, error) { return server, nil }
	for _, d := range []devices.Name{devices.ROCm, devices.Vulkan} {
		wantRefused(t, Request{Model: write(t), Device: d, Lean: true}, h, "--device "+string(d)+": not in this build: there is no lean/llama", "ONEBIT_LEAN_SERVER")
	}
}
