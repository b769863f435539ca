// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package probe looks at the machine: GPUs, NPUs, memory, limits, power, and
// which devices of 1bit serve that makes possible. It reads files below /sys,
// /proc and /dev and needs no vendor's library; what a llama-server lists is
// given to it.
//
// Limits: Linux only, elsewhere everything is absent. A device that is there and
// may not be opened is told apart from one that is absent; to know, it is opened
// and closed again.
package probe

import (
	"cmp"
	"runtime"
	"slices"

	"github.com/1bit-MONSTER/engine/engine/ability"
)

// An Access says whether a file or device is there and may be used.
type Access string

// The kinds of access.
const (
	Usable Access = "usable"
	Denied Access = "denied" // it is there and may not be opened
	Absent Access = "absent"
	Broken Access = "broken" // it is there and opening fails in another way
)

// A Machine is what was found. Sizes are in bytes, 0 where they are unknown.
type Machine struct {
	OS        string   `json:"os"`
	Kernel    string   `json:"kernel"`
	Container string   `json:"container,omitempty"` // which kind, when we run in one
	WSL       bool     `json:"wsl,omitempty"`
	CPU       string   `json:"cpu"`
	Memory    Pool     `json:"memory"`
	KFD       Node     `json:"kfd"`
	GPUs      []GPU    `json:"gpus"`
	NPUs      []NPU    `json:"npus"`
	Vulkan    Vulkan   `json:"vulkan"`
	HSA       []HSA    `json:"hsa"`
	Limits    Limits   `json:"limits"`
	Power     Power    `json:"power"`
	Warnings  []string `json:"warnings"`
	Rows      []Row    `json:"devices"`
}

// A Node is a device node.
type Node struct {
	Path   string `json:"path"`
	Access Access `json:"access"`
	Reason string `json:"reason,omitempty"` // why it may not be used
}

// A Pool is some memory.
type Pool struct {
	Total int64 `json:"total"`
	Used  int64 `json:"used"`
}

// Vulkan is what is known of it: the drivers that are installed, and the
// devices that a backend lists, when one was asked.
type Vulkan struct {
	Drivers []string         `json:"drivers"`
	Asked   string           `json:"asked,omitempty"` // the program that listed Devices
	Devices []ability.Device `json:"devices"`
}

// Limits bound memory. A GTT limit is in the kernel's module parameters.
type Limits struct {
	TTM     int64  `json:"ttm"`     // bytes that the GPU may take of the system's memory; 0: unknown
	GTT     int64  `json:"gttsize"` // of amdgpu.gttsize; 0: not set
	MemLock string `json:"memlock"` // bytes, or "unlimited"; empty: unknown
	Kernel  string `json:"cmdline"` // what of the kernel's command line concerns GPUs
}

// Power is what changes how fast the machine is.
type Power struct {
	Profile  string `json:"platform_profile,omitempty"`
	Governor string `json:"governor,omitempty"`
	EPP      string `json:"energy_performance_preference,omitempty"`
	AC       string `json:"ac,omitempty"` // "on" or "off"
}

// Read looks at the machine whose files are in f.
func Read(f Files) Machine {
	m := Machine{OS: runtime.GOOS, GPUs: []GPU{}, NPUs: []NPU{}, HSA: []HSA{}, Warnings: []string{}, Vulkan: Vulkan{Drivers: []string{}, Devices: []ability.Device{}}}
	m.Kernel = f.line("/proc/sys/kernel/osrelease")
	m.Container, m.WSL = f.container()
	m.CPU = f.key("/proc/cpuinfo", "model name")
	m.Memory = f.memory()
	m.KFD = f.node("/dev/kfd")
	m.GPUs = f.gpus()
	m.NPUs = f.npus()
	m.Vulkan.Drivers = append(m.Vulkan.Drivers, f.icds()...)
	m.HSA = append(m.HSA, f.hsa()...)
	m.Limits = f.limits()
	m.Power = f.power()
	m.Warnings = append(m.Warnings, m.warnings()...)
	slices.SortFunc(m.GPUs, func(a, b GPU) int { return cmp.Compare(a.Node.Path, b.Node.Path) })
	return m
}
