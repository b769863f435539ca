// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package ability

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/inert"
)

// textLimit bounds what a program says of itself, in bytes; it is shown on
// terminals.
const textLimit = 200

// mostDevices bounds a list; machines have a few.
const mostDevices = 64

// A device's line: two blanks, name, colon, description with anything in it,
// memory.
var deviceLine = regexp.MustCompile(`(?m)^  ([A-Za-z]+[0-9]+): (.*) \(([0-9]+) MiB, ([0-9]+) MiB free\)\r?$`)

// parseDevices reads the output of --list-devices; ok is false when it is none.
func parseDevices(text string) (list []Device, ok bool) {
	for _, m := range deviceLine.FindAllStringSubmatch(text, mostDevices) {
		about := inert.Text(m[2], 1, textLimit)
		d := Device{Name: m[1], Description: about, Software: Software(about)}
		d.TotalMiB, _ = strconv.ParseInt(m[3], 10, 64)
		d.FreeMiB, _ = strconv.ParseInt(m[4], 10, 64)
		list = append(list, d)
	}
	return list, strings.Contains(text, "Available devices:")
}

// Software says whether the description of a device is that of a renderer that
// runs on the CPU. What such a device computes is right, and says nothing about
// a GPU.
func Software(description string) bool {
	low := strings.ToLower(description)
	for _, name := range []string{"llvmpipe", "lavapipe", "softpipe", "swiftshader", "swrast", "microsoft basic render"} {
		if strings.Contains(low, name) {
			return true
		}
	}
	return false
}
