// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// The 1bit engine distribution, in containers of a Dagger engine.
//
// The functions are the commands of dist: the same recipes from the same pins
// give the same bytes. No function asks a network for anything: what goes in is
// the folder that "go run ./cmd/dist fetch --for serve" fetched and verified,
// and the files of this repository. docs/dagger.md has more.
package main

import (
	"context"
	"fmt"

	"github.com/1bit-MONSTER/engine/pipelines/inputs"

	"dagger/onebit/internal/dagger"
)

// Onebit is the 1bit engine distribution.
type Onebit struct {
	// +private
	Source *dagger.Directory
	// +private
	Inputs *dagger.Directory
}

// New takes the repository and the verified inputs.
func New(
	// The repository. By default the one that the module is loaded from, without
	// what is built or fetched.
	// +defaultPath="/"
	// +ignore=[".git", ".dagger-inputs*", "dist", "bin", "pipelines/dagger/internal", "pipelines/dagger/dagger.gen.go"]
	source *dagger.Directory,

	// The folder that "dist fetch --for COMPONENT" made. By default
	// .dagger-inputs in the repository.
	// +defaultPath="/"
	// +ignore=["*", "!.dagger-inputs/**", "!inputs.json", "!store/**", "!go/**", "!git/**"]
	inputs *dagger.Directory,
) *Onebit {
	return &Onebit{Source: source, Inputs: inputs}
}

// folder returns the inputs, and what they are: the folder itself where it was
// named, else the one in the repository. The patterns of New keep either.
func (m *Onebit) folder(ctx context.Context, wanted ...string) (*dagger.Directory, *inputs.Manifest, error) {
	what := "serve"
	if len(wanted) > 0 {
		what = wanted[0]
	}
	dir := m.Inputs
	for _, name := range []string{inputs.File, inputs.Folder + "/" + inputs.File} {
		there, err := m.Inputs.Exists(ctx, name)
		if err != nil {
			return nil, nil, err
		}
		if !there {
			dir = m.Inputs.Directory(inputs.Folder)
			continue
		}
		text, err := dir.File(inputs.File).Contents(ctx)
		if err != nil {
			return nil, nil, err
		}
		manifest, err := inputs.Parse([]byte(text))
		if err != nil {
			return nil, nil, err
		}
		pin, err := m.Source.File("pins/go.yaml").Contents(ctx)
		if err != nil {
			return nil, nil, fmt.Errorf("--source is not this repository: %w", err)
		}
		sums, err := m.Source.File("go.sum").Contents(ctx)
		if err != nil {
			return nil, nil, fmt.Errorf("--source is not this repository: %w", err)
		}
		return dir, manifest, manifest.Check([]byte(pin), []byte(sums), wanted...)
	}
	return nil, nil, inputs.Missing(what)
}
