// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package clock is the time as the rest of the program may know it, so that
// tests can say what day it is.
package clock

import "time"

// A Clock returns the present time.
type Clock func() time.Time

// System is the machine's clock, in UTC.
func System() time.Time { return time.Now().UTC() }

// Fixed returns a clock that always shows t.
func Fixed(t time.Time) Clock { return func() time.Time { return t } }
