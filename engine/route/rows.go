// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package route

import (
	"fmt"
	"strconv"

	"github.com/1bit-MONSTER/engine/engine/devices"
)

// A row is one device: everything that serve must know about it.
type row struct {
	device  devices.Name
	program program
	args    func(Request, Model) []string
	env     []string
	ready   string
	forward []Forward
	refuse  []func(Request, Model) string // a reason, or ""
}

// rows are the devices that this build can serve on.
func rows() []row {
	return []row{
		{
			device:  devices.Vulkan,
			program: llamaServer,
			args: func(r Request, m Model) []string {
				return llamaArgs(r, m, "--device", r.Device.Llama(), "-ngl", "99")
			},
			ready:   "/health",
			forward: llamaForward,
			refuse:  []func(Request, Model) string{refuseRotated},
		},
		{
			device:  devices.CPU,
			program: llamaServer,
			args: func(r Request, m Model) []string {
				return llamaArgs(r, m, "-ngl", "0")
			},
			ready:   "/health",
			forward: llamaForward,
			refuse:  []func(Request, Model) string{refuseRotated},
		},
	}
}

// rowOf returns the row of a device, or the reason why there is none.
func rowOf(d devices.Name) (row, error) {
	have := ""
	for _, r := range rows() {
		if r.device == d {
			return r, nil
		}
		have += ", " + string(r.device)
	}
	return row{}, &Refusal{d, "not in this build, which has auto" + have}
}

// llamaArgs is the command line that all llama-servers share.
func llamaArgs(r Request, m Model, device ...string) []string {
	args := append([]string{"-m", m.Path}, device...)
	args = append(args, "--jinja")
	if r.CtxSize > 0 {
		args = append(args, "-c", strconv.Itoa(r.CtxSize))
	}
	if r.Parallel > 0 {
		args = append(args, "-np", strconv.Itoa(r.Parallel))
	}
	if r.FlashAttn != "" {
		args = append(args, "-fa", r.FlashAttn)
	}
	role := ""
	switch {
	case r.Embedding:
		role = "--embedding"
	case r.Reranking:
		role = "--reranking"
	default:
		return args
	}
	batch := 8192 // an input to be embedded or ranked must fit into one batch
	if r.CtxSize > 0 {
		batch = r.CtxSize
	}
	return append(args, role, "-b", strconv.Itoa(batch), "-ub", strconv.Itoa(batch))
}

// llamaForward is what a llama-server answers and serve passes on.
var llamaForward = []Forward{
	{"POST", "/v1/chat/completions", true},
	{"POST", "/v1/completions", true},
	{"POST", "/v1/responses", true},
	{"POST", "/v1/embeddings", true},
	{"POST", "/embeddings", true},
	{"POST", "/v1/rerank", true},
	{"POST", "/rerank", true},
	{"POST", "/v1/reranking", true},
	{"POST", "/reranking", true},
	{"POST", "/tokenize", true},
	{"POST", "/detokenize", true},
	{"POST", "/apply-template", true},
	{"GET", "/slots", false},
	{"POST", "/slots/{slot}", false},
	{"GET", "/props", false},
	{"GET", "/metrics", false},
}

// rotatedKey is the stamp of a model whose weights are Hadamard-rotated, and
// rotatedBlock the only block length that is known.
const (
	rotatedKey   = "onebit.hadamard_q4_0"
	rotatedBlock = 32
)

// refuseRotated refuses models that only a build with the inverse rotation
// computes rightly; anything else gives noise without any error.
func refuseRotated(_ Request, m Model) string {
	if _, stamped := m.Header.Type(rotatedKey); !stamped {
		return ""
	}
	switch block, ok := m.Header.Int(rotatedKey); {
	case !ok:
		return fmt.Sprintf("%s has the stamp %s with a value that is no integer, so it is unknown how to run it", m.Path, rotatedKey)
	case block != rotatedBlock:
		return fmt.Sprintf("%s has the stamp %s = %d; only %d is known", m.Path, rotatedKey, block, rotatedBlock)
	}
	return fmt.Sprintf("%s is Hadamard-rotated and would give noise here; it needs --device rocm of a build that has it, or the same model without the rotation", m.Path)
}
