// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package route

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/1bit-MONSTER/engine/engine/devices"
)

// Numbers of the services with two programs.
const (
	adaptiveAt    = 1    // requests at once that stay on Vulkan
	adaptiveSlots = 16   // of the ROCm program that takes the others
	longFrom      = 2048 // tokens from which a conversation is long
)

// adaptive is Vulkan until it is busy, and ROCm for what overflows.
func (p *planner) adaptive(m Model, d devices.Name) (Service, error) {
	if d != devices.Vulkan {
		return Service{}, errors.New("--adaptive runs Vulkan with ROCm overflow; leave --device at auto or vulkan")
	}
	at := p.r.AdaptiveAt
	if at == 0 {
		at = adaptiveAt
	}
	first, second := *p, *p
	first.r.Parallel = at
	second.r.Parallel = adaptiveSlots
	second.r.MTP, second.r.DFlash, second.r.DraftMax, second.r.DraftMin = "", "", 0, ""
	second.r.MoESlots = ""
	plans, err := p.both(m, &first, m, &second)
	return Service{Main: plans, Pick: Pick{How: Adaptive, At: at}}, err
}

// long is Vulkan for short conversations, and a rotated model on ROCm for long
// ones.
func (p *planner) long(m Model, d devices.Name) (Service, error) {
	if d != devices.Vulkan {
		return Service{}, errors.New("--long-model has short conversations on Vulkan and long ones on ROCm; leave --device at auto or vulkan")
	}
	if rotated, _ := m.Rotated(); rotated {
		return Service{}, fmt.Errorf("%s is Hadamard-rotated, so it is already on the W4A4 route; -m is the model for short prompts", m.Path)
	}
	other, err := readGGUF(p.r.LongModel)
	if err != nil {
		return Service{}, fmt.Errorf("--long-model: %w", err)
	}
	if rotated, reason := other.Rotated(); !rotated {
		if reason != "" {
			return Service{}, fmt.Errorf("--long-model: %s", reason)
		}
		return Service{}, fmt.Errorf("--long-model takes a Hadamard-rotated Q4_0 file; %s has no stamp %s", other.Path, rotatedKey)
	}
	from := p.r.LongFrom
	if from == 0 {
		from = longFrom
	}
	first, second := *p, *p
	second.r.MTP, second.r.DFlash, second.r.DraftMax, second.r.DraftMin, second.r.MMProj = "", "", 0, "", ""
	second.r.MoESlots, second.r.PrefillDevice, second.r.PrefillMinTokens = "", "", 0
	plans, err := p.both(m, &first, other, &second)
	return Service{Main: plans, Pick: Pick{How: Long, From: from}}, err
}

// both plans one model on Vulkan and one on ROCm.
func (p *planner) both(m Model, first *planner, other Model, second *planner) ([]Plan, error) {
	a, err := first.plan(m, devices.Vulkan)
	if err != nil {
		return nil, err
	}
	b, err := second.plan(other, devices.ROCm)
	if err != nil {
		return nil, err
	}
	p.notes = append(append(p.notes, first.notes[len(p.notes):]...), second.notes[len(p.notes):]...)
	return []Plan{a, b}, nil
}

// laya plans every device of the policy whose program is here. They start when
// they are first needed.
func (p *planner) laya(m Model) (Service, error) {
	policy, err := p.r.policy()
	if err != nil {
		return Service{}, err
	}
	scorer, err := p.scorer()
	if err != nil {
		return Service{}, err
	}
	s := Service{Pick: Pick{How: Laya, Policy: policy, Scorer: scorer}}
	list := policy.devices()
	var why error
	for _, d := range list {
		plan, err := p.plan(m, d)
		if p.ctx.Err() != nil {
			return Service{}, p.ctx.Err()
		}
		if err != nil {
			p.note("--laya goes without %s: %v", d, err)
			why = errors.Join(why, err)
			continue
		}
		s.Main = append(s.Main, plan)
	}
	if s.Main == nil {
		return Service{}, fmt.Errorf("--laya: none of the devices of the route policy can be used: %w", why)
	}
	return s, nil
}

// beside plans the models of --embed and --rerank.
func (p *planner) beside(main devices.Name) (list []Plan, err error) {
	for _, c := range []struct{ flag, file, role string }{
		{"--embed", p.r.Embed, "embedding"},
		{"--rerank", p.r.Rerank, "reranking"},
	} {
		if c.file == "" {
			continue
		}
		plan, err := p.roleBeside(c.file, c.role, main)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.flag, err)
		}
		list = append(list, plan)
	}
	return list, nil
}

// roleBeside plans one model that embeds or ranks, on the device of the main
// model where that is HRX or the CPU, otherwise on Vulkan.
func (p *planner) roleBeside(path, role string, main devices.Name) (Plan, error) {
	m, err := readGGUF(path)
	if err != nil {
		return Plan{}, err
	}
	d, slots, batch := devices.Vulkan, 4, 8192
	switch main {
	case devices.HRX:
		d, slots, batch = main, 1, 2048
	case devices.CPU:
		d = main
	}
	for _, away := range []func(Model) string{rotatedAway, prismAway} {
		if reason := away(m); reason != "" && (d != devices.HRX || !m.prism()) {
			return Plan{}, &Refusal{d, reason}
		}
	}
	plain := Request{LlamaServer: p.r.LlamaServer, LibHSA: p.r.LibHSA, SoftwareGPU: p.r.SoftwareGPU}
	program, err := llama(buildOf(d, plain, m), m).find(plain, p.h, d)
	if err != nil {
		return Plan{}, err
	}
	able, err := p.h.Able(p.ctx, program)
	if err != nil {
		return Plan{}, err
	}
	alone := &planner{ctx: p.ctx, r: plain, h: p.h}
	if err := alone.lists(able, d); err != nil {
		return Plan{}, err
	}
	b := strconv.Itoa(batch)
	args := []string{"--device", d.Llama(), "-ngl", "99"}
	if d == devices.CPU {
		args = []string{"-ngl", "0"}
	}
	args = append(args, "-c", b, "-b", b, "-ub", b, "-np", strconv.Itoa(slots), "--"+role)
	if args, err = able.Spell(args); err != nil {
		return Plan{}, err
	}
	plan := Plan{Role: role, Model: path, Device: d, Program: program, Ready: "/health", Keyed: true, Notes: alone.notes}
	plan.setArgs([]string{"-m", path}, local(), args...)
	if d == devices.HRX {
		plan.Env = missing(p.hsa(), p.h.Getenv)
	}
	return plan, nil
}
