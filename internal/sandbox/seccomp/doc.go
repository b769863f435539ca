// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package seccomp refuses the system calls that a build step never needs: every
// socket family but AF_UNIX, io_uring (which opens sockets without the socket
// call), new namespaces, mounts, tracing, kernel keys, BPF and the machine's
// settings. The host runner uses it as a second wall behind its namespaces; in
// a container that we did not make it is the only one.
//
// It is a list of what is refused, not of what is allowed: a build may need any
// other call. Programs of another architecture (32-bit ones on amd64, x32) are
// killed or refused whole, because their call numbers would pass the list.
package seccomp

import "errors"

// ErrUnsupported says that there is no filter for this system.
var ErrUnsupported = errors.New("seccomp: no filter for this operating system or architecture")
