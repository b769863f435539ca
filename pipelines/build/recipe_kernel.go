// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package build

// kernelMake runs make over the kernel, whose build takes the time from nowhere
// but its own variable.
var kernelMake = []string{
	"make", "-C", "/src/linux", "O=/build/linux", "LLVM=1", "KBUILD_BUILD_USER=build", "KBUILD_BUILD_HOST=build", "KBUILD_BUILD_VERSION=1",
	"KBUILD_BUILD_TIMESTAMP=$(shell date -ud @$(SOURCE_DATE_EPOCH))",
}

// changelogDate gives the packages' changelog the date of the sources: the
// kernel's script writes the time of day into it.
const changelogDate = `DPKG_FLAGS=--hook-preinit='sed -i "s/^\( -- .*>\).*/\1\x20\x20$$(date -uR -d @$$SOURCE_DATE_EPOCH)/" debian/changelog'`

// kernelOptions are the options that must be in the configuration that is
// built. olddefconfig drops one whose needs are not met without a word, so
// each is looked for afterwards.
var kernelOptions = []struct{ name, value string }{
	{"AMD_IOMMU", "y"}, // amdxdna needs it
	{"DRM_ACCEL", "y"},
	{"DRM_ACCEL_AMDXDNA", "m"},
	{"DRM_AMDGPU", "m"},
	{"HSA_AMD", "y"},
	{"BLK_DEV_NVME", "y"}, // what the machines start from
	// AMD_PMF tells the NPU's figures; the others are what it needs.
	{"CRYPTO_DEV_CCP", "y"},
	{"CRYPTO_DEV_CCP_DD", "m"},
	{"CRYPTO_DEV_SP_PSP", "y"},
	{"TEE", "m"},
	{"AMDTEE", "m"},
	{"AMD_SFH_HID", "m"},
	{"AMD_PMF", "m"},
	{"OVERLAY_FS", "m"},
	{"SQUASHFS", "m"},
}

// linuxRecipe builds the kernel as Debian packages: the kernel's own defaults,
// what a virtual machine needs, and kernelOptions.
func linuxRecipe() *Recipe {
	with := func(args ...string) []string { return append(kernelMake[:len(kernelMake):len(kernelMake)], args...) }
	options := []string{"/src/linux/scripts/config"}
	var survived []Step
	for _, o := range kernelOptions {
		how := "--enable"
		if o.value == "m" {
			how = "--module"
		}
		options = append(options, how, o.name)
		survived = append(survived, Step{
			Name: o.name + " survived", Args: []string{"grep", "-x", "CONFIG_" + o.name + "=" + o.value, "/build/linux/.config"},
		})
	}
	options = append(options,
		"--set-str", "LOCALVERSION", "-1bit", "--disable", "LOCALVERSION_AUTO", "--set-str", "SYSTEM_TRUSTED_KEYS", "",
		"--disable", "MODULE_SIG_ALL", "--disable", "DEBUG_INFO_BTF")
	steps := []Step{
		{Name: "config", Args: with("defconfig", "kvm_guest.config")},
		{Name: "options", Dir: "/build/linux", Args: options},
		{Name: "settle", Args: with("olddefconfig")},
	}
	steps = append(steps, survived...)
	return &Recipe{
		Name: "linux", What: "the kernel with amdxdna and amdgpu, as Debian packages",
		Pins: []string{"linux"}, Toolchain: "debian-kernel-build",
		Steps: append(steps,
			Step{Name: "packages", Args: with(changelogDate, "bindeb-pkg")},
			Step{Name: "collect", Args: []string{"find", ".", "-maxdepth", "1", "-name", "*.deb", "-exec", "cp", "-t", "/out", "{}", "+"}}),
		Outputs:  []string{"*.deb"},
		Licenses: []string{"GPL-2.0: whoever passes the packages on owes the sources"},
	}
}
