// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package linktree

import "time"

// DateLink does nothing: the system has no call for it.
func DateLink(string, time.Time) error { return nil }
