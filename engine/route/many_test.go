// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package route

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/engine/devices"
)

// lines are the programs of a service, one a line.
func lines(s Service, dir string) string {
	var out []string
	for _, p := range append(append([]Plan{}, s.Main...), s.RAG...) {
		out = append(out, strings.TrimSpace(p.Role+" "+strings.TrimPrefix(p.Program, dir+"/")+" "+strings.Join(p.Args[2:], " ")+" +"+strings.Join(p.Env, " +")))
	}
	return strings.Join(out, "\n")
}

const address = " --host 127.0.0.1 --port PORT"

func TestServicesOfSeveralPrograms(t *testing.T) {
	h := halo(t, nil)
	plain, turned, draft := write(t, arch("llama")), write(t, rotated), write(t)
	for _, c := range []struct {
		name string
		r    Request
		how  How
		want []string
	}{
		{"adaptive", Request{Adaptive: true, MTP: draft}, Adaptive, []string{
			"vulkan/llama/bin/llama-server" + address + " --device Vulkan0 -ngl 99 --jinja -np 1 --spec-type draft-mtp -md " + draft + " -ngld 99 +",
			"lean/llama-rocm/bin/llama-server" + address + " --device ROCm0 -ngl 99 --jinja -np 16 +"}},
		{"adaptive at three", Request{Adaptive: true, AdaptiveAt: 3}, Adaptive, []string{
			"vulkan/llama/bin/llama-server" + address + " --device Vulkan0 -ngl 99 --jinja -np 3 +",
			"lean/llama-rocm/bin/llama-server" + address + " --device ROCm0 -ngl 99 --jinja -np 16 +"}},
		{"long model", Request{LongModel: turned}, Long, []string{
			"vulkan/llama/bin/llama-server" + address + " --device Vulkan0 -ngl 99 --jinja +",
			"lean/llama-rocm/bin/llama-server" + address + " --device ROCm0 -ngl 99 --jinja +GGML_Q4_0_HADAMARD=1 +GGML_W4A4_TENSORS=all"}},
		{"beside vulkan", Request{Device: devices.Vulkan, Embed: plain, Rerank: plain}, Single, []string{
			"vulkan/llama/bin/llama-server" + address + " --device Vulkan0 -ngl 99 --jinja +",
			"embedding vulkan/llama/bin/llama-server" + address + " --device Vulkan0 -ngl 99 -c 8192 -b 8192 -ub 8192 -np 4 --embedding +",
			"reranking vulkan/llama/bin/llama-server" + address + " --device Vulkan0 -ngl 99 -c 8192 -b 8192 -ub 8192 -np 4 --reranking +"}},
		{"beside hrx", Request{Device: devices.HRX, Embed: plain}, Single, []string{
			"hrx/llama/bin/llama-server" + address + " --device HRX0 -ngl 99 --jinja +",
			"embedding hrx/llama/bin/llama-server" + address + " --device HRX0 -ngl 99 -c 2048 -b 2048 -ub 2048 -np 1 --embedding +"}},
		{"beside the CPU", Request{Device: devices.CPU, Rerank: plain}, Single, []string{
			"cpu/llama/bin/llama-server" + address + " -ngl 0 --jinja +",
			"reranking cpu/llama/bin/llama-server" + address + " -ngl 0 -c 8192 -b 8192 -ub 8192 -np 4 --reranking +"}},
	} {
		c.r.Model = plain
		if c.r.Device == "" {
			c.r.Device = devices.Auto
		}
		s, err := New(t.Context(), c.r, h)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := lines(s, h.Dir); got != strings.Join(c.want, "\n") || s.Pick.How != c.how {
			t.Errorf("%s: %q\n%s\nwant\n%s", c.name, s.Pick.How, got, strings.Join(c.want, "\n"))
		}
	}
	s, err := New(t.Context(), Request{Model: plain, Device: devices.Auto, LongModel: turned}, h)
	if err != nil || s.Pick.From != 2048 {
		t.Errorf("%+v, %v", s.Pick, err)
	}
}

