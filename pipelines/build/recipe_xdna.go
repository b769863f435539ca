// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package build

// xdnaRecipe builds XRT without its tests and OpenCL part (a newer ocl_icd.h
// breaks it), then the shim of the NPU driver on top, without a kernel module.
func xdnaRecipe() *Recipe {
	return &Recipe{
		Name: "xdna", What: "XRT and the XDNA shim, the NPU's user space",
		Pins: []string{"xdna-driver", "xrt"}, Toolchain: debianBuild, CPUs: []CPU{X8664V3}, Tools: cTools,
		Steps: []Step{
			{Name: "configure XRT", Args: []string{
				"cmake", "-S", "/src/xrt/src", "-B", "/build/xrt", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
				"-DCMAKE_C_FLAGS=" + cFlags, "-DCMAKE_CXX_FLAGS=" + cFlags,
				"-DXRT_NPU=1", "-DXRT_EXCLUDE_SUB_DIRECTORY=src/runtime_src/xocl", "-DCMAKE_INSTALL_PREFIX=/opt/xilinx/xrt", "{inputs:xrt}",
			}},
			{Name: "build XRT", Args: []string{"cmake", "--build", "/build/xrt"}},
			{Name: "install XRT", Args: []string{"cmake", "--install", "/build/xrt"}, Env: []string{"DESTDIR=/out"}},
			{Name: "configure the shim", Args: []string{
				"cmake", "-S", "/src/xdna-driver", "-B", "/build/shim", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
				"-DCMAKE_C_FLAGS=" + cFlags, "-DCMAKE_CXX_FLAGS=" + cFlags, "-DSKIP_KMOD=1", "{inputs:xdna-driver}",
			}},
			{Name: "build the shim", Args: []string{"cmake", "--build", "/build/shim"}},
			{Name: "install the shim", Args: []string{"cmake", "--install", "/build/shim"}, Env: []string{"DESTDIR=/out"}},
		},
		Outputs: []string{"opt/xilinx/xrt"},
	}
}
