// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package devices

import "testing"

func TestParse(t *testing.T) {
	for _, n := range All() {
		if got, ok := Parse(string(n)); !ok || got != n {
			t.Errorf("Parse(%q) = %q, %v", n, got, ok)
		}
	}
	for _, bad := range []string{"", "CPU", "cuda", "Vulkan0"} {
		if got, ok := Parse(bad); ok {
			t.Errorf("Parse(%q) = %q", bad, got)
		}
	}
}

func TestLlama(t *testing.T) {
	want := map[Name]string{Vulkan: "Vulkan0", HRX: "HRX0", ROCm: "ROCm0"}
	for _, n := range All() {
		if got := n.Llama(); got != want[n] {
			t.Errorf("%s: %q, want %q", n, got, want[n])
		}
	}
}
