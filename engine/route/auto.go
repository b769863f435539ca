// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package route

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/engine/devices"
	"github.com/1bit-MONSTER/engine/internal/run"
)

// auto picks the device for --device auto: the GPU through Vulkan when the
// machine has one that the program lists, otherwise the CPU. A software
// renderer is no GPU.
func auto(ctx context.Context, r Request, h Host) (devices.Name, error) {
	if !h.GPU {
		return devices.CPU, nil
	}
	r.Device = devices.Vulkan
	path, err := llamaServer.find(r, h)
	if err != nil {
		return "", err
	}
	list, err := h.List(ctx, path)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err == nil && slices.Contains(list, devices.Vulkan.Llama()) {
		return devices.Vulkan, nil
	}
	return devices.CPU, nil
}

// listLimit bounds the start of the program that lists its devices: a first
// start compiles shaders and can take longer than ten seconds.
const listLimit = time.Minute

// ListDevices asks a llama-server which devices it can use, and leaves out
// software renderers. A CPU is never listed.
func ListDevices(ctx context.Context, program string) ([]string, error) {
	result, err := run.Command{Path: program, Args: []string{"--list-devices"}, Env: os.Environ(), Timeout: listLimit}.Run(ctx)
	if err != nil {
		return nil, err
	}
	return parseDevices(string(result.Stdout)), nil
}

// A device's line: two blanks, name, colon, description with anything in it,
// memory.
var deviceLine = regexp.MustCompile(`(?m)^  ([A-Za-z]+[0-9]+): (.*) \([0-9]+ MiB, [0-9]+ MiB free\)\r?$`)

func parseDevices(text string) []string {
	var names []string
	for _, m := range deviceLine.FindAllStringSubmatch(text, -1) {
		if !strings.Contains(m[2], "llvmpipe") {
			names = append(names, m[1])
		}
	}
	return names
}
