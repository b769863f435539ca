// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package seccomp

// Program returns ErrUnsupported.
func Program() ([]byte, error) { return nil, ErrUnsupported }

// Install returns ErrUnsupported.
func Install() error { return ErrUnsupported }
