// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package version says what this binary was made from. The build sets it by
// the linker; a binary built without says "unknown" rather than guess.
package version

import (
	"runtime"
	"runtime/debug"
	"strings"
)

// Set by the linker: -X github.com/1bit-MONSTER/engine/engine/version.NAME=…
var (
	version string // the content of the file VERSION, such as "2026.48"
	source  string // "t1:…" over the files that went in
	pins    string // NAME=VERSION, separated by blanks, in order
)

// unknown stands for what the build did not say.
const unknown = "unknown"

// A Pin is an upstream that feeds this binary.
type Pin struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// An Info is what is known about this binary.
type Info struct {
	Version string `json:"version"` // without a leading v; "unknown" when the build did not say
	Source  string `json:"source"`  // sum of the sources; "unknown" when the build did not say
	Pins    []Pin  `json:"pins"`    // never nil
	Go      string `json:"go"`      // the Go release that compiled it
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

// Get returns what is known about this binary.
func Get() Info {
	main := ""
	if version == "" { // reading the build information costs time
		if b, ok := debug.ReadBuildInfo(); ok {
			main = b.Main.Version
		}
	}
	return info(version, source, pins, main)
}

// info is Get with the values given; module is the version of the main module
// that "go install module@version" records.
func info(version, source, pins, module string) Info {
	i := Info{Version: version, Source: source, Pins: []Pin{}, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	if i.Version == "" && module != "(devel)" {
		i.Version = strings.TrimPrefix(module, "v")
	}
	if i.Version == "" {
		i.Version = unknown
	}
	if i.Source == "" {
		i.Source = unknown
	}
	for _, p := range strings.Fields(pins) {
		name, v, ok := strings.Cut(p, "=")
		if !ok {
			v = unknown
		}
		i.Pins = append(i.Pins, Pin{name, v})
	}
	return i
}
