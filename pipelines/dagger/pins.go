// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"dagger/onebit/internal/dagger"
)

// List the upstreams that we follow, with what is locked
//
// Nobody is asked what is newest.
func (m *Onebit) Pins(
	ctx context.Context,

	// Print JSON for a program instead of a table.
	// +optional
	asJSON bool,
) (string, error) {
	ctr, err := m.dist(ctx)
	if err != nil {
		return "", err
	}
	args := []string{"pins", "list"}
	if asJSON {
		args = append(args, "--json")
	}
	return report(ctx, ctr, dagger.ContainerWithExecOpts{}, args...)
}

// Merge our patches on a pin onto another commit, with a verdict for each
//
// Nothing is written.
func (m *Onebit) Rebase(
	ctx context.Context,

	// The stack, by the name of its pin, such as llama-hrx.
	stack string,

	// The new base: a full commit id of the upstream that the inputs' repository
	// has. A branch or tag is no answer here: resolve it with "dist pins check".
	onto string,

	// A component that is built from that pin, whose inputs have the repository. By
	// default the one of the pin's name.
	// +optional
	component string,
) (string, error) {
	if component == "" {
		component = stack
	}
	ctr, err := m.dist(ctx, component)
	if err != nil {
		return "", err
	}
	return report(ctx, ctr, dagger.ContainerWithExecOpts{}, "patches", "rebase", stack, "--onto", onto, "--offline")
}
