// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/1bit-MONSTER/engine/engine/ability"
	"github.com/1bit-MONSTER/engine/engine/devices"
)

// A Row says whether a device of 1bit serve can be used here, and why not.
type Row struct {
	Device  devices.Name `json:"device"`
	Enabled bool         `json:"enabled"`
	Reason  string       `json:"reason,omitempty"` // why not
	Program string       `json:"program,omitempty"`
	Uses    string       `json:"uses,omitempty"` // what it runs on
}

// A Found is the program of a device, or why there is none.
type Found struct {
	Program string
	Absent  string
	Able    *ability.Program // what a llama-server said, when it was asked
}

// hrxChips and rocmChips are what those builds have code for.
var (
	hrxChips  = []string{"gfx1100", "gfx1151", "gfx1201"}
	rocmChips = []string{"gfx1151"}
)

// Decide fills in the rows, and the Vulkan devices that were listed.
func (m *Machine) Decide(found map[devices.Name]Found) {
	for _, d := range devices.All() {
		f, ok := found[d]
		if d == devices.Auto || !ok {
			continue
		}
		if d == devices.Vulkan && f.Able != nil && f.Able.DevicesKnown {
			m.Vulkan.Asked = f.Program
			m.Vulkan.Devices = append(m.Vulkan.Devices, f.Able.Devices...)
		}
		r := Row{Device: d, Program: f.Program}
		r.Uses, r.Reason = m.uses(d)
		if r.Reason == "" && f.Able != nil {
			r.Uses, r.Reason = listed(d, *f.Able, r.Uses)
		}
		if f.Program == "" && r.Reason == "" {
			r.Reason = f.Absent
		} else if f.Program == "" {
			r.Reason += "; and " + f.Absent
		}
		if r.Enabled = r.Reason == ""; !r.Enabled {
			r.Uses = ""
		}
		m.Rows = append(m.Rows, r)
	}
}

// uses returns what a device would run on, or why there is nothing.
func (m Machine) uses(d devices.Name) (what, why string) {
	switch d {
	case devices.CPU:
		return m.CPU, ""
	case devices.NPU:
		return m.usesNPU()
	case devices.Vulkan, devices.ZINC:
		return m.usesGPU(nil)
	case devices.HRX:
		return m.usesGPU(hrxChips)
	case devices.ROCm:
		return m.usesGPU(rocmChips)
	}
	return m.usesGPU([]string{}) // MLX: any that KFD has
}

// usesGPU returns the first GPU that may be opened. With chips, not nil, it
// must be one of AMD that KFD has, and one of the chips unless there are none.
func (m Machine) usesGPU(chips []string) (what, why string) {
	if len(m.GPUs) == 0 {
		switch {
		case m.WSL:
			return "", "this is WSL, which shows no GPU to Linux (only /dev/dxg): use Windows, or Linux itself"
		case m.Container != "":
			return "", "no GPU is visible in this container (" + m.Container + "): pass in /dev/dri and /dev/kfd"
		}
		return "", "there is no GPU"
	}
	for _, g := range m.GPUs {
		reason := g.Node.Reason
		switch {
		case g.Node.Access == Absent && m.Container != "":
			reason += ": pass it into the container"
		case g.Node.Access != Usable:
		case chips == nil:
			return g.Name, ""
		case g.Vendor != vendorAMD:
			reason = g.Name + " is not AMD's"
		case g.KFDAccess == Denied:
			reason = g.Name + " is in KFD, but the rules of this container do not let its node be read"
		case g.GFX == "":
			reason = g.Name + " is not in KFD: the kernel's amdkfd does not know it, or is not loaded"
		case len(chips) > 0 && !slices.Contains(chips, g.GFX):
			reason = fmt.Sprintf("%s is %s, and this build has code for %s", g.Name, g.GFX, strings.Join(chips, ", "))
		case m.KFD.Access != Usable:
			reason = m.KFD.Reason
		default:
			return g.Name, ""
		}
		if why == "" {
			why = reason
		}
	}
	return "", why
}

func (m Machine) usesNPU() (what, why string) {
	if len(m.NPUs) == 0 {
		return "", "there is no NPU"
	}
	for _, n := range m.NPUs {
		switch {
		case n.Node.Access != Usable:
			why = n.Node.Reason
		case n.Architecture != "aie2p":
			why = fmt.Sprintf("the NPU is %s (%s), and kernels are there for aie2p alone", n.Name, n.Chip)
		default:
			return fmt.Sprintf("%s (%s)", n.Name, n.Chip), ""
		}
	}
	return "", why
}

// listed returns the device that the program itself lists, or why it lists
// none that counts.
func listed(d devices.Name, p ability.Program, have string) (what, why string) {
	if d.Llama() == "" || !p.DevicesKnown {
		return have, ""
	}
	l, ok := p.Device(d.Llama())
	switch {
	case !ok:
		return "", fmt.Sprintf("%s does not list %s", p.Path, d.Llama())
	case l.Software:
		return "", fmt.Sprintf("%s is %s, which runs on the CPU", d.Llama(), l.Description)
	}
	return l.Description, ""
}
