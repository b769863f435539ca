// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package sandbox runs one step of a build so that it sees its inputs and
// nothing else: Linux namespaces (mount, PID, network, user, IPC, UTS, cgroup),
// a read-only root, inputs read-only at fixed paths, private /tmp and HOME, no
// network, no capability, a seccomp filter, limits on time, memory, processes
// and output, and no process that survives the step.
//
// There are two ways to the same walls: [Namespaces], which starts this program
// again as process 1 of the step, and [Bubblewrap]; [New] takes the first that
// works. A program that uses the package calls [Main] first thing in its
// main function. [Plain] runs a step without walls for --no-sandbox; its
// results say so.
//
// Inside, the step is user and group 1000 ("build") and has no capability; to
// the host it is whoever called. As a caller that is root owns the inputs and
// the kernel's settings in /proc, these are mounted read-only. Files of the
// caller are seen as the step's own, all others as nobody's.
//
// Limits of what is promised: without a delegated cgroup, memory and processes
// are counted by looking every few milliseconds, so a step may overshoot
// before it is killed, and memory that no process maps (an unlinked memfd) is
// not seen. The kernel is shared: this keeps builds honest, it does not hold
// an attacker who has a kernel exploit.
package sandbox
