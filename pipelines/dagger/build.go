// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"dagger/onebit/internal/dagger"
)

// nested lets dist ask the engine that it runs in for the containers of a build.
var nested = dagger.ContainerWithExecOpts{ExperimentalPrivilegedNesting: true}

// Build a component, and return its files
//
// For serve that is the archive of the program 1bit, for others a folder of that
// name. Each step runs in a container that has the pinned toolchain, the verified
// sources and nothing else, and no network. The bytes are those of "dist build".
func (m *Onebit) Build(
	ctx context.Context,

	// What to build: serve, llama-vulkan, xdna, …; "dist build --list" names all.
	// +default="serve"
	component string,

	// The oldest processor that it must run on, such as x86-64-v3 or znver5. By
	// default the recipe's first.
	// +optional
	cpu string,

	// A registry to take outputs from, oci://HOST/REPOSITORY. It is asked by
	// digest and never believed without a look.
	// +optional
	remoteCache string,

	// Keys that must have signed what is taken from the registry, as in
	// ci/trust/cache.yaml.
	// +optional
	remoteCacheTrust *dagger.File,

	// The key that signs what is built here, which is then pushed to the registry.
	// +optional
	remoteCacheKey *dagger.Secret,
) (*dagger.Directory, error) {
	ctr, err := m.dist(ctx, component)
	if err != nil {
		return nil, err
	}
	args := []string{distPath, "build", component, "--runner", "dagger", "--out", outDir}
	if cpu != "" {
		args = append(args, "--cpu", cpu)
	}
	if remoteCache == "" {
		args = append(args, "--offline")
	} else {
		args = append(args, "--remote-cache", remoteCache)
	}
	if remoteCacheTrust != nil {
		ctr = ctr.WithMountedFile("/trust.yaml", remoteCacheTrust)
		args = append(args, "--remote-cache-trust", "/trust.yaml")
	}
	if remoteCacheKey != nil {
		ctr = ctr.WithMountedSecret("/run/secrets/cache-key", remoteCacheKey)
		args = append(args, "--remote-cache-push", "--remote-cache-key", "/run/secrets/cache-key")
	}
	built, err := ctr.WithExec(args, nested).Sync(ctx)
	if err != nil {
		return nil, err
	}
	return built.Directory(outDir), nil
}

// Show what a component would be built from
//
// Each input is named with its digest. Nothing is built.
func (m *Onebit) Plan(
	ctx context.Context,

	// What would be built; "dist build --list" names all.
	// +default="serve"
	component string,

	// Print JSON for a program instead of a table.
	// +optional
	asJSON bool,
) (string, error) {
	ctr, err := m.dist(ctx, component)
	if err != nil {
		return "", err
	}
	args := []string{"build", component, "--plan", "--offline"}
	if asJSON {
		args = append(args, "--json")
	}
	return report(ctx, ctr, dagger.ContainerWithExecOpts{}, args...)
}

// Build a component twice, and compare the results file by file
//
// The second build has one processor, and another time. The report names what was
// varied; on the host, "dist reproduce" varies more.
func (m *Onebit) Reproduce(
	ctx context.Context,

	// What to build; "dist build --list" names all.
	// +default="serve"
	component string,
) (string, error) {
	ctr, err := m.dist(ctx, component)
	if err != nil {
		return "", err
	}
	return report(ctx, ctr, nested, "reproduce", component, "--runner", "dagger", "--offline")
}
