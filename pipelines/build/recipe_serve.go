// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package build

import "slices"

// serveRecipe is what this repository publishes. Its one step is completed by
// what the work tree says of itself (workTree.inputs).
func serveRecipe() *Recipe {
	return &Recipe{
		Name: "serve", What: "the program 1bit for linux/amd64",
		WorkTree: servePackage, Toolchain: "go",
		Env: slices.Concat(goSettings, target, []string{
			"GOROOT=" + goDir, "GOMODCACHE=" + moduleDir, "GOCACHE=" + WorkDir + "/cache", "GOTMPDIR=" + WorkDir, "PATH=" + goDir + "/bin",
		}),
		Steps:   []Step{{Name: "compile", Dir: engineDir}},
		Outputs: []string{"1bit"},
	}
}
