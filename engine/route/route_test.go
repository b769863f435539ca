// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package route

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/engine/ability"
	"github.com/1bit-MONSTER/engine/engine/devices"
	"github.com/1bit-MONSTER/engine/engine/gguf/gguftest"
)

var update = flag.Bool("update", false, "write the golden files")

// write writes a header with the given keys.
func write(t *testing.T, kv ...gguftest.KV) string {
	t.Helper()
	return gguftest.File{KV: kv}.Write(t, filepath.Join(t.TempDir(), "m.gguf"))
}

func arch(name string) gguftest.KV { return gguftest.KV{Key: "general.architecture", Value: name} }

var rotated = gguftest.KV{Key: rotatedKey, Value: int32(32)}

// host is a machine without anything; env are its variables. Its programs list
// the devices named, and take every flag.
func host(env map[string]string, lists ...string) Host {
	p := ability.Program{DevicesKnown: true}
	for _, name := range lists {
		p.Devices = append(p.Devices, ability.Device{Name: name, Description: "Radeon"})
	}
	return Host{
		Getenv:   func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		LookPath: func(string) (string, error) { return "", errors.New("not in PATH") },
		Able: func(_ context.Context, path string) (ability.Program, error) {
			p := p
			p.Path = path
			return p, nil
		},
		Memory: func() (int64, int64) { return 128 << 30, 100 << 30 },
		GOOS:   "linux",
	}
}

// halo is a host with all programs of a distribution, on a Strix Halo.
func halo(t *testing.T, env map[string]string) Host {
	t.Helper()
	h := host(env, "Vulkan0", "HRX0", "ROCm0")
	h.Dir = t.TempDir()
	for _, name := range []string{
		"vulkan/llama/bin/llama-server", "hrx/llama/bin/llama-server", "lean/llama/bin/llama-server",
		"lean/llama-rocm/bin/llama-server", "cpu/llama/bin/llama-server", "zinc/vulkan/bin/zinc", "mlx/bin/mlx-server", "1bit-npu", "laya/bin/laya",
	} {
		writeProgram(t, filepath.Join(h.Dir, name))
	}
	return h
}

// writeProgram writes a file that may be executed.
func writeProgram(t *testing.T, path string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// one plans a service and returns its only program.
func one(t *testing.T, r Request, h Host) Plan {
	t.Helper()
	s, err := New(t.Context(), r, h)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Main) != 1 {
		t.Fatalf("%d programs", len(s.Main))
	}
	return s.Main[0]
}

// wantRefused checks that a request is refused with words.
func wantRefused(t *testing.T, r Request, h Host, words ...string) {
	t.Helper()
	_, err := New(t.Context(), r, h)
	if err == nil {
		t.Errorf("%+v: no error, want %q", r, words)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%v\nwant %q", err, w)
		}
	}
}

