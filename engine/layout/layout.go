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
	ZINC        = "zinc"
	MLX         = "mlx-server"
	Laya        = "laya"
	Manifest    = "manifest.json"
	License     = "LICENSE"
	Notice      = "NOTICE"

	LibHSA = "libhsa-runtime64.so.1" // beside the HRX build, in HSADirs
)

// Builds of llama-server, one folder each.
const (
	Vulkan     = "vulkan"
	HRX        = "hrx"
	LeanVulkan = "lean-vulkan"
	LeanROCm   = "lean-rocm"
	CPU        = "cpu"
)

// Exe returns the file name of a program on the operating system goos.
func Exe(program, goos string) string {
	if goos == "windows" {
		return program + ".exe"
	}
	return program
}

// LlamaDirs returns the folders, slash-separated and relative to the binary's,
// in which a build of llama-server may lie, best first. A build that only
// some other program can stand in for ends with the folders of any llama-server.
func LlamaDirs(build string) []string {
	switch build {
	case Vulkan, HRX:
		return []string{path.Join(build, "llama", "bin"), "llama/bin", "."}
	case LeanVulkan:
		return []string{"lean/llama/bin"}
	case LeanROCm:
		return []string{"lean/llama-rocm/bin"}
	}
	return []string{"cpu/llama/bin", "vulkan/llama/bin", "llama/bin", "."}
}

// Dirs returns the folders in which another program may lie, best first.
func Dirs(program string) []string {
	switch program {
	case ZINC:
		return []string{"zinc/vulkan/bin", "zinc/rocm/bin", "zinc/cuda/bin", "."}
	case MLX:
		return []string{"mlx/bin", "."}
	case Laya:
		return []string{"laya/bin", "."}
	}
	return []string{"."}
}

// HSADirs returns the folders in which the distribution's HSA runtime may lie.
func HSADirs() []string { return []string{"hrx/llama/bin", "hrx/llama/lib", "hrx/lib"} }
