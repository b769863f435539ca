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

	"github.com/1bit-MONSTER/engine/engine/ability"
	"github.com/1bit-MONSTER/engine/engine/devices"
)

func writeText(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAuto(t *testing.T) {
	plain := write(t, arch("llama"))
	delta := write(t, arch("qwen35moe"))
	head := write(t)
	server := writeProgram(t, filepath.Join(t.TempDir(), "llama-server"))
	named := func(h Host) Host { h.Getenv = host(map[string]string{"ONEBIT_LLAMA_SERVER": server}).Getenv; return h }
	windows := named(host(nil, "Vulkan0"))
	windows.GOOS = "windows"
	software := named(host(nil))
	software.Able = func(context.Context, string) (ability.Program, error) {
		return ability.Program{DevicesKnown: true, Devices: []ability.Device{{Name: "Vulkan0", Description: "llvmpipe", Software: true}}}, nil
	}
	silent := named(host(nil))
	silent.Able = func(context.Context, string) (ability.Program, error) { return ability.Program{}, nil }
	noHRX := halo(t, nil)
	os.RemoveAll(filepath.Join(noHRX.Dir, "hrx"))
	cpuOnly := halo(t, nil)
	os.RemoveAll(filepath.Join(cpuOnly.Dir, "hrx"))
	os.RemoveAll(filepath.Join(cpuOnly.Dir, "vulkan"))
	for _, c := range []struct {
		name string
		h    Host
		r    Request
		want devices.Name
	}{
		{"no GPU is listed", named(host(nil)), Request{}, devices.CPU},
		{"a GPU that is listed", named(host(nil, "Vulkan0")), Request{}, devices.Vulkan},
		{"another back-end's GPU", named(host(nil, "ROCm0")), Request{}, devices.CPU},
		{"a build with HRX by name", named(host(nil, "Vulkan0", "HRX0")), Request{}, devices.HRX},
		{"a software renderer", software, Request{}, devices.CPU},
		{"a software renderer that may", software, Request{SoftwareGPU: true}, devices.Vulkan},
		{"a program without a list", silent, Request{}, devices.Vulkan},
		{"only the CPU's build", cpuOnly, Request{}, devices.CPU},
		{"Windows", windows, Request{}, devices.CPU},
		{"the distribution", halo(t, nil), Request{}, devices.HRX},
		{"the distribution without HRX", noHRX, Request{}, devices.Vulkan},
		{"HRX lacks the architecture", halo(t, nil), Request{Model: write(t, arch("zamba2"))}, devices.Vulkan},
		{"only HRX has the architecture", halo(t, nil), Request{Model: write(t, arch("gptj"))}, devices.Vulkan},
		{"a drafter", halo(t, nil), Request{MTP: head}, devices.Vulkan},
		{"a projector", halo(t, nil), Request{MMProj: head}, devices.Vulkan},
		{"DFlash stays", halo(t, nil), Request{DFlash: head}, devices.HRX},
		{"delta-net", halo(t, nil), Request{Model: delta}, devices.HRX},
		{"several sequences of delta-net", halo(t, nil), Request{Model: delta, Parallel: 2}, devices.Vulkan},
		{"prefill", halo(t, nil), Request{PrefillDevice: "hrx"}, devices.Vulkan},
		{"lean", halo(t, nil), Request{Lean: true}, devices.Vulkan},
	} {
		r := c.r
		r.Device = devices.Auto
		if r.Model == "" {
			r.Model = plain
		}
		if p := one(t, r, c.h); p.Device != c.want {
			t.Errorf("%s: %s, want %s", c.name, p.Device, c.want)
		}
	}
	if p := one(t, Request{Model: write(t, arch("gptj")), Device: devices.Vulkan}, halo(t, nil)); !strings.HasSuffix(p.Program, "hrx/llama/bin/llama-server") || p.Args[7] != "Vulkan0" {
		t.Errorf("only HRX has the architecture: %+v", p)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h := named(host(nil, "Vulkan0"))
	h.Able = func(ctx context.Context, _ string) (ability.Program, error) { return ability.Program{}, ctx.Err() }
	if _, err := New(ctx, Request{Model: plain, Device: devices.Auto}, h); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestADeviceMustBeListed: what the program does not list is refused before
// the model loads, and so is a GPU that is none.
func TestADeviceMustBeListed(t *testing.T) {
	path := write(t)
	h := halo(t, nil)
	h.Able = host(nil, "Vulkan0").Able
	wantRefused(t, Request{Model: path, Device: devices.HRX}, h, "--device hrx: ", "does not list the device HRX0, only Vulkan0")
	wantRefused(t, Request{Model: path, Device: devices.Vulkan, PrefillDevice: "hrx"}, h, "does not list the device HRX0")
	h.Able = host(nil).Able
	wantRefused(t, Request{Model: path, Device: devices.Vulkan}, h, "does not list the device Vulkan0, only the CPU")
	h.Able = func(context.Context, string) (ability.Program, error) {
		return ability.Program{DevicesKnown: true, Devices: []ability.Device{{Name: "Vulkan0", Description: "llvmpipe (LLVM 21)", Software: true}}}, nil
	}
	wantRefused(t, Request{Model: path, Device: devices.Vulkan}, h, "Vulkan0 is llvmpipe (LLVM 21), which runs on the CPU and is no GPU", "--software-gpu")
	if p := one(t, Request{Model: path, Device: devices.Vulkan, SoftwareGPU: true}, h); p.Device != devices.Vulkan {
		t.Errorf("%+v", p)
	}
	h.Able = func(context.Context, string) (ability.Program, error) { return ability.Program{Path: "/x"}, nil }
	s, err := New(t.Context(), Request{Model: path, Device: devices.Vulkan}, h)
	if err != nil || len(s.Notes) != 1 || !strings.Contains(s.Notes[0], "/x does not list its devices") {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestFlagsThatTheProgramLacks are refused with both spellings.
func TestFlagsThatTheProgramLacks(t *testing.T) {
	h := halo(t, nil)
	h.Able = func(_ context.Context, path string) (ability.Program, error) {
		return ability.Program{Path: path, FlagsKnown: true, DevicesKnown: true, Devices: []ability.Device{{Name: "HRX0"}, {Name: "Vulkan0"}},
			Flags: []ability.Flag{{Names: []string{"--jinja"}}, {Names: []string{"--device"}, Value: "X"}, {Names: []string{"--n-gpu-layers"}, Value: "N"}, {Names: []string{"-np"}, Value: "N"}}}, nil
	}
	wantRefused(t, Request{Model: write(t), Device: devices.HRX, Parallel: 2}, h, "--device hrx: llama-server knows neither -kvu nor --kv-unified")
	p := one(t, Request{Model: write(t), Device: devices.Vulkan}, h)
	if !strings.Contains(strings.Join(p.Args, " "), "--n-gpu-layers 99") {
		t.Errorf("%q", p.Args)
	}
}
