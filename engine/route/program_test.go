// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package route

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/1bit-MONSTER/engine/engine/devices"
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
	find := func(want string, r Request) {
		t.Helper()
		if r.Device == "" {
			r.Device = devices.Vulkan
		}
		if got, err := llamaServer.find(r, h); err != nil || got != want {
			t.Errorf("found %q, %v; want %q", got, err, want)
		}
	}
	find(flagged, Request{LlamaServer: flagged})
	find(inPath, Request{LlamaServer: "llama-server"}) // a bare name is looked up
	find(variable, Request{})
	h.Getenv = host(nil).Getenv
	find(vulkan, Request{})
	find(vulkan, Request{Device: devices.CPU})
	os.Remove(vulkan)
	find(beside, Request{})
	os.Remove(beside)
	find(inPath, Request{})
}

func TestProgramIsNotFound(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, flag, env, want string }{
		{"nowhere", "", "", "no llama-server beside this program or in PATH: install llama.cpp (Debian's package is llama.cpp-tools), or give its path with --llama-server or ONEBIT_LLAMA_SERVER"},
		{"absent", dir + "/absent", "", "--llama-server " + dir + "/absent: no such file or directory; give the path of a llama-server"},
		{"a folder", dir, "", "--llama-server " + dir + ": is a directory; give the path of a llama-server"},
		{"not executable", "", plain, "ONEBIT_LLAMA_SERVER " + plain + ": is not executable; give the path of a llama-server"},
		{"a name", "my-server", "", "--llama-server my-server: not in PATH; give the path of a llama-server"},
	} {
		env := map[string]string{}
		if c.env != "" {
			env["ONEBIT_LLAMA_SERVER"] = c.env
		}
		_, err := llamaServer.find(Request{Device: devices.CPU, LlamaServer: c.flag}, host(env))
		var missing *NotFound
		if !errors.As(err, &missing) || err.Error() != c.want {
			t.Errorf("%s: %v\nwant %s", c.name, err, c.want)
		}
	}
}

func TestAuto(t *testing.T) {
	m := model(t)
	server := writeProgram(t, filepath.Join(t.TempDir(), "llama-server"))
	for _, c := range []struct {
		name string
		gpu  bool
		list []string
		err  error
		want devices.Name
	}{
		{"no GPU", false, []string{"Vulkan0"}, nil, devices.CPU},
		{"a GPU that is listed", true, []string{"Vulkan0"}, nil, devices.Vulkan},
		{"a GPU that is not listed", true, nil, nil, devices.CPU},
		{"another back-end's GPU", true, []string{"ROCm0"}, nil, devices.CPU},
		{"a program without a list", true, nil, errors.New("exit status 1"), devices.CPU},
	} {
		h := host(nil)
		h.GPU = c.gpu
		h.List = func(context.Context, string) ([]string, error) { return c.list, c.err }
		plan, err := New(t.Context(), Request{Model: m.Path, Device: devices.Auto, LlamaServer: server}, m, h)
		if err != nil || plan.Device != c.want {
			t.Errorf("%s: %s, %v", c.name, plan.Device, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h := host(nil)
	h.GPU = true
	if _, err := New(ctx, Request{Device: devices.Auto, LlamaServer: server}, m, h); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestParseDevices(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"none", "Available devices:\n  (none)\n", nil},
		{"a software renderer", "Available devices:\n  Vulkan0: llvmpipe (LLVM 21.1.8, 256 bits) (24105 MiB, 24105 MiB free)\n", nil},
		{"Strix Halo", "Available devices:\n  Vulkan0: AMD Radeon 8060S Graphics (RADV STRIX_HALO) (86016 MiB, 83633 MiB free)\n  Vulkan1: llvmpipe (LLVM 21.1.8, 256 bits) (1 MiB, 1 MiB free)\n", []string{"Vulkan0"}},
		{"two back-ends, Windows", "Available devices:\r\n  ROCm0: gfx1151 (1 MiB, 1 MiB free)\r\n  Vulkan0: x (1 MiB, 0 MiB free)\r\n", []string{"ROCm0", "Vulkan0"}},
		{"chatter", "load_backend: loaded Vulkan0: x\n", nil},
	} {
		if d := cmp.Diff(c.want, parseDevices(c.text)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

func TestListDevicesAsksTheProgram(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "llama-server")
	script := "#!/bin/sh\n[ \"$1\" = --list-devices ] || exit 1\necho 'Available devices:'\necho '  Vulkan0: x (1 MiB, 1 MiB free)'\n"
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	list, err := ListDevices(t.Context(), path)
	if err != nil || strings.Join(list, " ") != "Vulkan0" {
		t.Errorf("%q, %v", list, err)
	}
}
