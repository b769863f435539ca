// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package build

func zincRecipe() *Recipe {
	return &Recipe{
		Name: "zinc", What: "ZINC, a GGUF server in Zig, for Vulkan",
		Pins: []string{"zinc"}, Toolchain: "zig", CPUs: []CPU{X8664V3},
		Env: []string{"ZIG_GLOBAL_CACHE_DIR=/build/zig-global", "ZIG_LOCAL_CACHE_DIR=/build/zig-local"},
		Steps: []Step{{
			Name: "build", Dir: "/src/zinc",
			Args: []string{"zig", "build", "--prefix", "/out", "-Dbackend=vulkan", "-Doptimize=ReleaseFast", "-Dcpu=x86_64_v3", "-Dcommit={commit12:zinc}"},
		}},
		Outputs:     []string{"bin/zinc", "share"},
		Unavailable: "it needs the Zig compiler, whose files have no lock yet (pin zig)",
	}
}
