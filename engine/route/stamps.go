// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package route

import (
	"fmt"
	"slices"
)

// Keys by which a model says that it needs a certain build.
const (
	rotatedKey   = "onebit.hadamard_q4_0" // Hadamard-rotated Q4_0
	rotatedBlock = 32                     // the only block length that is known
	ternaryKey   = "onebit.ternary_q4_0"  // ternary weights in Q4_0
	ternaryBlock = 128
	prismKey     = "prism.hadamard.version"
)

// prismTypes are the values of general.file_type of PrismML's ternary types.
var prismTypes = []int64{128, 129, 141, 142, 143}

// Rotated says whether the weights are Hadamard-rotated; the reason is not
// empty when the stamp is one that nothing here understands.
func (m Model) Rotated() (yes bool, reason string) {
	h := m.Header()
	if _, stamped := h.Type(rotatedKey); !stamped {
		return false, ""
	}
	switch block, ok := h.Int(rotatedKey); {
	case !ok:
		return false, fmt.Sprintf("%s has the stamp %s with a value that is no integer, so it is unknown how to run it", m.Path, rotatedKey)
	case block != rotatedBlock:
		return false, fmt.Sprintf("%s has the stamp %s = %d; only %d is known", m.Path, rotatedKey, block, rotatedBlock)
	}
	return true, ""
}

// rotatedAway refuses rotated models on a device that computes them wrongly.
func rotatedAway(m Model) string {
	yes, reason := m.Rotated()
	if yes {
		return m.Path + " is Hadamard-rotated: only the lean ROCm build turns its activations the same way, every other one gives noise without any error; " +
			"use --device rocm or auto, or the same model without the rotation"
	}
	return reason
}

// prism says whether the model is one of PrismML's ternary ones.
func (m Model) prism() bool {
	if v, ok := m.Header().Int(prismKey); ok && v > 0 {
		return true
	}
	t, ok := m.Header().Int("general.file_type")
	return ok && slices.Contains(prismTypes, t)
}

func prismAway(m Model) string {
	if m.prism() {
		return m.Path + " is a ternary model of PrismML: only the HRX build knows its types; use --device hrx, or another file of the model"
	}
	return ""
}

func (m Model) ternary() bool {
	v, ok := m.Header().Int(ternaryKey)
	return ok && v == ternaryBlock
}

// notInHRX are the architectures that the HRX build does not have, and onlyInHRX
// those that no other build has.
var (
	notInHRX = []string{
		"bailingmoe3", "blackmamba", "dots3note", "granite_swa", "graniteswitch", "hrm_text", "hy_v4", "kimi-k3", "maple",
		"minimax-01", "muse-glimmer", "pockettts", "qwen3tts", "qwen4exp", "spark2_5", "zamba", "zamba2",
	}
	onlyInHRX = []string{"zaya", "opt", "codegen", "gptneo", "gptj"}
	// deltaNet have gated delta-net layers: HRX runs one sequence of them at a time.
	deltaNet = []string{"qwen35", "qwen35moe", "qwen3next"}
)

func (m Model) isOf(list []string) bool { return slices.Contains(list, m.Header().Architecture()) }

// mostExperts is far above any model, and keeps sums over all layers small.
const mostExperts = 1 << 20

// experts returns the number of experts of a layer, 0 for a dense model, and for
// one that states what can not be.
func (m Model) experts() int64 {
	n, _ := m.Header().Int(m.Header().Architecture() + ".expert_count")
	if n < 0 || n > mostExperts {
		return 0
	}
	return n
}
