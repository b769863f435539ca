// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package parts

// A part is how a real part is found, how its version is read, and which
// package brings it.
type part struct {
	programs []string // names on PATH, the first that is there
	files    []string // or files, as glob patterns
	version  []string // arguments that print the version; none: ask Debian about its package
	prefix   string   // how the line with the version begins; the first line otherwise
	debian   string   // package
	suite    string   // empty: any Debian since 12
	other    string   // how to get it where no package has it
}

var (
	dashes = []string{"--version"}
	forky  = "forky"
)

// known is every part that a test may ask for.
var known = map[string]part{
	"apt-get":            {programs: []string{"apt-get"}, version: dashes, debian: "apt"},
	"bwrap":              {programs: []string{"bwrap"}, version: dashes, debian: "bubblewrap"},
	"cargo":              {programs: []string{"cargo"}, version: dashes, debian: "cargo"},
	"chromium":           {programs: []string{"chromium"}, version: dashes, debian: "chromium"},
	"clang-19":           {programs: []string{"clang-19"}, version: dashes, debian: "clang-19"},
	"cmake":              {programs: []string{"cmake"}, version: dashes, debian: "cmake"},
	"dagger":             {programs: []string{"dagger"}, version: []string{"version"}, other: "the dagger command of the version in dagger.json, and an engine that it can reach"},
	"debian-archive":     {debian: "debian-archive-keyring", other: "stated only: ONEBIT_TEST_DEBIAN_ARCHIVE names the archive's keyring, and apt's own archive is asked"},
	"debootstrap":        {programs: []string{"debootstrap"}, version: dashes, debian: "debootstrap"},
	"diffoscope":         {programs: []string{"diffoscope"}, version: dashes, debian: "diffoscope-minimal"},
	"docker-registry":    {programs: []string{"docker-registry"}, version: dashes, debian: "docker-registry"},
	"dpkg-deb":           {programs: []string{"dpkg-deb"}, version: dashes, debian: "dpkg"},
	"g++":                {programs: []string{"g++"}, version: dashes, debian: "g++"},
	"gcc":                {programs: []string{"gcc"}, version: dashes, debian: "gcc"},
	"gpg":                {programs: []string{"gpg"}, version: dashes, debian: "gpg"},
	"gpgv":               {programs: []string{"gpgv"}, version: dashes, debian: "gpgv"},
	"git":                {programs: []string{"git"}, version: dashes, debian: "git"},
	"glslc":              {programs: []string{"glslc"}, version: dashes, debian: "glslc"},
	"lavapipe":           {files: []string{"/usr/share/vulkan/icd.d/lvp_icd*.json"}, debian: "mesa-vulkan-drivers"},
	"linux-source-7.3":   {files: []string{"/usr/src/linux-source-7.3.tar.xz"}, debian: "linux-source-7.3", suite: "trixie-backports"},
	"lld-19":             {programs: []string{"ld.lld-19"}, version: dashes, debian: "lld-19"},
	"llama-bench":        {programs: []string{"llama-bench"}, version: dashes, prefix: "version:", debian: "llama.cpp-tools", suite: forky},
	"llama-server":       {programs: []string{"llama-server"}, version: dashes, prefix: "version:", debian: "llama.cpp-tools", suite: forky},
	"ninja":              {programs: []string{"ninja"}, version: dashes, debian: "ninja-build"},
	"node":               {programs: []string{"node", "nodejs"}, version: dashes, debian: "nodejs"},
	"npm":                {programs: []string{"npm"}, version: dashes, debian: "npm"},
	"ssh-keygen":         {programs: []string{"ssh-keygen"}, debian: "openssh-client"}, // it does not say its version
	"qemu-system-x86_64": {programs: []string{"qemu-system-x86_64"}, version: dashes, debian: "qemu-system-x86"},
}

// get says in a few words how the part comes to a machine.
func (k part) get() string {
	switch {
	case k.other != "":
		return k.other
	case k.debian != "" && k.suite != "":
		return "Debian's package " + k.debian + " of " + k.suite
	case k.debian != "":
		return "Debian's package " + k.debian
	}
	return ""
}
