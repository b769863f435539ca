// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/1bit-MONSTER/engine/engine/devices"
	"github.com/1bit-MONSTER/engine/engine/route"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// A request is the flags that say what to serve; serve and doctor have them.
type request struct {
	route.Request
	device string
}

// read returns what the flags ask for.
func (q *request) read(cmd *cobra.Command) (route.Request, error) {
	for _, a := range absent {
		if cmd.Flags().Changed(a.flag) {
			return route.Request{}, fmt.Errorf("--%s: %s", a.flag, a.why)
		}
	}
	if why, known := absentDevices[q.device]; known {
		return route.Request{}, fmt.Errorf("--device %s: not in this build: %s", q.device, why)
	}
	var ok bool
	if q.Device, ok = devices.Parse(q.device); !ok {
		return route.Request{}, verdict.Usagef("--device %s: there are %s", q.device, devices.List())
	}
	return q.Request, nil
}

// absent are flags of other lines of the engine: refused by name.
var absent = []struct{ flag, value, why string }{
	{"ds4", "path", "works with --device ds4, which is not in this build: DwarfStar is no part of this distribution"},
	{"ssd-streaming", "", "works with --device ds4, which is not in this build: DwarfStar is no part of this distribution"},
	{"pm", "", "not in this build: the tool loop is no part of this distribution; use a client that calls tools"},
	{"pm-experts", "file", "not in this build: it goes with --pm"},
	{"lemonade-url", "url", "not in this build: it goes with --pm"},
}

var absentDevices = map[string]string{
	"ds4":  "DwarfStar is no part of this distribution; use the model as GGUF with another device",
	"onnx": "ONNX GenAI is no part of this distribution; use the model as GGUF with another device",
}

