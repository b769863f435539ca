// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"path"
	"strings"
)

// An NPU is a neural processor of AMD.
type NPU struct {
	Name         string   `json:"name"`         // "npu5"
	Chip         string   `json:"chip"`         // "Strix Halo"
	Architecture string   `json:"architecture"` // "aie2p"
	Device       string   `json:"device"`       // "0x17f0"
	Revision     string   `json:"revision"`     // "0x11"
	PCI          string   `json:"pci,omitempty"`
	Driver       string   `json:"driver"` // empty: none is bound
	Node         Node     `json:"node"`
	Firmware     string   `json:"firmware,omitempty"`    // the version that runs
	Files        []string `json:"firmware_files"`        // those installed for it; none shown inside a container
	VBNV         string   `json:"vbnv,omitempty"`        // as the driver names it
	PowerState   string   `json:"power_state,omitempty"` // D0: awake
}

// generations are the NPUs by PCI device and revision. The name that the driver
// shows has several spellings; these numbers do not.
var generations = map[string][3]string{
	"0x1502:0x00": {"npu1", "Phoenix, Hawk Point", "aie2"},
	"0x17f0:0x00": {"npu2", "Strix (A0)", "aie2p"},
	"0x17f0:0x10": {"npu4", "Strix Point", "aie2p"},
	"0x17f0:0x11": {"npu5", "Strix Halo", "aie2p"},
	"0x17f0:0x20": {"npu6", "Krackan Point", "aie2p"},
}

// npus returns the NPUs that have a driver, and those on the PCI bus without.
func (f Files) npus() []NPU {
	list := []NPU{}
	seen := map[string]bool{}
	for _, dir := range f.glob("/sys/class/accel/accel*") {
		n, ok := f.npu(dir + "/device/")
		if !ok {
			continue
		}
		n.Node = f.node("/dev/accel/" + path.Base(dir))
		seen[n.PCI] = true
		list = append(list, n)
	}
	for _, dir := range f.glob("/sys/bus/pci/devices/*") {
		n, ok := f.npu(dir + "/")
		if n.PCI == "" {
			n.PCI = path.Base(dir)
		}
		if ok && !seen[n.PCI] {
			n.Node = Node{Access: Absent, Reason: "no driver is bound to the NPU: it needs the kernel's amdxdna, from Linux 6.14 on"}
			list = append(list, n)
		}
	}
	return list
}

// npu reads the PCI device in dir; ok is false when it is no NPU.
func (f Files) npu(dir string) (NPU, bool) {
	if f.line(dir+"vendor") != "0x1022" || !strings.HasPrefix(f.line(dir+"class"), "0x1180") {
		return NPU{}, false
	}
	event := pairs(textOf(f.read(dir+"uevent")), "=")
	n := NPU{Device: f.line(dir + "device"), Revision: f.line(dir + "revision"), PCI: event["PCI_SLOT_NAME"], Driver: event["DRIVER"],
		Firmware: f.line(dir + "fw_version"), VBNV: f.line(dir + "vbnv"), PowerState: f.line(dir + "power_state"), Files: []string{}}
	g, known := generations[n.Device+":"+n.Revision]
	if !known {
		switch n.Device { // AIE4: each has several revisions
		case "0x17f1", "0x17f2", "0x17f3", "0x1b0a", "0x1b0b", "0x1b0c":
			g = [3]string{"npu3 or newer", "unknown", "aie4"}
		default: // some other signal processor of AMD
			return NPU{}, false
		}
	}
	n.Name, n.Chip, n.Architecture = g[0], g[1], g[2]
	folder := strings.TrimPrefix(n.Device, "0x") + "_" + strings.TrimPrefix(n.Revision, "0x")
	if n.Name == "npu6" {
		folder = "17f0_10"
	}
	for _, root := range []string{"/usr/lib/firmware/amdnpu/", "/lib/firmware/amdnpu/"} {
		if found := f.glob(root + folder + "/npu*.sbin*"); len(n.Files) == 0 {
			n.Files = append(n.Files, found...)
		}
	}
	return n, true
}
