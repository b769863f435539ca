// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package dagger stands in for the client that an engine writes for the module:
// the same types of the published SDK, as far as the module uses them.
package dagger

import "dagger.io/dagger"

type (
	Client    = dagger.Client
	Container = dagger.Container
	Directory = dagger.Directory
	File      = dagger.File
	Secret    = dagger.Secret

	ContainerWithExecOpts             = dagger.ContainerWithExecOpts
	ContainerWithMountedDirectoryOpts = dagger.ContainerWithMountedDirectoryOpts
	DirectoryFilterOpts               = dagger.DirectoryFilterOpts
)

const ReturnTypeAny = dagger.ReturnTypeAny
