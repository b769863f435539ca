// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package route

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/1bit-MONSTER/engine/engine/devices"
	"github.com/1bit-MONSTER/engine/engine/gguf/gguftest"
)

var update = flag.Bool("update", false, "write the golden files")

// model writes a header with the given keys and reads it.
func model(t *testing.T, kv ...gguftest.KV) Model {
	t.Helper()
	path := gguftest.File{KV: kv}.Write(t, filepath.Join(t.TempDir(), "m.gguf"))
	m, err := ReadModel(path)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// host is a machine without anything; env are its variables.
func host(env map[string]string) Host {
	return Host{
		Getenv:   func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		LookPath: func(string) (string, error) { return "", errors.New("not in PATH") },
		List:     func(context.Context, string) ([]string, error) { return nil, errors.New("not asked for") },
		GOOS:     "linux",
	}
}

// program writes a file that may be executed.
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

// TestPlans holds the command line and environment of every row, over the
// cross product of its flags, against testdata/plans.golden.
func TestPlans(t *testing.T) {
	m := model(t)
	server := writeProgram(t, filepath.Join(t.TempDir(), "llama-server"))
	var out strings.Builder
	for _, row := range rows() {
		for _, ctx := range []int{0, 4096} {
			for _, parallel := range []int{0, 2} {
				for _, fa := range []string{"", "on"} {
					for _, role := range []string{"", "embedding", "reranking"} {
						r := Request{Model: m.Path, Device: row.device, CtxSize: ctx, Parallel: parallel, FlashAttn: fa,
							Embedding: role == "embedding", Reranking: role == "reranking", LlamaServer: server}
						plan, err := New(t.Context(), r, m, host(nil))
						if err != nil {
							t.Fatal(err)
						}
						if plan.Device != row.device || plan.Program != server || plan.Ready == "" || len(plan.Forward) == 0 {
							t.Errorf("%s: incomplete plan %+v", row.device, plan)
						}
						line := strings.ReplaceAll(strings.Join(plan.Args, " "), m.Path, "MODEL")
						fmt.Fprintf(&out, "%s ctx=%d parallel=%d fa=%s role=%s: %s env=%q\n", row.device, ctx, parallel, fa, role, line, plan.Env)
					}
				}
			}
		}
	}
	golden := filepath.Join("testdata", "plans.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), out.String()); d != "" {
		t.Errorf("(-want +got; refresh with: go test ./engine/route -run TestPlans -update)\n%s", d)
	}
}

func TestDevicesWithoutARow(t *testing.T) {
	m := model(t)
	for _, d := range []devices.Name{devices.NPU, devices.HRX, devices.ROCm, devices.ZINC, devices.MLX} {
		_, err := New(t.Context(), Request{Model: m.Path, Device: d}, m, host(nil))
		var refusal *Refusal
		if !errors.As(err, &refusal) || refusal.Device != d || err.Error() != "--device "+string(d)+": not in this build, which has auto, vulkan, cpu" {
			t.Errorf("%s: %v", d, err)
		}
	}
}

func TestRotatedModelsAreRefused(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{
		{int32(32), "Hadamard-rotated"},
		{uint8(32), "Hadamard-rotated"},
		{uint64(32), "Hadamard-rotated"},
		{int32(64), "onebit.hadamard_q4_0 = 64; only 32 is known"},
		{int32(0), "onebit.hadamard_q4_0 = 0; only 32 is known"},
		{"32", "no integer"},
		{float32(32), "no integer"},
	} {
		m := model(t, gguftest.KV{Key: "onebit.hadamard_q4_0", Value: c.value})
		for _, row := range rows() {
			_, err := New(t.Context(), Request{Model: m.Path, Device: row.device}, m, host(nil))
			var refusal *Refusal
			if !errors.As(err, &refusal) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s with %T(%v): %v", row.device, c.value, c.value, err)
			}
		}
	}
}

func TestImpossibleRequests(t *testing.T) {
	m := model(t)
	for want, r := range map[string]Request{
		"--ctx-size -1":    {CtxSize: -1},
		"--parallel -2":    {Parallel: -2},
		"--flash-attn yes": {FlashAttn: "yes"},
		"pick one":         {Embedding: true, Reranking: true},
	} {
		r.Device = devices.CPU
		if _, err := New(t.Context(), r, m, host(nil)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestUserVariablesWin(t *testing.T) {
	h := host(map[string]string{"SET": "", "OTHER": "x"})
	got := missing([]string{"SET=1", "UNSET=a=b"}, h.Getenv)
	if d := cmp.Diff([]string{"UNSET=a=b"}, got); d != "" {
		t.Error(d)
	}
}

func TestAlias(t *testing.T) {
	for in, want := range map[string]string{
		"/models/qwen3-8b.gguf": "qwen3-8b", "a.b.gguf": "a.b", "dir/model.bin": "model.bin",
	} {
		if got := Alias(in); got != want {
			t.Errorf("Alias(%q) = %q, want %q", in, got, want)
		}
	}
}
