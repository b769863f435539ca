// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package route

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/1bit-MONSTER/engine/engine/devices"
)

// A Request is what the user asked for, from the command line. A zero value is
// a flag that was not given.
type Request struct {
	Model     string // path of a file or folder, or an id for MLX
	Device    devices.Name
	CtxSize   int    // tokens
	Parallel  int    // requests at once
	FlashAttn string // on, off, auto
	Embedding bool
	Reranking bool

	PrefillDevice    string // "hrx"
	PrefillMinTokens int
	Lean             bool

	MTP      string // file of a head that drafts
	DFlash   string // file of a model that drafts
	DraftMax int    // tokens
	DraftMin string // probability below which a draft ends, as written

	MMProj string // file

	MoESlots    string // a number, or "auto"
	MoESubst    string // as written
	MoEPrefetch int

	Adaptive   bool
	AdaptiveAt int
	LongModel  string // file
	LongFrom   int    // tokens
	Embed      string // file of a model for embedding
	Rerank     string // file of a model for reranking

	Laya        bool
	LayaModel   string // file or folder
	RoutePolicy string // file

	Recipes   string // file
	NoRecipes bool

	NPUOptions []string // KEY=VALUE

	LlamaServer string // path or name of a program, as the next two
	ZINC        string
	MLXServer   string
	LibHSA      string // path of the HSA runtime, or of its folder

	SoftwareGPU bool // a renderer on the CPU may pass for a GPU
}

// check refuses what no device can do.
func (r Request) check() error {
	for _, rule := range rules {
		if rule.when(r) {
			return fmt.Errorf("%s", rule.say)
		}
	}
	switch {
	case r.CtxSize < 0:
		return fmt.Errorf("--ctx-size %d: give a number of tokens, or 0 for the model's own", r.CtxSize)
	case r.Parallel < 0:
		return fmt.Errorf("--parallel %d: give a number of requests, or 0 for the program's own", r.Parallel)
	case r.FlashAttn != "" && !slices.Contains([]string{"on", "off", "auto"}, r.FlashAttn):
		return fmt.Errorf("--flash-attn %s: give on, off or auto", r.FlashAttn)
	case r.PrefillDevice != "" && r.PrefillDevice != string(devices.HRX):
		return fmt.Errorf("--prefill-device %s: only hrx can do the prompt for another device", r.PrefillDevice)
	case r.PrefillMinTokens < 0 || r.DraftMax < 0 || r.MoEPrefetch < 0 || r.AdaptiveAt < 0 || r.LongFrom < 0:
		return fmt.Errorf("--prefill-min-tokens, --mtp-max, --moe-prefetch, --adaptive-at and --long-from take no negative numbers")
	}
	if r.DraftMin != "" {
		if p, err := strconv.ParseFloat(r.DraftMin, 64); err != nil || p < 0 || p > 1 {
			return fmt.Errorf("--mtp-p-min %s: give a probability from 0 to 1", r.DraftMin)
		}
	}
	if _, err := r.slots(); err != nil {
		return err
	}
	for _, o := range r.NPUOptions {
		if key, _, ok := strings.Cut(o, "="); !ok || key == "" {
			return fmt.Errorf("--npu-opt %s: give KEY=VALUE", o)
		}
	}
	return nil
}

// slots returns the number of --moe-slots: 0 without it, -1 for auto.
func (r Request) slots() (int, error) {
	switch r.MoESlots {
	case "":
		return 0, nil
	case "auto":
		return -1, nil
	}
	n, err := strconv.Atoi(r.MoESlots)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("--moe-slots %s: give a number of experts, or auto", r.MoESlots)
	}
	return n, nil
}

// moe says whether experts are streamed.
func (r Request) moe() bool { n, _ := r.slots(); return n != 0 }

// drafts says whether there is a drafter.
func (r Request) drafts() bool { return r.MTP != "" || r.DFlash != "" }