func TestSeveralProgramsAreRefused(t *testing.T) {
	h := halo(t, nil)
	plain, turned := write(t), write(t, rotated)
	wantRefused(t, Request{Model: plain, Device: devices.Auto, LongModel: plain}, h, "--long-model takes a Hadamard-rotated Q4_0")
	wantRefused(t, Request{Model: turned, Device: devices.Auto, LongModel: turned}, h, "is already on the W4A4 route; -m is the model for short prompts")
	wantRefused(t, Request{Model: turned, Device: devices.Vulkan, LongModel: turned}, h, "is already on the W4A4 route; -m is the model for short prompts")
	wantRefused(t, Request{Model: plain, Device: devices.HRX, LongModel: turned}, h, "leave --device at auto or vulkan")
	wantRefused(t, Request{Model: plain, Device: devices.ROCm, Adaptive: true}, h, "--adaptive runs Vulkan with ROCm overflow; leave --device at auto or vulkan")
	wantRefused(t, Request{Model: plain, Device: devices.Vulkan, Embed: turned}, h, "--embed: ", "Hadamard-rotated")
	wantRefused(t, Request{Model: plain, Device: devices.Vulkan, Rerank: "/absent"}, h, "--rerank: /absent: no such file")
	wantRefused(t, Request{Model: turned, Device: devices.Auto, Laya: true}, h, "--laya routes among devices", "Hadamard-rotated")
}

func TestLaya(t *testing.T) {
	dir := t.TempDir()
	env := map[string]string{"XDG_DATA_HOME": dir}
	h := halo(t, env)
	plain := write(t)
	r := Request{Model: plain, Device: devices.Auto, Laya: true}
	wantRefused(t, r, h, "--laya: there is no model at "+filepath.Join(dir, "1bit", "laya"))
	os.MkdirAll(filepath.Join(dir, "1bit", "laya", "gguf"), 0o755)
	wantRefused(t, r, h, "has no GGUF file", "safetensors")
	writeText(t, filepath.Join(dir, "1bit", "laya", "gguf", "a.gguf"), "")
	want := writeText(t, filepath.Join(dir, "1bit", "laya", "gguf", "typed-decisions.gguf"), "")
	s, err := New(t.Context(), r, h)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(s.Pick.Scorer.Args, " "); got != "daemon "+want+" --family typed-decisions --device hrx" {
		t.Errorf("%s", got)
	}
	var have []string
	for _, p := range s.Main {
		have = append(have, string(p.Device))
	}
	if strings.Join(have, " ") != "hrx rocm vulkan" || s.Pick.How != Laya {
		t.Errorf("%q %q", have, s.Pick.How)
	}
	os.RemoveAll(filepath.Join(h.Dir, "lean"))
	if s, err = New(t.Context(), r, h); err != nil || len(s.Main) != 2 || len(s.Notes) != 1 || !strings.HasPrefix(s.Notes[0], "--laya goes without rocm: --device rocm: not in this build") {
		t.Errorf("%+v, %v", s.Notes, err)
	}
	r.RoutePolicy = writeText(t, filepath.Join(dir, "p.json"), `{"classes":{"code":{"device":"rocm"}}}`)
	wantRefused(t, r, h, "none of the devices of the route policy can be used", "not in this build")
	r.RoutePolicy, r.Device = "", devices.CPU
	if s, err = New(t.Context(), r, h); err != nil || s.Pick.How != Single || len(s.Notes) != 1 || s.Notes[0] != "--laya only acts with --device auto" {
		t.Errorf("%+v, %v", s, err)
	}
	r.Device = devices.Auto
	os.RemoveAll(filepath.Join(h.Dir, "laya"))
	wantRefused(t, r, h, "not in this build: there is no laya/bin/laya", "ONEBIT_LAYA_GGML")
}
