// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package devices has the names of the devices that 1bit serve can be told to
// use, and what llama.cpp calls them. It is a leaf: names only, no look at the
// machine.
package devices

import "strings"

// A Name is what --device takes.
type Name string

// The devices. Auto picks one of the others.
const (
	Auto   Name = "auto"
	NPU    Name = "npu"
	Vulkan Name = "vulkan"
	HRX    Name = "hrx"
	ROCm   Name = "rocm"
	ZINC   Name = "zinc"
	MLX    Name = "mlx"
	CPU    Name = "cpu"
)

// All returns the devices in the order in which they are shown.
func All() []Name { return []Name{Auto, NPU, Vulkan, HRX, ROCm, ZINC, MLX, CPU} }

// Parse returns the device of that name; ok is false when there is none.
func Parse(name string) (n Name, ok bool) {
	for _, n := range All() {
		if string(n) == name {
			return n, true
		}
	}
	return "", false
}

// List returns the names of All, separated by commas, for help and errors.
func List() string {
	var names []string
	for _, n := range All() {
		names = append(names, string(n))
	}
	return strings.Join(names, ", ")
}

// Llama returns the device string of llama.cpp, such as "Vulkan0": the name of
// its back-end and the index of the device. It is empty for a device that
// llama.cpp does not list.
func (n Name) Llama() string {
	switch n {
	case Vulkan:
		return "Vulkan0"
	case HRX:
		return "HRX0"
	case ROCm:
		return "ROCm0"
	}
	return ""
}
