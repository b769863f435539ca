// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package serve

import "os"

// gone says whether a process has ended.
func gone(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return true
	}
	p.Release()
	return false
}
