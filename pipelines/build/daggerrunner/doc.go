// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package daggerrunner runs the steps of a build on a Dagger engine: local,
// shared or remote. It is a [build.Runner] beside the one that runs steps on
// this machine, for dist build and for the Dagger module, and makes the same
// bytes under the same keys.
//
// A component is one container: the toolchain is its root, sources and inputs
// are read-only mounts of folders of the local store, which were verified when
// they came there, and /build and /out are empty folders of its own. Nothing
// else goes in: no image, no git, no address, no secret. Each step is one exec
// of the program dist-step, which takes the user, the environment, the limits
// and the seccomp filter of a step and then is the step's program; no shell is
// between. What the last step leaves in /out is exported.
//
// An engine remembers what it ran: the same step with the same inputs is not
// run again. A step that failed is, because a full disk is no property of its
// inputs.
//
// Limits, compared to the host runner. The engine's containers have a network,
// and only the filter keeps it from a step; where an engine takes no filter,
// everything that is built is marked with the key space [build.NetworkOpen]. A
// step's log arrives when the step has ended, and of a step that a signal killed
// the engine keeps the last 100 KiB. Nobody counts processor time,
// memory and disk of a step: bounding these is the engine's business. The host
// name inside is the engine's, symbolic links have the time of their upload, and
// names in /etc/hosts are the engine's too.
package daggerrunner
