// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package build

// serveRecipe is what this repository publishes. Its arguments are completed
// by what the work tree says: see serve.go.
func serveRecipe() *Recipe {
	return &Recipe{
		Name: "serve", What: "the program 1bit for linux/amd64",
		WorkTree: servePackage, Toolchain: "go",
		Env: target,
		Steps: []Step{
			{Name: "build", Dir: "/src/engine", Args: append(append([]string{"go"}, goBuild...), "-o", "/out/1bit", servePackage)},
		},
		Outputs: []string{"1bit"},
	}
}
