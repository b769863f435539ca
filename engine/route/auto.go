// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package route

import (
	"fmt"

	"github.com/1bit-MONSTER/engine/engine/devices"
	"github.com/1bit-MONSTER/engine/engine/layout"
)

// device returns the device of the main model: the one that was asked for, or
// for auto the one that fits.
func (p *planner) device(m Model) (devices.Name, error) {
	if p.r.Device != devices.Auto {
		return p.r.Device, nil
	}
	if m.Kind == NPU {
		return devices.NPU, nil
	}
	rotated, reason := m.Rotated()
	switch {
	case reason != "":
		return "", &Refusal{devices.Auto, reason}
	case rotated && p.r.Laya:
		return "", fmt.Errorf("--laya routes among devices; %s is Hadamard-rotated and runs on rocm alone, which --device rocm picks", m.Path)
	case rotated && p.r.LongModel != "":
		return "", fmt.Errorf("%s is Hadamard-rotated, so it is already on the W4A4 route; -m is the model for short prompts", m.Path)
	case rotated:
		return devices.ROCm, nil
	case m.prism():
		return devices.HRX, nil
	case p.r.Adaptive || p.r.LongModel != "" || p.r.PrefillDevice != "" || p.r.moe():
		return devices.Vulkan, nil // these are nowhere else
	}
	return p.best(m)
}

// best returns the device for a plain GGUF file: the GPU where the program lists
// one, through HRX where that build is there and takes the model, otherwise
// through Vulkan; else the CPU. A software renderer is no GPU. A program that
// lists nothing at all, not even that it has none, is a wrapper of somebody who
// knows: Vulkan, with a note.
func (p *planner) best(m Model) (devices.Name, error) {
	if p.r.Lean {
		return devices.Vulkan, nil
	}
	if p.h.GOOS == "windows" {
		return devices.CPU, nil
	}
	if hrx := llama(layout.HRX, m); p.suitsHRX(m) && (hrx.isNamed(p.r, p.h) || hrx.ownBeside(p.h)) {
		if yes, _, err := p.has(hrx, devices.HRX); yes || err != nil {
			return devices.HRX, err
		}
	}
	yes, unknown, err := p.has(llama(buildOf(devices.Vulkan, p.r, m), m), devices.Vulkan)
	switch {
	case err != nil:
		return "", err
	case yes || unknown:
		return devices.Vulkan, nil
	}
	return devices.CPU, nil
}

// suitsHRX says whether auto takes HRX for this model and these flags.
func (p *planner) suitsHRX(m Model) bool {
	r := p.r
	return r.MTP == "" && r.MMProj == "" && !m.isOf(notInHRX) && !m.isOf(onlyInHRX) && (r.Parallel <= 1 || !m.isOf(deltaNet))
}

// isNamed says whether the user named the program.
func (p program) isNamed(r Request, h Host) bool {
	named, _ := h.Getenv(p.env)
	return p.flagOf(r) != "" || named != ""
}

// ownBeside says whether the distribution has this very build, in its own
// folder.
func (p program) ownBeside(h Host) bool {
	p.dirs = p.dirs[:1]
	return p.beside(h) != ""
}

// has says whether the program is there and lists the GPU of d, and whether
// that is unknown.
func (p *planner) has(prog program, d devices.Name) (yes, unknown bool, err error) {
	path, err := prog.find(p.r, p.h, d)
	if err != nil {
		return false, false, nil // the CPU's program may be there; if it is not either, that is the error
	}
	able, err := p.h.Able(p.ctx, path)
	if err != nil {
		return false, false, err
	}
	found, ok := able.Device(d.Llama())
	return ok && (!found.Software || p.r.SoftwareGPU), !able.DevicesKnown, nil
}
