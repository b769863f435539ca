// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// A GPU is one render node of DRM, or a node of KFD without one.
type GPU struct {
	Name       string `json:"name"`
	GFX        string `json:"gfx,omitempty"` // "gfx1151"; AMD's, where KFD says it
	Vendor     string `json:"vendor"`        // "0x1002"
	Device     string `json:"device"`
	Revision   string `json:"revision,omitempty"`
	PCI        string `json:"pci,omitempty"`
	Driver     string `json:"driver,omitempty"`
	Node       Node   `json:"node"`
	KFDNode    string `json:"kfd_node,omitempty"`   // number of its node in KFD's topology
	KFDAccess  Access `json:"kfd_access"`           // of that node
	Units      int    `json:"compute_units"`        // 0: unknown
	Integrated bool   `json:"integrated"`           // it shares the system's memory
	CWSR       bool   `json:"cwsr"`                 // the kernel has the fix that ROCm needs on gfx1151
	VRAM       Pool   `json:"vram"`                 // of an integrated one: what the firmware set aside
	GTT        Pool   `json:"gtt"`                  // of the system's memory; never add it to that
	Busy       int    `json:"busy_percent"`         // of now
	Millideg   int64  `json:"temperature_millideg"` // 0: unknown
	Microwatt  int64  `json:"power_microwatt"`      // of an integrated one: with the CPU
	Level      string `json:"performance_level,omitempty"`
}

const (
	vendorAMD    = "0x1002"
	vendorNVIDIA = "0x10de"
	haloDevice   = "0x1586" // all of Radeon 8040S, 8050S and 8060S
)

// kfdTopology is where the kernel describes what can compute.
const kfdTopology = "/sys/class/kfd/kfd/topology/nodes/"

// gpus returns the GPUs of DRM, with what KFD knows of each.
func (f Files) gpus() []GPU {
	list := []GPU{}
	for _, dir := range f.glob("/sys/class/drm/renderD*") {
		list = append(list, f.gpu(dir))
	}
	for _, dir := range f.glob(kfdTopology + "*") {
		f.kfdNode(&list, dir)
	}
	for i := range list {
		list[i].Name = list[i].name()
	}
	return list
}

// gpu reads one render node of DRM.
func (f Files) gpu(dir string) GPU {
	d := dir + "/device/"
	event := pairs(textOf(f.read(d+"uevent")), "=")
	g := GPU{
		Vendor: f.line(d + "vendor"), Device: f.line(d + "device"), Revision: f.line(d + "revision"),
		PCI: event["PCI_SLOT_NAME"], Driver: event["DRIVER"], Node: f.node("/dev/dri/" + path.Base(dir)), KFDAccess: Absent,
		VRAM: Pool{f.number(d + "mem_info_vram_total"), f.number(d + "mem_info_vram_used")},
		GTT:  Pool{f.number(d + "mem_info_gtt_total"), f.number(d + "mem_info_gtt_used")},
		Busy: int(f.number(d + "gpu_busy_percent")), Level: f.line(d + "power_dpm_force_performance_level"),
	}
	g.Integrated = g.Vendor == vendorAMD && !f.there(d+"board_info")
	for _, h := range f.glob(d + "hwmon/hwmon*") {
		g.Millideg = f.number(h + "/temp1_input")
		if g.Microwatt = f.number(h + "/power1_average"); g.Microwatt == 0 {
			g.Microwatt = f.number(h + "/power1_input")
		}
	}
	return g
}

