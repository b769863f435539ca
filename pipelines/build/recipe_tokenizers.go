// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package build

func tokenizersRecipe() *Recipe {
	return &Recipe{
		Name: "tokenizers", What: "Hugging Face's tokenizers as a static library with our C ABI",
		Pins: []string{"tokenizers"}, Toolchain: "rust", CPUs: []CPU{X8664V3},
		Env: []string{"CARGO_HOME=/build/cargo", "CARGO_TARGET_DIR=/build/target", "CARGO_NET_OFFLINE=true", "RUSTFLAGS=-C target-cpu={cpu} --remap-path-prefix=/src=/ --remap-path-prefix=/build=/"},
		Steps: []Step{
			{Name: "build", Dir: "/src/tokenizers/tokenizers", Args: []string{"cargo", "build", "--release", "--locked", "--offline"}},
			{Name: "install", Args: []string{"install", "-D", "-m", "644", "/build/target/release/libtokenizers.rlib", "/out/lib/libtokenizers.rlib"}},
		},
		Outputs:     []string{"lib/libtokenizers.rlib"},
		Unavailable: "it needs the Rust toolchain, whose files have no lock yet (pin rust), and the C ABI, which is not written yet",
	}
}
