// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package layout says where things lie in the unpacked distribution, relative
// to the binary 1bit, so that the packaging that puts them there and the
// program that looks for them cannot disagree. It is a leaf: names only.
package layout

import "path"

// Names of files and programs.
const (
	Binary      = "1bit"
	LlamaServer = "llama-server"
	NPU         = "1bit-npu"
	Manifest    = "manifest.json"
	License     = "LICENSE"
	Notice      = "NOTICE"
)

// Exe returns the file name of a program on the operating system goos.
func Exe(program, goos string) string {
	if goos == "windows" {
		return program + ".exe"
	}
	return program
}

// LlamaDirs returns the folders, slash-separated and relative to the binary's,
// in which the llama-server for a device (a name of package devices) may lie,
// best first: the build for that device, then one that can do several, then
// beside the binary.
func LlamaDirs(device string) []string {
	var dirs []string
	switch device {
	case "vulkan", "hrx":
		dirs = append(dirs, path.Join(device, "llama", "bin"))
	case "rocm":
		dirs = append(dirs, "lean/llama-rocm/bin")
	case "cpu":
		dirs = append(dirs, "cpu/llama/bin", "vulkan/llama/bin")
	}
	return append(dirs, "llama/bin", ".")
}
