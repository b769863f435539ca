// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package patches

import "errors"

func exchange(_, _ string) error { return errors.ErrUnsupported }
