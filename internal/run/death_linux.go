// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package run

import "syscall"

// dieWithParent asks for SIGKILL when the thread that starts the program ends.
// Run keeps its thread; elsewhere it holds since Go ends no thread that is not
// locked to a goroutine.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
