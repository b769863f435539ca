// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package build

// The pins of the root file systems for C and C++.
const (
	debianBuild  = "debian-bookworm-build"
	debianVulkan = "debian-trixie-vulkan"
)

// ggmlPrograms are the programs of llama.cpp that we ship of each build.
var ggmlPrograms = []string{"llama-server", "llama-bench"}

// cTools are the programs that builds of C and C++ with CMake start.
var cTools = []string{"cmake", "ninja", "gcc", "g++", "ld", "install", "mkdir"}

// cFlags make compiler output independent of where sources and build lie, and
// name the processor.
const cFlags = "-march={cpu} -ffile-prefix-map=/src/=/ -ffile-prefix-map=/build/=/ -gno-record-gcc-switches"

// ggmlCMake are the settings that all builds of llama.cpp share. Nothing may
// look at the builder's processor, the web, git or a compiler cache; the
// libraries are linked in, so that a program is one file.
func ggmlCMake(pin, build string) []string {
	return []string{
		"cmake", "-S", "/src/" + pin, "-B", build, "-G", "Ninja",
		"-DCMAKE_BUILD_TYPE=Release",
		"-DCMAKE_C_COMPILER=/usr/bin/gcc-14", "-DCMAKE_CXX_COMPILER=/usr/bin/g++-14",
		"-DCMAKE_C_FLAGS=" + cFlags, "-DCMAKE_CXX_FLAGS=" + cFlags,
		"-DCMAKE_SKIP_RPATH=ON", "-DBUILD_SHARED_LIBS=OFF",
		"-DGGML_NATIVE=OFF", "-DGGML_CCACHE=OFF", "-DGGML_CPU=ON",
		"-DLLAMA_BUILD_SERVER=ON", "-DLLAMA_BUILD_TESTS=OFF", "-DLLAMA_BUILD_EXAMPLES=OFF",
		"-DLLAMA_OPENSSL=OFF", "-DLLAMA_CURL=OFF",
		"-DLLAMA_BUILD_NUMBER=0", "-DLLAMA_BUILD_COMMIT={commit12:" + pin + "}",
		"{inputs:" + pin + "}",
	}
}

// ggmlSteps configures, builds and collects the programs.
func ggmlSteps(configure []string) []Step {
	steps := []Step{
		{Name: "configure", Args: configure},
		{Name: "build", Args: append([]string{"cmake", "--build", "/build/llama", "--target"}, ggmlPrograms...)},
		{Name: "folder", Args: []string{"mkdir", "-p", "/out/bin"}},
	}
	for _, p := range ggmlPrograms {
		steps = append(steps, Step{Name: "install " + p, Args: []string{"install", "-s", "-m", "755", "/build/llama/bin/" + p, "/out/bin/" + p}})
	}
	return steps
}

func ggmlOutputs() []string { return []string{"bin/llama-server", "bin/llama-bench"} }

func llamaVulkanRecipe() *Recipe {
	const pin = "llama-vulkan"
	return &Recipe{
		Name: "llama-vulkan", What: "llama-server and llama-bench for Vulkan",
		Pins: []string{pin}, Toolchain: debianVulkan, CPUs: []CPU{X8664V3, Znver5}, Tools: append(cTools[:len(cTools):len(cTools)], "gcc-14", "g++-14", "glslc"),
		Steps: ggmlSteps(append(ggmlCMake(pin, "/build/llama"),
			"-DGGML_VULKAN=ON", "-DLLAMA_BUILD_UI=OFF", "-DLLAMA_USE_PREBUILT_UI=OFF")),
		Outputs: ggmlOutputs(),
	}
}

func leanRecipe() *Recipe {
	const pin = "rocmfpx"
	return &Recipe{
		Name: "lean", What: "ROCmFPX's llama-server and llama-bench for Vulkan",
		Pins: []string{pin}, Toolchain: debianVulkan, CPUs: []CPU{X8664V3, Znver5}, Tools: append(cTools[:len(cTools):len(cTools)], "gcc-14", "g++-14", "glslc"),
		Steps: ggmlSteps(append(ggmlCMake(pin, "/build/llama"),
			"-DGGML_VULKAN=ON", "-DLLAMA_BUILD_WEBUI=OFF", "-DLLAMA_USE_PREBUILT_WEBUI=OFF")),
		Outputs: ggmlOutputs(),
	}
}

func leanROCmRecipe() *Recipe {
	const pin = "rocmfpx"
	return &Recipe{
		Name: "lean-rocm", What: "ROCmFPX's llama-server and llama-bench for ROCm, with 4-bit activations",
		Pins: []string{pin}, Toolchain: "therock", CPUs: []CPU{Znver5},
		Steps: ggmlSteps(append(ggmlCMake(pin, "/build/llama"),
			"-DCMAKE_HIP_ARCHITECTURES=gfx1151", "-DCMAKE_PREFIX_PATH=/opt/rocm-therock",
			// hipBLAS multiplies wrongly on gfx1151: ROCm/rocm-libraries#11530
			"-DGGML_HIP=ON", "-DGGML_HIP_ROCMI4_W4A4=ON", "-DGGML_CUDA_FORCE_MMQ=ON",
			"-DLLAMA_BUILD_WEBUI=OFF", "-DLLAMA_USE_PREBUILT_WEBUI=OFF")),
		Outputs:     ggmlOutputs(),
		Unavailable: "it needs TheRock's compiler and HIP, whose files have no lock yet (pin therock)",
	}
}

func llamaHRXRecipe() *Recipe {
	const pin = "llama-hrx"
	return &Recipe{
		Name: "llama-hrx", What: "llama-server and llama-bench for HRX, with hrx-system built in",
		Pins: []string{pin, "hrx-system"}, Toolchain: "therock", CPUs: []CPU{Znver5},
		Steps: ggmlSteps(append(ggmlCMake(pin, "/build/llama"),
			"-DCMAKE_C_COMPILER=/opt/rocm-therock/bin/amdclang", "-DCMAKE_CXX_COMPILER=/opt/rocm-therock/bin/amdclang++",
			"-DGGML_HRX=ON", "-DHRX_SOURCE_DIR=/src/hrx-system", "-DGGML_VULKAN=ON", "-DGGML_CUDA=OFF", "-DGGML_HIP=OFF",
			"-DLLAMA_BUILD_UI=OFF", "-DLLAMA_USE_PREBUILT_UI=OFF", "{inputs:hrx-system}")),
		Outputs:     ggmlOutputs(),
		Unavailable: "it needs TheRock's amdclang, whose files have no lock yet (pin therock)",
	}
}
