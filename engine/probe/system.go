// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"strconv"
	"strings"
)

// container says in which kind of container we run, and whether in WSL.
func (f Files) container() (string, bool) {
	version := strings.ToLower(f.line("/proc/version"))
	wsl := strings.Contains(version, "microsoft") || f.there("/dev/dxg")
	switch {
	case f.there("/.dockerenv"):
		return "docker", wsl
	case f.there("/run/.containerenv"):
		return "podman", wsl
	case f.line("/run/systemd/container") != "":
		return f.line("/run/systemd/container"), wsl
	}
	environ, _ := f.read("/proc/1/environ")
	for _, kv := range strings.Split(environ, "\x00") {
		if kind, ok := strings.CutPrefix(kv, "container="); ok {
			return kind, wsl
		}
	}
	return "", wsl
}

// memory returns the system's memory.
func (f Files) memory() Pool {
	kib := func(key string) int64 {
		n, _ := strconv.ParseInt(strings.TrimSuffix(f.key("/proc/meminfo", key), " kB"), 10, 64)
		return n << 10
	}
	total := kib("MemTotal")
	return Pool{total, total - kib("MemAvailable")}
}

// icds returns the Vulkan drivers that are installed.
func (f Files) icds() (list []string) {
	for _, dir := range []string{"/etc/vulkan/icd.d/", "/usr/local/share/vulkan/icd.d/", "/usr/share/vulkan/icd.d/"} {
		list = append(list, f.glob(dir+"*.json")...)
	}
	return list
}

// An HSA is a runtime of ROCm.
type HSA struct {
	Path    string `json:"path"`
	Version string `json:"version,omitempty"`
}

// hsa returns the HSA runtimes in the usual places.
func (f Files) hsa() (list []HSA) {
	const name = "libhsa-runtime64.so.1"
	for _, root := range []string{"/opt/rocm", "/opt/rocm/core", "/opt/rocm-therock"} {
		for _, lib := range f.glob(root + "/lib/" + name) {
			h := HSA{Path: lib}
			for _, v := range []string{"/.info/version", "/share/rocm/version", "/version"} {
				if h.Version == "" {
					h.Version = f.line(root + v)
				}
			}
			list = append(list, h)
		}
	}
	for _, dir := range []string{"/usr/lib/x86_64-linux-gnu/", "/usr/lib64/", "/usr/lib/"} {
		for _, lib := range f.glob(dir + name) {
			list = append(list, HSA{Path: lib})
		}
	}
	return list
}

// page is the unit of ttm.pages_limit.
const page = 4 << 10

func (f Files) limits() Limits {
	l := Limits{TTM: f.number("/sys/module/ttm/parameters/pages_limit") * page}
	if mib := f.number("/sys/module/amdgpu/parameters/gttsize"); mib > 0 {
		l.GTT = mib << 20
	}
	text, _ := f.read("/proc/self/limits")
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "Max locked memory"); ok && strings.TrimSpace(rest) != "" {
			l.MemLock = strings.Fields(rest)[0]
		}
	}
	var concerns []string
	for _, word := range strings.Fields(f.line("/proc/cmdline")) {
		for _, prefix := range []string{"amd_iommu=", "iommu=", "amdgpu.", "ttm.", "amdxdna."} {
			if strings.HasPrefix(word, prefix) {
				concerns = append(concerns, word)
			}
		}
	}
	l.Kernel = strings.Join(concerns, " ")
	return l
}

func (f Files) power() Power {
	const cpu = "/sys/devices/system/cpu/cpu0/cpufreq/"
	p := Power{Profile: f.line("/sys/firmware/acpi/platform_profile"), Governor: f.line(cpu + "scaling_governor"), EPP: f.line(cpu + "energy_performance_preference")}
	for _, dir := range f.glob("/sys/class/power_supply/*") {
		if f.line(dir+"/type") == "Mains" {
			p.AC = map[string]string{"1": "on", "0": "off"}[f.line(dir+"/online")]
		}
	}
	return p
}

// memlockLeast is what the NPU's driver must be able to pin for a model.
const memlockLeast = 1 << 30

// warnings are what works and may disappoint.
func (m Machine) warnings() (list []string) {
	for _, g := range m.GPUs {
		if g.GFX == "gfx1151" && !g.CWSR {
			list = append(list, "this kernel lacks the fix that ROCm needs on gfx1151 (KFD shows no cwsr_size): hrx and rocm may fault; use Linux 6.18.4 or newer")
		}
		if g.Level != "" && g.Level != "auto" {
			list = append(list, g.Name+" is held at the performance level "+g.Level+", not auto")
		}
	}
	if n, err := strconv.ParseInt(m.Limits.MemLock, 10, 64); err == nil && n < memlockLeast && len(m.NPUs) > 0 {
		list = append(list, "only "+strconv.FormatInt(n>>10, 10)+" KiB of memory may be locked, and the NPU needs a model's size: raise the memlock limit")
	}
	if strings.Contains(" "+m.Limits.Kernel, " amd_iommu=off") && len(m.NPUs) > 0 {
		list = append(list, "the kernel was started with amd_iommu=off: the NPU may not work without an IOMMU")
	}
	if m.Power.AC == "off" {
		list = append(list, "the machine runs on its battery: figures will be lower")
	}
	return list
}
