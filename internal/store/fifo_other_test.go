// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package store

import "errors"

func fifo(string) error { return errors.ErrUnsupported }
