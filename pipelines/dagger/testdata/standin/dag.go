// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Stands in for the file dagger.gen.go that an engine writes, so that the module
// can be type-checked without one (pipelines/build/daggerrunner, module_test.go).

package main

import "dagger/onebit/internal/dagger"

var dag *dagger.Client

func main() { panic("this is no module: it is only type-checked") }
