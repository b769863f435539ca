// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package pins

import "testing"

// The pins of this repository are part of what is tested.
func TestRepositoryPins(t *testing.T) {
	s, err := Load(".")
	if err != nil {
		t.Fatal(err)
	}
	if p := s.Pin("go"); p == nil || p.State() != Verified {
		t.Error("the Go toolchain must be verified: dist build uses it")
	}
}