// rules are combinations of flags that make no sense on any device.
var rules = []struct {
	when func(Request) bool
	say  string
}{
	{func(r Request) bool { return r.Embedding && r.Reranking }, "--embedding and --reranking are two uses of a model; pick one"},
	{func(r Request) bool { return r.MTP != "" && r.DFlash != "" }, "--mtp and --dflash are two drafters; pick one"},
	{func(r Request) bool { return (r.DraftMax != 0 || r.DraftMin != "") && !r.drafts() }, "--mtp-max and --mtp-p-min go with --mtp or --dflash"},
	{func(r Request) bool { return (r.Embedding || r.Reranking) && (r.drafts() || r.MMProj != "") }, "--embedding and --reranking take no --mtp, --dflash or --mmproj: such a model writes no text"},
	{func(r Request) bool { return r.moe() && r.PrefillDevice != "" }, "--moe-slots works with --device vulkan, without --prefill-device"},
	{func(r Request) bool { return (r.MoESubst != "" || r.MoEPrefetch != 0) && !r.moe() }, "--moe-subst and --moe-prefetch go with --moe-slots"},
	{func(r Request) bool { return r.PrefillMinTokens != 0 && r.PrefillDevice == "" }, "--prefill-min-tokens goes with --prefill-device hrx"},
	{func(r Request) bool { return r.PrefillDevice != "" && r.MMProj != "" }, "--prefill-device hrx takes no --mmproj: prompts with images can not be shared between two devices"},
	{func(r Request) bool { return r.PrefillDevice != "" && r.Lean }, "--prefill-device hrx takes no --lean: they are two builds of llama-server"},
	{func(r Request) bool { return r.PrefillDevice != "" && (r.FlashAttn == "off" || r.FlashAttn == "auto") }, "--prefill-device hrx needs flash attention on both devices: leave out --flash-attn, or give on"},
	{func(r Request) bool {
		return r.Laya && (r.Adaptive || r.Embedding || r.Reranking || r.PrefillDevice != "" || r.Lean)
	}, "--laya does not combine with --adaptive, --embedding/--reranking, --prefill-device or --lean"},
	{func(r Request) bool { return r.LongModel != "" && (r.Laya || r.Adaptive) }, "--long-model, --adaptive and --laya are three ways to share requests; pick one"},
	{func(r Request) bool { return r.LongModel != "" && (r.Embedding || r.Reranking || r.Lean) }, "--long-model does not combine with --embedding/--reranking or --lean"},
	{func(r Request) bool { return r.Adaptive && (r.Embedding || r.Reranking || r.Lean) }, "--adaptive does not combine with --embedding/--reranking or --lean"},
	{func(r Request) bool { return r.Adaptive && r.PrefillDevice != "" }, "--adaptive does not combine with --prefill-device"},
	{func(r Request) bool { return (r.LayaModel != "" || r.RoutePolicy != "") && !r.Laya }, "--laya-model and --route-policy go with --laya"},
	{func(r Request) bool { return r.AdaptiveAt != 0 && !r.Adaptive }, "--adaptive-at goes with --adaptive"},
	{func(r Request) bool { return r.LongFrom != 0 && r.LongModel == "" }, "--long-from goes with --long-model"},
	{func(r Request) bool { return r.Recipes != "" && r.NoRecipes }, "--recipes and --no-recipes are opposites; pick one"},
}

// llamas are the devices of a llama-server.
var llamas = []devices.Name{devices.Vulkan, devices.HRX, devices.ROCm, devices.CPU}

// features are the flags that only some devices take.
var features = []struct {
	flag string
	set  func(Request) bool
	on   []devices.Name
	say  string // empty: "takes no FLAG"
}{
	{"--parallel", func(r Request) bool { return r.Parallel > 1 }, llamas, ""},
	{"--flash-attn", func(r Request) bool { return r.FlashAttn != "" }, llamas, ""},
	{"--mtp", func(r Request) bool { return r.MTP != "" }, llamas, ""},
	{"--dflash", func(r Request) bool { return r.DFlash != "" }, llamas, ""},
	{"--mmproj", func(r Request) bool { return r.MMProj != "" }, llamas, ""},
	{"--embedding", func(r Request) bool { return r.Embedding }, llamas, ""},
	{"--reranking", func(r Request) bool { return r.Reranking }, llamas, ""},
	{"--ctx-size", func(r Request) bool { return r.CtxSize > 0 }, append([]devices.Name{devices.NPU, devices.ZINC}, llamas...), ""},
	{"--lean", func(r Request) bool { return r.Lean }, []devices.Name{devices.Vulkan, devices.ROCm}, "--lean runs on --device vulkan or rocm"},
	{"--prefill-device", func(r Request) bool { return r.PrefillDevice != "" }, []devices.Name{devices.Vulkan}, "--prefill-device hrx works with --device vulkan"},
	{"--moe-slots", func(r Request) bool { return r.moe() }, []devices.Name{devices.Vulkan}, "--moe-slots works with --device vulkan, without --prefill-device"},
	{"--adaptive", func(r Request) bool { return r.Adaptive }, []devices.Name{devices.Vulkan, devices.ROCm}, "--adaptive runs Vulkan with ROCm overflow; leave --device at auto or vulkan"},
	{"--long-model", func(r Request) bool { return r.LongModel != "" }, []devices.Name{devices.Vulkan, devices.ROCm}, "--long-model has short conversations on Vulkan and long ones on ROCm; leave --device at auto or vulkan"},
	{"--npu-opt", func(r Request) bool { return len(r.NPUOptions) > 0 }, []devices.Name{devices.NPU}, "--npu-opt works with --device npu"},
	{"--hrx-libhsa", func(r Request) bool { return r.LibHSA != "" && r.PrefillDevice == "" && !r.Laya }, []devices.Name{devices.HRX}, "--hrx-libhsa works with --device hrx and --prefill-device hrx"},
}

// refused returns why d does not take one of the flags, or "".
func (r Request) refused(d devices.Name) string {
	for _, f := range features {
		if !f.set(r) || slices.Contains(f.on, d) {
			continue
		}
		if f.say != "" {
			return f.say
		}
		return fmt.Sprintf("--device %s takes no %s", d, f.flag)
	}
	return ""
}
