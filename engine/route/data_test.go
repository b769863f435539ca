// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package route

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/1bit-MONSTER/engine/engine/devices"
	"github.com/1bit-MONSTER/engine/engine/gguf/gguftest"
)

func TestBuiltinData(t *testing.T) {
	if _, err := ParseRecipes(builtinRecipes); err != nil {
		t.Error(err)
	}
	p, err := ParsePolicy(builtinPolicy)
	if err != nil || p.MinConfidence != 0.16 || len(p.Classes) != 4 {
		t.Errorf("%+v, %v", p, err)
	}
}

const recipeFile = `{"about": "x", "recipes": [
 {"id": "one", "match": {"device": ["vulkan"], "architecture": ["llama"], "moe": false, "drafter": ["none"]},
  "args": ["-b", "4096", "--flash-attn", "on", "--temp", "-1", "-nr"], "env": {"B": "2", "A": "1"}, "why": "because", "measured": "10 % on 2026-10-01", "source": "s"},
 {"id": "two", "match": {"hadamard_q4_0": false}, "args": ["-b", "1", "--batch-size", "2", "--cache-ram", "0"], "env": {"A": "9"}, "why": "more", "measured": "m", "source": ""},
 {"id": "other", "match": {"moe": true}, "args": ["--x"], "why": "w", "measured": "m"}]}`

// TestRecipes: they come in the order of the file, never over a flag that is
// there, and the user's variables win.
func TestRecipes(t *testing.T) {
	file := writeText(t, t.TempDir()+"/r.json", recipeFile)
	h := halo(t, map[string]string{"B": ""})
	r := Request{Model: write(t, arch("llama")), Device: devices.Vulkan, Recipes: file, FlashAttn: "off"}
	s, err := New(t.Context(), r, h)
	if err != nil {
		t.Fatal(err)
	}
	p := s.Main[0]
	if got, want := strings.Join(p.Args[6:], " "), "--device Vulkan0 -ngl 99 --jinja -fa off -b 4096 --temp -1 -nr --cache-ram 0"; got != want {
		t.Errorf("args %q\nwant %q", got, want)
	}
	if d := cmp.Diff([]string{"A=1"}, p.Env); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"recipe one: because", "recipe two: more"}, s.Notes); d != "" {
		t.Error(d)
	}
	r.Recipes = writeText(t, t.TempDir()+"/r.json", `{"recipes":[{"id":"a\u001b[31m","args":["-b","1"],"why":"w\u0007\nREADY","measured":"m"}]}`)
	if s, err = New(t.Context(), r, h); err != nil || len(s.Notes) != 1 || s.Notes[0] != "recipe a: w READY" {
		t.Errorf("text for a terminal: %q, %v", s.Notes, err)
	}
	r.Recipes, r.NoRecipes = "", true
	if p := one(t, r, h); len(p.Env) != 0 || len(p.Args) != 13 {
		t.Errorf("%+v", p)
	}
}

func TestBadRecipes(t *testing.T) {
	one := func(fields string) string { return `{"about":"","recipes":[{` + fields + `}]}` }
	for in, want := range map[string]string{
		one(`"id":"a","args":["-b","1"],"why":"w"`):                                        "it has no measured",
		one(`"args":["-b","1"],"why":"w","measured":"m"`):                                  "it has no id",
		one(`"id":"a","args":["-b","1"],"measured":"m"`):                                   "it has no why",
		one(`"id":"a","why":"w","measured":"m"`):                                           "it sets nothing",
		one(`"id":"a","args":["b"],"why":"w","measured":"m"`):                              "which is no flag",
		one(`"id":"a","args":["--port","1"],"why":"w","measured":"m"`):                     "it may not set --port: serve does",
		one(`"id":"a","args":["-dev","x"],"why":"w","measured":"m"`):                       "it may not set -dev: serve does",
		one(`"id":"a","match":{"device":["auto"]},"args":["-b"],"why":"w","measured":"m"`): "there is no device \"auto\"",
		one(`"id":"a","match":{"drafter":["x"]},"args":["-b"],"why":"w","measured":"m"`):   "there is no drafter \"x\"",
		one(`"id":"a","match":{"gpu":["x"]},"args":["-b"],"why":"w","measured":"m"`):       "unknown field \"gpu\"",
		one(`"id":"a","args":["-b"],"env":{"A B":"1"},"why":"w","measured":"m"`):           "is no name of a variable",
		`{"recipes":[]} {}`: "there is more after the end",
		`[]`:                "it is no JSON object, but array",
		``:                  "it is empty, not JSON",
		`{"recipes":{}}`:    "recipes can not be JSON's object",
		one(`"id":"a","args":["--port=1"],"why":"w","measured":"m"`):                                                        "\"--port=1\": give the flag and its value as two",
		`{"recipes":[{"id":"a","args":["-b"],"why":"w","measured":"m"},{"id":"a","args":["-b"],"why":"w","measured":"m"}]}`: "there are two with the id a",
	} {
		if _, err := ParseRecipes([]byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", in, err, want)
		}
	}
	wantRefused(t, Request{Model: write(t), Device: devices.CPU, Recipes: "/absent"}, halo(t, nil), "--recipes: ")
}

