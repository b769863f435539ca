// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package route

import (
	"fmt"
	"strconv"

	"github.com/1bit-MONSTER/engine/engine/devices"
)

// A row is one device: everything that serve must know about it.
type row struct {
	device  devices.Name
	takes   func(Model) string // why it does not take a model, or ""
	refuse  func(Request, Model) string
	program func(Request, Model) program
	build   func(*planner, Model, *Plan) error // fills in Args and Env
	forward []Forward
	rename  func(Model) Rename
	keyed   bool
}

// rows are the devices, each with its program.
func rows() []row {
	return []row{
		{
			device: devices.NPU, takes: noHF, refuse: first(rotatedAway, prismAway),
			program: func(Request, Model) program { return npu }, build: buildNPU,
			forward: llamaForward, rename: keep,
		},
		llamaRow(devices.Vulkan, first(rotatedAway, prismAway)),
		llamaRow(devices.HRX, refuseHRX),
		llamaRow(devices.ROCm, first(unknownStamp, prismAway)),
		{
			device: devices.ZINC, takes: onlyGGUF, refuse: first(rotatedAway, prismAway),
			program: func(Request, Model) program { return zinc }, build: buildZINC,
			forward: chatForward, rename: func(Model) Rename { return Rename{Drop: true} },
		},
		{
			device: devices.MLX, takes: onlyHF,
			program: func(Request, Model) program { return mlx }, build: buildMLX,
			forward: chatForward, rename: func(m Model) Rename { return Rename{To: m.Path} },
		},
		llamaRow(devices.CPU, first(rotatedAway, prismAway)),
	}
}

// llamaRow is a device of a llama-server.
func llamaRow(d devices.Name, refuse func(Request, Model) string) row {
	return row{
		device: d, takes: onlyGGUF, refuse: refuse,
		program: func(r Request, m Model) program {
			p := llama(buildOf(d, r, m), m)
			p.inPath = p.inPath && !r.Lean
			return p
		},
		build: buildLlama, forward: llamaForward, rename: keep, keyed: true,
	}
}

// rowOf returns the row of a device, or the reason why there is none.
func rowOf(d devices.Name) (row, error) {
	for _, r := range rows() {
		if r.device == d {
			return r, nil
		}
	}
	return row{}, &Refusal{d, "not in this build"}
}

func keep(Model) Rename { return Rename{} }

func onlyGGUF(m Model) string {
	if m.Kind != GGUF {
		return m.Path + " is no GGUF file; a folder for the NPU takes --device npu or auto"
	}
	return ""
}

func noHF(m Model) string {
	if m.Kind == HF {
		return m.Path + " is the id of a model; give a folder or a GGUF file"
	}
	return ""
}

func onlyHF(m Model) string {
	if m.Kind != HF {
		return m.Path + " is a file; give the id of a model at Hugging Face, as in owner/name"
	}
	return ""
}

// first is the first reason of some.
func first(reasons ...func(Model) string) func(Request, Model) string {
	return func(_ Request, m Model) string {
		for _, f := range reasons {
			if reason := f(m); reason != "" {
				return reason
			}
		}
		return ""
	}
}

func unknownStamp(m Model) string { _, reason := m.Rotated(); return reason }

func refuseHRX(r Request, m Model) string {
	switch {
	case rotatedAway(m) != "":
		return rotatedAway(m)
	case m.isOf(notInHRX):
		return fmt.Sprintf("the architecture %s is not in the HRX build; use --device vulkan", m.Header().Architecture())
	case r.Parallel > 1 && m.isOf(deltaNet):
		return fmt.Sprintf("it runs one gated delta-net sequence at a time, so --parallel %d can not be for %s; leave it out, or use --device vulkan", r.Parallel, m.Header().Architecture())
	}
	return ""
}

// local is how a program is told where to listen; port is where PortAt will be.
func local() []string { return []string{"--host", "127.0.0.1", "--port", portMark} }

// setArgs sets the arguments and finds the place of the port in them.
func (plan *Plan) setArgs(before []string, address []string, after ...string) {
	plan.Args = append(append(append([]string{}, before...), address...), after...)
	plan.PortAt = len(before) + len(address) - 1
}

func buildNPU(p *planner, m Model, plan *Plan) error {
	var after []string
	if p.r.CtxSize > 0 {
		after = append(after, "-c", strconv.Itoa(p.r.CtxSize))
	}
	for _, o := range p.r.NPUOptions {
		after = append(after, "--npu-opt", o)
	}
	plan.setArgs([]string{"-m", m.Path}, local(), after...)
	return nil
}

func buildZINC(p *planner, m Model, plan *Plan) error {
	var after []string
	if p.r.CtxSize > 0 {
		after = append(after, "-c", strconv.Itoa(p.r.CtxSize))
	}
	plan.setArgs([]string{"-m", m.Path}, []string{"-p", portMark}, after...)
	plan.Env = missing([]string{"RADV_PERFTEST=coop_matrix"}, p.h.Getenv)
	return nil
}

func buildMLX(_ *planner, m Model, plan *Plan) error {
	plan.setArgs([]string{m.Path}, []string{"--port", portMark})
	return nil
}

// chatForward is what every program answers.
var chatForward = []Forward{
	{"POST", "/v1/chat/completions", true},
	{"POST", "/v1/completions", true},
}

// llamaForward is what a llama-server answers and serve passes on.
var llamaForward = append(chatForward[:2:2], []Forward{
	{"POST", "/v1/responses", true},
	{"POST", "/v1/embeddings", true},
	{"POST", "/embeddings", true},
	{"POST", "/v1/rerank", true},
	{"POST", "/rerank", true},
	{"POST", "/v1/reranking", true},
	{"POST", "/reranking", true},
	{"POST", "/tokenize", true},
	{"POST", "/detokenize", true},
	{"POST", "/apply-template", true},
	{"GET", "/slots", false},
	{"POST", "/slots/{slot}", false},
	{"GET", "/props", false},
	{"GET", "/metrics", false},
}...)

// AllForwards returns every path that some device answers.
func AllForwards() []Forward { return llamaForward }
