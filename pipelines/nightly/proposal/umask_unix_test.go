// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package proposal

import (
	"syscall"
	"testing"
)

// umask sets it until the returned function is called.
func umask(t *testing.T, mask int) func() {
	t.Helper()
	old := syscall.Umask(mask)
	return func() { syscall.Umask(old) }
}