func TestBadPolicies(t *testing.T) {
	for in, want := range map[string]string{
		`{"classes":{"poem":{"device":"cpu"}}}`:                    "there is no class \"poem\"",
		`{"classes":{"code":{}}}`:                                  "class code: it has no device",
		`{"classes":{"code":{"device":"cuda"}}}`:                   "class code: there is no device \"cuda\"",
		`{"classes":{"code":{"device":"auto"}}}`:                   "no device \"auto\" to route to",
		`{"classes":{}}`:                                           "it has no classes",
		`{"default":"x","classes":{"code":{"device":"cpu"}}}`:      "default: there is no device",
		`{"min_confidence":2,"classes":{"code":{"device":"cpu"}}}`: "is not from 0 to 1",
		`{"minimum":0,"classes":{"code":{"device":"cpu"}}}`:        "unknown field",
		`{"classes":{"code":{"device":"cpu","model":"x"}}}`:        "unknown field",
	} {
		if _, err := ParsePolicy([]byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", in, err, want)
		}
	}
}

func TestPolicyChooses(t *testing.T) {
	p := Policy{MinConfidence: 0.16, Default: "vulkan", Classes: map[string]Class{Code: {"hrx"}, LongDoc: {"rocm"}}}
	all := []devices.Name{devices.HRX, devices.ROCm, devices.Vulkan}
	for _, c := range []struct {
		class      string
		confidence float64
		have       []devices.Name
		want       devices.Name
	}{
		{Code, 0.16, all, devices.HRX},
		{Code, 0.15, all, devices.Vulkan},
		{LongDoc, 1, all, devices.ROCm},
		{Prose, 1, all, devices.Vulkan},
		{"", 0, all, devices.Vulkan},
		{LongDoc, 1, []devices.Name{devices.HRX, devices.Vulkan}, devices.Vulkan},
		{LongDoc, 1, []devices.Name{devices.HRX, devices.CPU}, devices.HRX},
	} {
		if got := c.have[p.Choose(c.class, c.confidence, c.have)]; got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// TestExpertsInMemory: what --moe-slots auto computes.
func TestExpertsInMemory(t *testing.T) {
	experts := func(name string, n uint64) gguftest.Tensor { // n KiB in all
		return gguftest.Tensor{Name: name, Shape: []uint64{256, n}, Data: make([]byte, n<<10)}
	}
	file := gguftest.File{
		KV: []gguftest.KV{arch("llama"), {Key: "llama.expert_count", Value: uint32(128)}},
		Tensors: []gguftest.Tensor{
			experts("blk.0.ffn_up_exps.weight", 64), experts("blk.0.ffn_down_exps.weight", 64), experts("blk.1.ffn_up_exps.weight", 128),
			experts("blk.0.attn_q.weight", 100), experts("per_layer_token_embd.weight", 300),
		},
	}
	path := file.Write(t, t.TempDir()+"/moe.gguf")
	for _, c := range []struct {
		name             string
		total, available int64
		slots            string
	}{
		{"room for all", 128 << 30, 100 << 30, "256"},
		{"room for none", 8 << 30, 1 << 30, "128"}, // 64 for each of two layers
		{"room for some", 16 << 30, 8<<30 + 100<<10 + 200<<10, "200"},
		{"a share of a large machine stays free", 100 << 30, 15<<30 + 100<<10 + 180<<10, "180"},
	} {
		h := halo(t, nil)
		h.Memory = func() (int64, int64) { return c.total, c.available }
		p := one(t, Request{Model: path, Device: devices.Auto, MoESlots: "auto"}, h)
		if p.Device != devices.Vulkan || p.Env[1] != "ONEBIT_MOE_SLOTS="+c.slots {
			t.Errorf("%s: %s %q, want %s", c.name, p.Device, p.Env, c.slots)
		}
	}
	h := halo(t, nil)
	h.Memory = func() (int64, int64) { return 0, 0 }
	wantRefused(t, Request{Model: path, Device: devices.Vulkan, MoESlots: "auto"}, h, "it is unknown how much memory is free")
	wantRefused(t, Request{Model: write(t, arch("llama")), Device: devices.Vulkan, MoESlots: "7"}, h, "has no experts")
	for _, n := range []any{uint64(1) << 62, int32(-4), int64(1)<<62 + 1} { // times four layers: 0 in 64 bits, and worse
		file.KV[1].Value = n
		file.Tensors = file.Tensors[:2]
		for layer := range 4 {
			file.Tensors = append(file.Tensors, experts(fmt.Sprintf("blk.%d.ffn_gate_exps.weight", layer), 1))
		}
		wantRefused(t, Request{Model: file.Write(t, t.TempDir()+"/moe.gguf"), Device: devices.Vulkan, MoESlots: "auto"}, halo(t, nil), "has no experts")
	}
	if total, available := systemMemory(); total > 0 && available > total {
		t.Errorf("%d of %d", available, total)
	}
}
