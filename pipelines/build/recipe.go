// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"slices"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// The fixed paths of a build. Every runner shows inputs and output there.
const (
	sourceDir = "/src"    // /src/<pin>: a pin's sources, with our patches
	needDir   = "/in"     // /in/<component>: what another recipe made
	inputDir  = "/inputs" // /inputs/<pin>/<name>: a locked download of a pin
	WorkDir   = "/build"  // writable, empty at first, thrown away
	OutputDir = "/out"    // writable, empty at first: the component
)

// A Recipe is how one component is built. It is data: both runners read it,
// and its JSON is part of the component's key.
type Recipe struct {
	Name      string   `json:"name"`
	What      string   `json:"what"`
	Pins      []string `json:"pins,omitempty"`      // whose sources it needs, at /src/<pin>
	Needs     []string `json:"needs,omitempty"`     // components, at /in/<component>
	WorkTree  string   `json:"work-tree,omitempty"` // a Go package of this repository whose sources are at /src/engine
	Toolchain string   `json:"toolchain"`           // a pin: its root file system, or the Go toolchain, which is at /go

	Tools []string `json:"tools,omitempty"` // the programs that --host-tools takes from the machine instead

	CPUs  []CPU    `json:"cpus,omitempty"` // for which it can be built, the default first; none: it does not matter
	Env   []string `json:"env,omitempty"`
	Steps []Step   `json:"steps"`

	Outputs    []string    `json:"outputs"` // files and folders below /out that must be there, and nothing else may
	Exceptions []Exception `json:"exceptions,omitempty"`
	Licenses   []string    `json:"licenses,omitempty"` // what a distributor must know

	// Unavailable says what is missing where this recipe cannot be built
	// anywhere yet: its plan and digests are made all the same.
	Unavailable string `json:"unavailable,omitempty"`
}

// A Step runs one program. Arguments and environment may hold the words of
// expand: {cpu}, {commit:PIN}, {commit12:PIN}, {version:PIN}; the argument
// {inputs:PIN} becomes one -D<give>=<path> for each input that says how it is
// given.
type Step struct {
	Name string   `json:"name"`
	Args []string `json:"args"`
	Dir  string   `json:"dir,omitempty"` // /build when empty
	Env  []string `json:"env,omitempty"` // besides the recipe's
}

// A CPU is the oldest processor that a component runs on, by the name that
// compilers use. "native" is none: the builder's processor is no input.
type CPU string

// The processors that recipes name.
const (
	X8664V3 CPU = "x86-64-v3" // any x86-64 with AVX2, since about 2015
	Znver5  CPU = "znver5"    // Strix Halo
)

// An Exception names what of an output differs from build to build, and why
// that cannot be helped.
type Exception struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// Recipes returns all recipes, each after those that it needs.
func Recipes() []*Recipe {
	return []*Recipe{
		serveRecipe(),
		llamaVulkanRecipe(),
		llamaHRXRecipe(),
		leanRecipe(),
		leanROCmRecipe(),
		zincRecipe(),
		xdnaRecipe(),
		linuxRecipe(),
		tokenizersRecipe(),
		lemonadeRecipe(),
		npuKernelsRecipe(),
	}
}

// FindRecipe returns the recipe of that name, or a usage error.
func FindRecipe(name string) (*Recipe, error) { return find(Recipes(), name) }

func find(all []*Recipe, name string) (*Recipe, error) {
	var names []string
	for _, r := range all {
		if r.Name == name {
			return r, nil
		}
		names = append(names, r.Name)
	}
	return nil, verdict.Usagef("there is no component %q: there are %s", name, strings.Join(names, ", "))
}

// RecipePins returns the pins that each component is built from, toolchain and
// the pins of what it needs included.
func RecipePins() map[string][]string { return PinsOf(Recipes()) }

// PinsOf is RecipePins for other recipes, each after those that it needs.
func PinsOf(recipes []*Recipe) map[string][]string {
	pins := map[string][]string{}
	for _, r := range recipes {
		all := append(slices.Clone(r.Pins), r.Toolchain)
		for _, need := range r.Needs {
			all = append(all, pins[need]...)
		}
		slices.Sort(all)
		pins[r.Name] = slices.Compact(all)
	}
	return pins
}