// kfdNode adds a node of KFD to the GPU that it belongs to, or as one of its
// own where DRM has none. A node that may not be read is one of a GPU: CPUs are
// never hidden.
func (f Files) kfdNode(list *[]GPU, dir string) {
	text, err := f.read(dir + "/properties")
	number := path.Base(dir)
	if errors.Is(err, fs.ErrPermission) {
		for i, g := range *list {
			if g.Vendor == vendorAMD && g.KFDNode == "" { // which one it is can not be read
				(*list)[i].KFDNode, (*list)[i].KFDAccess = number, Denied
				return
			}
		}
		*list = append(*list, GPU{Vendor: vendorAMD, KFDNode: number, KFDAccess: Denied,
			Node: Node{Access: Denied, Reason: dir + " may not be read: the rules of this container keep the GPU from it; pass in /dev/kfd and /dev/dri"}})
		return
	}
	p := pairs(text, " ")
	target, _ := strconv.Atoi(p["gfx_target_version"])
	if err != nil || target == 0 {
		return
	}
	minor := "renderD" + p["drm_render_minor"]
	at := -1
	for i, g := range *list {
		if path.Base(g.Node.Path) == minor {
			at = i
		}
	}
	if at < 0 {
		vendor, _ := strconv.Atoi(p["vendor_id"])
		device, _ := strconv.Atoi(p["device_id"])
		*list = append(*list, GPU{Vendor: fmt.Sprintf("%#04x", vendor), Device: fmt.Sprintf("%#04x", device), Node: f.node("/dev/dri/" + minor)})
		at = len(*list) - 1
	}
	g := &(*list)[at]
	g.KFDNode, g.KFDAccess, g.GFX = number, Usable, gfxName(target)
	simds, _ := strconv.Atoi(p["simd_count"])
	each, _ := strconv.Atoi(p["simd_per_cu"])
	if each == 0 {
		each = 2
	}
	g.Units = simds / each
	_, size := p["cwsr_size"]
	_, stack := p["ctl_stack_size"]
	g.CWSR = size && stack
}

// gfxName is the name of a gfx_target_version: major in decimal, minor and
// stepping one hexadecimal digit each.
func gfxName(v int) string { return fmt.Sprintf("gfx%d%x%x", v/10000, v/100%100, v%100) }

// name says what the GPU is, in the words of its maker where it is one that we
// know. The number of compute units alone says nothing: a BC-250 has as many as
// a Radeon 8060S.
func (g GPU) name() string {
	switch {
	case g.GFX == "gfx1151" || (g.GFX == "" && g.Vendor == vendorAMD && g.Device == haloDevice):
		for units, model := range map[int]string{40: "Radeon 8060S", 32: "Radeon 8050S", 16: "Radeon 8040S"} {
			if g.Units == units {
				return model + " (Strix Halo)"
			}
		}
		return "Radeon 80xxS (Strix Halo)"
	case g.Vendor == vendorNVIDIA:
		return "NVIDIA GPU " + g.Device
	case g.Vendor == vendorAMD:
		if n := chips[g.GFX]; n != "" {
			return n
		}
		if n := chips[g.Device]; n != "" {
			return n
		}
		return strings.TrimSpace("AMD GPU " + g.Device)
	case g.Vendor == "0x8086":
		return "Intel GPU " + g.Device
	}
	return "GPU " + g.Vendor + ":" + g.Device
}

// chips are AMD's chips by what KFD calls them, and some by their PCI number.
var chips = map[string]string{
	"gfx1150": "Radeon 880M/890M (Strix Point)", "0x150e": "Radeon 880M/890M (Strix Point)",
	"gfx1152": "Radeon 840M/860M (Krackan Point)", "0x1114": "Radeon 840M/860M (Krackan Point)", "0x1902": "Radeon 840M/860M (Krackan Point)",
	"gfx1103": "Radeon 740M/760M/780M (Phoenix, Hawk Point)", "0x15bf": "Radeon 740M/760M/780M (Phoenix)", "0x1900": "Radeon 740M/760M/780M (Hawk Point)",
	"gfx1013": "BC-250 (Cyan Skillfish)",
	"gfx1100": "Radeon RX 7900 (Navi 31)", "gfx1101": "Radeon RX 7700/7800 (Navi 32)", "gfx1102": "Radeon RX 7600 (Navi 33)",
	"gfx1200": "Radeon RX 9060 (Navi 44)", "gfx1201": "Radeon RX 9070 (Navi 48)",
}

func textOf(s string, _ error) string { return s }