func TestImpossibleRequests(t *testing.T) {
	path := write(t)
	for _, c := range []struct {
		want string
		r    Request
	}{
		{"--ctx-size -1", Request{CtxSize: -1}},
		{"--parallel -2", Request{Parallel: -2}},
		{"--flash-attn yes", Request{FlashAttn: "yes"}},
		{"--embedding and --reranking are two uses of a model; pick one", Request{Embedding: true, Reranking: true}},
		{"--mtp and --dflash are two drafters; pick one", Request{MTP: "a", DFlash: "b"}},
		{"--mtp-max and --mtp-p-min go with --mtp or --dflash", Request{DraftMax: 3}},
		{"--mtp-p-min 7", Request{DraftMin: "7", MTP: "a"}},
		{"--prefill-device vulkan", Request{PrefillDevice: "vulkan"}},
		{"--prefill-device hrx takes no --mmproj", Request{PrefillDevice: "hrx", MMProj: "x"}},
		{"needs flash attention", Request{PrefillDevice: "hrx", FlashAttn: "off"}},
		{"--moe-slots works with --device vulkan, without --prefill-device", Request{PrefillDevice: "hrx", MoESlots: "auto"}},
		{"--moe-slots many", Request{MoESlots: "many"}},
		{"--moe-subst and --moe-prefetch go with --moe-slots", Request{MoEPrefetch: 2}},
		{"--laya does not combine with --adaptive, --embedding/--reranking, --prefill-device or --lean", Request{Laya: true, Lean: true}},
		{"--laya-model and --route-policy go with --laya", Request{RoutePolicy: "x"}},
		{"--adaptive-at goes with --adaptive", Request{AdaptiveAt: 2}},
		{"--long-from goes with --long-model", Request{LongFrom: 2}},
		{"pick one", Request{Adaptive: true, LongModel: "x"}},
		{"--recipes and --no-recipes are opposites", Request{Recipes: "x", NoRecipes: true}},
		{"--npu-opt x: give KEY=VALUE", Request{NPUOptions: []string{"x"}}},
	} {
		c.r.Model, c.r.Device = path, devices.CPU
		wantRefused(t, c.r, halo(t, nil), c.want)
	}
}

func TestFlagsOfOtherDevices(t *testing.T) {
	path, h := write(t), halo(t, nil)
	for _, c := range []struct {
		d    devices.Name
		want string
		r    Request
	}{
		{devices.ZINC, "--device zinc takes no --parallel", Request{Parallel: 2}},
		{devices.MLX, "--device mlx takes no --ctx-size", Request{CtxSize: 5}},
		{devices.NPU, "--device npu takes no --mtp", Request{MTP: "x"}},
		{devices.ZINC, "--device zinc takes no --embedding", Request{Embedding: true}},
		{devices.HRX, "--lean runs on --device vulkan or rocm", Request{Lean: true}},
		{devices.CPU, "--prefill-device hrx works with --device vulkan", Request{PrefillDevice: "hrx"}},
		{devices.HRX, "--moe-slots works with --device vulkan, without --prefill-device", Request{MoESlots: "5"}},
		{devices.CPU, "--adaptive runs Vulkan with ROCm overflow; leave --device at auto or vulkan", Request{Adaptive: true}},
		{devices.CPU, "leave --device at auto or vulkan", Request{LongModel: path}},
		{devices.CPU, "--npu-opt works with --device npu", Request{NPUOptions: []string{"a=b"}}},
		{devices.CPU, "--hrx-libhsa works with --device hrx", Request{LibHSA: "/x"}},
	} {
		c.r.Model, c.r.Device = path, c.d
		if c.d == devices.MLX {
			c.r.Model = "owner/name"
		}
		wantRefused(t, c.r, h, c.want)
	}
}

func TestUserVariablesWin(t *testing.T) {
	r := Request{Model: write(t, rotated), Device: devices.Auto}
	got := one(t, r, halo(t, map[string]string{"GGML_W4A4_TENSORS": ""}))
	if strings.Join(got.Env, " ") != "GGML_Q4_0_HADAMARD=1" {
		t.Errorf("%q", got.Env)
	}
}

func TestAlias(t *testing.T) {
	for in, want := range map[string]string{
		"/models/qwen3-8b.gguf": "qwen3-8b", "a.b.gguf": "a.b", "dir/model.bin": "model.bin", "x.1bp": "x", "models/npu/": "npu", "owner/name": "name",
	} {
		if got := Alias(in); got != want {
			t.Errorf("Alias(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestPortIsPutIn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "PORT") // a name like the mark
	if err := os.WriteFile(path, gguftest.File{}.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, d := range []devices.Name{devices.CPU, devices.ZINC} {
		argv := one(t, Request{Model: path, Device: d}, halo(t, nil)).Argv(4711)
		if argv[1] != path || strings.Count(strings.Join(argv, " "), " 4711") != 1 {
			t.Errorf("%s: %q", d, argv)
		}
	}
}
