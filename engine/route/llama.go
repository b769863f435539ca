// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package route

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/1bit-MONSTER/engine/engine/ability"
	"github.com/1bit-MONSTER/engine/engine/devices"
	"github.com/1bit-MONSTER/engine/engine/gguf"
)

// buildLlama fills in the command line and environment of a llama-server.
func buildLlama(p *planner, m Model, plan *Plan) error {
	args, env, err := p.llamaArgs(m, plan.Device)
	if err != nil {
		return err
	}
	args, env, plan.Notes = p.cook(m, plan.Device, args, env)
	able, err := p.h.Able(p.ctx, plan.Program)
	if err != nil {
		return err
	}
	if err := p.lists(able, plan.Device); err != nil {
		return err
	}
	if args, err = able.Spell(args); err != nil {
		return fmt.Errorf("--device %s: %w", plan.Device, err)
	}
	plan.setArgs([]string{"-m", m.Path}, local(), args...)
	plan.Env = missing(env, p.h.Getenv)
	return nil
}

// llamaArgs is the command line after model and address, in today's spelling,
// and the variables that go with it.
func (p *planner) llamaArgs(m Model, d devices.Name) (args, env []string, err error) {
	r := p.r
	if d == devices.CPU {
		args = []string{"-ngl", "0", "--jinja"}
	} else {
		args = []string{"--device", d.Llama(), "-ngl", "99", "--jinja"}
	}
	if r.CtxSize > 0 {
		args = append(args, "-c", strconv.Itoa(r.CtxSize))
	}
	switch {
	case r.Parallel > 0:
		args = append(args, "-np", strconv.Itoa(r.Parallel))
	case d == devices.HRX && m.isOf(deltaNet):
		args = append(args, "-np", "1")
	}
	if d == devices.HRX && r.Parallel > 1 {
		args = append(args, "-kvu")
	}
	switch {
	case r.PrefillDevice != "":
		args = append(args, "-fa", "on")
	case r.FlashAttn != "":
		args = append(args, "-fa", r.FlashAttn)
	}
	draft, err := draftArgs(r, m, d)
	if err != nil {
		return nil, nil, err
	}
	args = append(args, draft...)
	if r.MMProj != "" {
		if _, err := gguf.Read(r.MMProj); err != nil {
			return nil, nil, fmt.Errorf("--mmproj: %w", err)
		}
		args = append(args, "--mmproj", r.MMProj, "-b", "4096", "-ub", "4096")
	}
	args = append(args, roleArgs(r)...)
	env = p.llamaEnv(m, d)
	if r.moe() {
		more, vars, err := p.moeArgs(m)
		if err != nil {
			return nil, nil, err
		}
		args, env = append(args, more...), append(env, vars...)
	}
	return args, env, nil
}

// draftArgs are the arguments of a drafter for m. The variables for rotated
// weights hold for a whole program, so a drafter is rotated only with its model.
func draftArgs(r Request, m Model, d devices.Name) ([]string, error) {
	kind, flag, file, most := "draft-mtp", "--mtp", r.MTP, r.DraftMax
	if r.DFlash != "" {
		kind, flag, file = "draft-dflash", "--dflash", r.DFlash
	}
	if file == "" {
		return nil, nil
	}
	h, err := gguf.Read(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	rotated, reason := Model{Path: file, Headers: []*gguf.Header{h}}.Rotated()
	if main, _ := m.Rotated(); rotated && !main {
		reason = file + " is Hadamard-rotated and " + m.Path + " is not: every draft would be noise; use a drafter without the rotation"
	}
	if reason != "" {
		return nil, fmt.Errorf("%s: %s", flag, reason)
	}
	least := r.DraftMin
	if r.DFlash != "" {
		if least == "" {
			least = "0" // it drafts whole blocks
		}
		if size, ok := h.Int("dflash.block_size"); most == 0 && ok && size > 1 {
			most = int(size) - 1
		} else if most == 0 {
			most = 16
		}
	}
	layers := "99"
	if d == devices.CPU {
		layers = "0"
	}
	args := []string{"--spec-type", kind, "-md", file, "-ngld", layers}
	if most > 0 {
		args = append(args, "--spec-draft-n-max", strconv.Itoa(most))
	}
	if least != "" {
		args = append(args, "--spec-draft-p-min", least)
	}
	return args, nil
}

// roleArgs are the arguments of a model that embeds or ranks: an input must
// fit into one batch.
func roleArgs(r Request) []string {
	role := ""
	switch {
	case r.Embedding:
		role = "--embedding"
	case r.Reranking:
		role = "--reranking"
	default:
		return nil
	}
	batch := 8192
	if r.CtxSize > 0 {
		batch = r.CtxSize
	}
	return []string{role, "-b", strconv.Itoa(batch), "-ub", strconv.Itoa(batch)}
}

// llamaEnv are the variables that a device adds, for all models or some.
func (p *planner) llamaEnv(m Model, d devices.Name) (env []string) {
	if p.r.PrefillDevice != "" && d == devices.Vulkan {
		env = append(env, "ONEBIT_PREFILL_DEVICE="+devices.HRX.Llama())
		if p.r.PrefillMinTokens > 0 {
			env = append(env, "ONEBIT_PREFILL_MIN_TOKENS="+strconv.Itoa(p.r.PrefillMinTokens))
		}
		return append(env, p.hsa()...)
	}
	switch d {
	case devices.HRX:
		env = append(env, p.hsa()...)
		var off []string
		if v, _ := p.h.Getenv("ONEBIT_HRX_DECODE_SPLIT"); v == "0" {
			off = append(off, "decode_split")
		}
		if p.r.Parallel > 1 {
			off = append(off, "qwen.attention")
		}
		if off != nil {
			env = append(env, "GGML_HRX_DISABLE_DISPATCH="+strings.Join(off, ","))
		}
		if m.ternary() {
			env = append(env, "GGML_HRX_TERNARY_Q4_0=1")
		}
	case devices.ROCm:
		if rotated, _ := m.Rotated(); rotated {
			env = append(env, "GGML_Q4_0_HADAMARD=1", "GGML_W4A4_TENSORS=all")
		}
	}
	return env
}

// lists refuses a device that the program does not list, before it loads a
// model, and one that is no GPU.
func (p *planner) lists(able ability.Program, d devices.Name) error {
	for _, name := range p.needs(d) {
		found, ok := able.Device(name)
		switch {
		case !able.DevicesKnown:
			p.note("%s does not list its devices, so it is unknown whether it has %s", able.Path, name)
		case !ok:
			return &Refusal{d, fmt.Sprintf("%s does not list the device %s, only %s; see '1bit devices'", able.Path, name, listed(able))}
		case found.Software && !p.r.SoftwareGPU:
			return &Refusal{d, fmt.Sprintf("%s is %s, which runs on the CPU and is no GPU; use --device cpu, or allow it with --software-gpu", name, found.Description)}
		}
	}
	return nil
}

// needs are the devices of llama.cpp that a device uses.
func (p *planner) needs(d devices.Name) []string {
	switch {
	case d == devices.CPU:
		return nil
	case d == devices.Vulkan && p.r.PrefillDevice != "":
		return []string{d.Llama(), devices.HRX.Llama()}
	}
	return []string{d.Llama()}
}

func listed(able ability.Program) string {
	var names []string
	for _, d := range able.Devices {
		names = append(names, d.Name)
	}
	if names == nil {
		return "the CPU"
	}
	return strings.Join(names, ", ")
}
