// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package build

func npuKernelsRecipe() *Recipe {
	return &Recipe{
		Name: "npu-kernels", What: "the NPU's kernels, from IRON and Peano",
		Pins: []string{"mlir-aie"}, Needs: []string{"xdna"}, Toolchain: "llvm-aie",
		Steps: []Step{
			{Name: "build", Dir: "/src/mlir-aie", Args: []string{"python3", "-m", "aie.compiler.aiecc.main", "--version"}},
		},
		Outputs:     []string{"kernels"},
		Unavailable: "its kernels are not written yet, and Peano's files have no lock (pin llvm-aie)",
	}
}