// add adds the flags to a command.
func (q *request) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&q.Model, "model", "m", "", "`file` of the model, GGUF (the first one of a split model); a folder for the NPU; an id for --device mlx")
	f.StringVar(&q.device, "device", string(devices.Auto), "`device` to run on: "+devices.List())
	f.IntVarP(&q.CtxSize, "ctx-size", "c", 0, "context in `tokens`; 0 for the backend's default")
	f.IntVar(&q.Parallel, "parallel", 0, "`requests` to work on at once; 0 for the backend's default")
	f.StringVar(&q.FlashAttn, "flash-attn", "", "flash attention, also -fa: `on`, off or auto (default: the backend's)")
	f.BoolVar(&q.Embedding, "embedding", false, "serve embeddings")
	f.BoolVar(&q.Reranking, "reranking", false, "serve reranking")
	f.StringVar(&q.MMProj, "mmproj", "", "`file` of the projector of a model that sees")
	f.StringVar(&q.MTP, "mtp", "", "`file` of the head that drafts")
	f.StringVar(&q.DFlash, "dflash", "", "`file` of the model that drafts blocks")
	f.IntVar(&q.DraftMax, "mtp-max", 0, "`tokens` of a draft, for --mtp and --dflash")
	f.StringVar(&q.DraftMin, "mtp-p-min", "", "`probability` below which a draft ends")
	f.BoolVar(&q.Lean, "lean", false, "use the lean build, with --device vulkan or rocm")
	f.StringVar(&q.PrefillDevice, "prefill-device", "", "`hrx`: do long prompts there and share them with --device vulkan")
	f.IntVar(&q.PrefillMinTokens, "prefill-min-tokens", 0, "`tokens` from which a prompt is long (0: the backend's default, 1024)")
	f.StringVar(&q.MoESlots, "moe-slots", "", "`experts` to keep in memory and stream the others from the file, or auto")
	f.StringVar(&q.MoESubst, "moe-subst", "", "`rate` at which an expert in memory may stand in for one that is not")
	f.IntVar(&q.MoEPrefetch, "moe-prefetch", 0, "`experts` to read ahead")
	f.BoolVar(&q.Adaptive, "adaptive", false, "serve on Vulkan, and what overflows on ROCm")
	f.IntVar(&q.AdaptiveAt, "adaptive-at", 0, "`requests` at once that stay on Vulkan (default 1)")
	f.StringVar(&q.LongModel, "long-model", "", "`file` of a Hadamard-rotated model, for long conversations on ROCm")
	f.IntVar(&q.LongFrom, "long-from", 0, "`tokens` from which a conversation is long (default 2048)")
	f.StringVar(&q.Embed, "embed", "", "`file` of a model to serve embeddings with, beside the main one")
	f.StringVar(&q.Rerank, "rerank", "", "`file` of a model to serve reranking with, beside the main one")
	f.BoolVar(&q.Laya, "laya", false, "choose the device for each conversation by what it is about")
	f.StringVar(&q.LayaModel, "laya-model", "", "`file` or folder of the model that chooses")
	f.StringVar(&q.RoutePolicy, "route-policy", "", "`file` that says which kind of conversation goes to which device")
	f.StringVar(&q.Recipes, "recipes", "", "`file` of measured settings to use instead of the built-in ones")
	f.BoolVar(&q.NoRecipes, "no-recipes", false, "use no measured settings")
	f.StringArrayVar(&q.NPUOptions, "npu-opt", nil, "`key=value` for the NPU's program; may be repeated")
	f.StringVar(&q.LlamaServer, "llama-server", "", "`path` of the llama-server to use")
	f.StringVar(&q.ZINC, "zinc", "", "`path` of the zinc to use")
	f.StringVar(&q.MLXServer, "mlx-server", "", "`path` of the MLX server to use")
	f.StringVar(&q.LibHSA, "hrx-libhsa", "", "`path` of the HSA runtime to use with HRX")
	f.BoolVar(&q.SoftwareGPU, "software-gpu", false, "let a renderer that runs on the CPU pass for a GPU, for tests")
	f.BoolVar(&q.Embedding, "embeddings", false, "another spelling of --embedding")
	f.MarkHidden("embeddings")
	for _, a := range absent {
		if a.value == "" {
			f.Bool(a.flag, false, a.why)
		} else {
			f.String(a.flag, "", a.why)
		}
		f.MarkHidden(a.flag)
	}
	for _, name := range []string{"model", "mmproj", "mtp", "dflash", "long-model", "embed", "rerank", "laya-model"} {
		cmd.MarkFlagFilename(name, "gguf")
	}
	for _, name := range []string{"recipes", "route-policy"} {
		cmd.MarkFlagFilename(name, "json")
	}
	complete(cmd, "device", names()...)
	complete(cmd, "flash-attn", "on", "off", "auto")
	complete(cmd, "prefill-device", "hrx")
	complete(cmd, "moe-slots", "auto")
	cmd.SetFlagErrorFunc(flagError)
}

func names() (list []string) {
	for _, n := range devices.All() {
		list = append(list, string(n))
	}
	return list
}

func complete(cmd *cobra.Command, flag string, values ...string) {
	cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return values, cobra.ShellCompDirectiveNoFileComp
	})
}

// flagError words the two errors that scripts look for as they know them.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var lacks *pflag.ValueRequiredError
	text := err.Error()
	switch {
	case errors.As(err, &unknown):
		text = "unknown option " + dashed(unknown.GetSpecifiedName())
	case errors.As(err, &lacks):
		text = dashed(lacks.GetSpecifiedName()) + " needs a value"
	}
	return verdict.Usagef("%s (see '%s --help')", text, cmd.CommandPath())
}

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// spelled returns the arguments with -fa, which is one flag here and would be
// two to the parser, in its long spelling.
func spelled(args []string) []string {
	args = slices.Clone(args)
	for i, a := range args {
		if a == "--" {
			break
		}
		if rest, ok := strings.CutPrefix(a, "-fa"); ok && (rest == "" || rest[0] == '=') {
			args[i] = "--flash-attn" + rest
		}
	}
	return args
}
