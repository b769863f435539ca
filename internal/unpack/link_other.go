// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package unpack

import (
	"os"
	"time"
)

const createFlags = os.O_WRONLY | os.O_CREATE | os.O_EXCL

// linkTime does nothing: links have no time of their own to set here.
func linkTime(string, string, time.Time) error { return nil }
