// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package build

// linuxRecipe builds the kernel as Debian packages. The last check is the
// recipe's own: olddefconfig drops options silently.
func linuxRecipe() *Recipe {
	make := []string{"make", "-C", "/src/linux", "O=/build/linux", "LLVM=1", "KBUILD_BUILD_USER=build", "KBUILD_BUILD_HOST=build", "KBUILD_BUILD_VERSION=1"}
	with := func(args ...string) []string { return append(make[:len(make):len(make)], args...) }
	return &Recipe{
		Name: "linux", What: "the kernel with amdxdna and amdgpu, as Debian packages",
		Pins: []string{"linux"}, Toolchain: "debian-kernel-build",
		Steps: []Step{
			{Name: "config", Args: with("defconfig", "kvm_guest.config")},
			{Name: "options", Dir: "/build/linux", Args: []string{
				"/src/linux/scripts/config", "--enable", "DRM_ACCEL", "--module", "DRM_ACCEL_AMDXDNA", "--module", "DRM_AMDGPU", "--enable", "HSA_AMD",
				"--set-str", "LOCALVERSION", "-1bit", "--disable", "LOCALVERSION_AUTO", "--set-str", "SYSTEM_TRUSTED_KEYS", "",
				"--disable", "MODULE_SIG_ALL", "--disable", "DEBUG_INFO_BTF",
			}},
			{Name: "settle", Args: with("olddefconfig")},
			{Name: "DRM_ACCEL survived", Args: []string{"grep", "-x", "CONFIG_DRM_ACCEL=y", "/build/linux/.config"}},
			{Name: "DRM_ACCEL_AMDXDNA survived", Args: []string{"grep", "-x", "CONFIG_DRM_ACCEL_AMDXDNA=m", "/build/linux/.config"}},
			{Name: "DRM_AMDGPU survived", Args: []string{"grep", "-x", "CONFIG_DRM_AMDGPU=m", "/build/linux/.config"}},
			{Name: "packages", Args: with("bindeb-pkg")},
			{Name: "collect", Dir: "/build", Args: []string{"find", ".", "-maxdepth", "1", "-name", "*.deb", "-exec", "cp", "-t", "/out", "{}", "+"}},
		},
		Outputs:  []string{"*.deb"},
		Licenses: []string{"GPL-2.0: whoever passes the packages on owes the sources"},
	}
}
