// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package route

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/1bit-MONSTER/engine/engine/devices"
	"github.com/1bit-MONSTER/engine/engine/gguf/gguftest"
)

// A choice is one flag with one of its values.
type choice struct {
	name string
	set  func(*Request)
}

var nothing = choice{"", func(*Request) {}}

// TestPlans holds the command line and environment of every row, over the
// cross product of its flags, against testdata/plans.golden. Where a flag is
// refused for a row, the line has the reason.
func TestPlans(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, kv ...gguftest.KV) string {
		return gguftest.File{KV: kv}.Write(t, filepath.Join(dir, name))
	}
	experts := gguftest.KV{Key: "llama.expert_count", Value: uint32(8)}
	model := file("m.gguf", arch("llama"), experts)
	delta := file("d.gguf", arch("qwen35"), experts)
	ternary := file("t.gguf", arch("llama"), gguftest.KV{Key: ternaryKey, Value: uint32(128)})
	turned := file("h.gguf", arch("llama"), rotated)
	head, block, eye := file("head.gguf"), file("block.gguf", gguftest.KV{Key: "dflash.block_size", Value: uint32(8)}), file("eye.gguf")

	common := [][]choice{
		{nothing, {"ctx", func(r *Request) { r.CtxSize = 4096 }}},
		{nothing, {"parallel", func(r *Request) { r.Parallel = 2 }}},
		{nothing, {"fa", func(r *Request) { r.FlashAttn = "off" }}},
		{nothing, {"embedding", func(r *Request) { r.Embedding = true }}, {"reranking", func(r *Request) { r.Reranking = true }},
			{"mtp", func(r *Request) { r.MTP, r.DraftMax, r.DraftMin = head, 3, "0.5" }}, {"dflash", func(r *Request) { r.DFlash = block }},
			{"dflash-plain", func(r *Request) { r.DFlash = head }}, {"mmproj", func(r *Request) { r.MMProj = eye }}},
	}
	modes := []choice{nothing, {"lean", func(r *Request) { r.Lean = true }},
		{"prefill", func(r *Request) { r.PrefillDevice, r.FlashAttn = "hrx", "" }},
		{"prefill-min", func(r *Request) { r.PrefillDevice, r.PrefillMinTokens, r.FlashAttn = "hrx", 512, "" }},
		{"moe", func(r *Request) { r.MoESlots = "96" }},
		{"moe-all", func(r *Request) { r.MoESlots, r.MoESubst, r.MoEPrefetch = "96", "0.2", 4 }}}
	small := [][]choice{{nothing, {"ctx", func(r *Request) { r.CtxSize = 4096 }}}}
	var out strings.Builder
	h := halo(t, nil)
	plan := func(label, model string, d devices.Name, lists ...[]choice) {
		for _, picked := range product(lists) {
			r := Request{Model: model, Device: d}
			line := label
			for _, c := range picked {
				c.set(&r)
				line += strings.TrimRight(" "+c.name, " ")
			}
			s, err := New(t.Context(), r, h)
			if err != nil {
				fmt.Fprintf(&out, "%s: refused: %v\n", line, err)
				continue
			}
			p := s.Main[0]
			program, err := filepath.Rel(h.Dir, p.Program)
			if err != nil || p.Device != d || p.Ready == "" || len(p.Forward) == 0 {
				t.Errorf("%s: incomplete plan %+v: %v", line, p, err)
			}
			fmt.Fprintf(&out, "%s: %s %s%s\n", line, program, strings.Join(p.Args, " "), strings.Join(append([]string{""}, p.Env...), " +"))
		}
	}
	plan("vulkan", model, devices.Vulkan, append([][]choice{modes}, common...)...)
	plan("hrx", model, devices.HRX, common...)
	plan("hrx-delta", delta, devices.HRX, common[:2]...)
	plan("hrx-ternary", ternary, devices.HRX, common[:2]...)
	plan("rocm", model, devices.ROCm, append([][]choice{modes[:2]}, common...)...)
	plan("rocm-rotated", turned, devices.ROCm, common...)
	plan("cpu", model, devices.CPU, common...)
	plan("npu", model, devices.NPU, append(small, []choice{nothing, {"npu-opt", func(r *Request) { r.NPUOptions = []string{"a=b", "c=d"} }}})...)
	plan("zinc", model, devices.ZINC, small...)
	plan("mlx", "owner/name", devices.MLX, small...)

	got := strings.NewReplacer(dir+"/", "").Replace(out.String())
	golden := filepath.Join("testdata", "plans.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("(-want +got; refresh with: go test ./engine/route -run TestPlans -update)\n%s", cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")))
	}
}

// product returns every way to take one choice of each list.
func product(lists [][]choice) [][]choice {
	all := [][]choice{nil}
	for _, list := range lists {
		var next [][]choice
		for _, have := range all {
			for _, c := range list {
				next = append(next, append(have[:len(have):len(have)], c))
			}
		}
		all = next
	}
	return all
}
