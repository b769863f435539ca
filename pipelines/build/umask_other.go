// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package build

func setUmask(int) (restore func()) { return func() {} }
