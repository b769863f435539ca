// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package build

func lemonadeRecipe() *Recipe {
	return &Recipe{
		Name: "lemonade", What: "Lemonade's server and command line, with the backend onebit",
		Pins: []string{"lemonade"}, Toolchain: debianBuild, CPUs: []CPU{X8664V3}, Tools: cTools,
		Steps: []Step{
			{Name: "configure", Args: []string{
				"cmake", "-S", "/src/lemonade", "-B", "/build/lemonade", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
				"-DCMAKE_C_FLAGS=" + cFlags, "-DCMAKE_CXX_FLAGS=" + cFlags, "-DBUILD_WEB_APP=OFF", "-DCMAKE_INSTALL_PREFIX=/", "{inputs:lemonade}",
			}},
			{Name: "build", Args: []string{"cmake", "--build", "/build/lemonade"}},
			{Name: "install", Args: []string{"cmake", "--install", "/build/lemonade"}, Env: []string{"DESTDIR=/out"}},
		},
		Outputs:     []string{"bin"},
		Unavailable: "its declared downloads have no inputs in the lock yet (pin lemonade)",
	}
}
