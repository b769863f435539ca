// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"path"
	"strings"
	"testing"
)

func TestDirs(t *testing.T) {
	all := map[string][]string{"hsa": HSADirs()}
	for _, build := range []string{Vulkan, HRX, LeanVulkan, LeanROCm, CPU} {
		all[build] = LlamaDirs(build)
	}
	for _, program := range []string{NPU, ZINC, MLX, Laya} {
		all[program] = Dirs(program)
	}
	for name, dirs := range all {
		if len(dirs) == 0 {
			t.Errorf("%s: nowhere", name)
		}
		for _, dir := range dirs {
			if path.IsAbs(dir) || strings.HasPrefix(path.Clean(dir), "..") || path.Clean(dir) != dir {
				t.Errorf("%s: %q leaves the distribution", name, dir)
			}
		}
	}
	for build, want := range map[string]string{Vulkan: "vulkan/llama/bin", HRX: "hrx/llama/bin", LeanVulkan: "lean/llama/bin", LeanROCm: "lean/llama-rocm/bin"} {
		if got := LlamaDirs(build)[0]; got != want {
			t.Errorf("%s: %q", build, got)
		}
	}
}

func TestExe(t *testing.T) {
	if Exe(LlamaServer, "windows") != "llama-server.exe" || Exe(LlamaServer, "linux") != "llama-server" {
		t.Error("wrong names")
	}
}
