// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package remotecache shares the outputs of builds between machines, as OCI
// artifacts in any registry. It is the build.Remote of dist build.
//
// An output lies under its key as the tag, in-<64 hex digits>. The manifest has
// the artifact type [ArtifactType], a config that is a DSSE envelope around a
// [Record], and one layer, a .tar.zst of the files. What comes in is held
// against the digests of manifest and record, unpacked within the limits of
// package unpack, and summed again: files that are not what the record says
// never enter a store.
//
// The key is the digest of what went into a build, so that nothing can be told
// from it about what came out: whoever may write to the registry decides what
// its readers run, unless a [Trust] requires that records are signed.
//
// No error of a registry is one of a build. Every request and every transfer
// is bounded, each failure is told in one line, and a registry that fails again
// is left alone for the rest of the run.
package remotecache
