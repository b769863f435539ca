// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package proposal

import (
	"testing"
)

// umask is nothing here.
func umask(t *testing.T, mask int) func() {
	t.Helper()
	t.Logf("no umask %o", mask)
	return func() {}
}
