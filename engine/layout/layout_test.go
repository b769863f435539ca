// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"path"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/engine/devices"
)

func TestLlamaDirs(t *testing.T) {
	for _, d := range devices.All() {
		dirs := LlamaDirs(string(d))
		if len(dirs) == 0 || dirs[len(dirs)-1] != "." {
			t.Errorf("%s: %q does not end beside the binary", d, dirs)
		}
		for _, dir := range dirs {
			if path.IsAbs(dir) || strings.HasPrefix(path.Clean(dir), "..") || path.Clean(dir) != dir {
				t.Errorf("%s: %q leaves the distribution", d, dir)
			}
		}
	}
	if got := LlamaDirs(string(devices.Vulkan))[0]; got != "vulkan/llama/bin" {
		t.Errorf("vulkan: %q", got)
	}
}

func TestExe(t *testing.T) {
	if Exe(LlamaServer, "windows") != "llama-server.exe" || Exe(LlamaServer, "linux") != "llama-server" {
		t.Error("wrong names")
	}
}
