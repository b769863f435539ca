// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"context"
	"path/filepath"
)

// stepRecipe is the program that each step on a Dagger engine starts with. It
// is none of what we publish, so it is not among Recipes.
func stepRecipe() *Recipe {
	r := serveRecipe()
	r.Name, r.What = "dist-step", "the program that steps on a Dagger engine start with"
	r.WorkTree, r.Outputs = stepPackage, []string{"dist-step"}
	return r
}

// StepProgram builds the program that each step on a Dagger engine starts with
// and returns its path. It is built as 1bit is, on this machine and with the
// pinned Go, so that everybody's is the same and an engine knows it again.
func StepProgram(ctx context.Context, o Options) (string, error) {
	o.Runner = nil // it is needed before there is one
	o.Remote = nil // the wall is nobody else's to make
	st, err := o.Cache.Store()
	if err != nil {
		return "", err
	}
	w := &workTree{repo: o.Repo, pkg: stepPackage, pin: o.Go, cache: o.Cache, store: st, p: o.Progress, offline: o.Offline}
	done, err := w.prepare(ctx)
	if err != nil {
		return "", err
	}
	defer done()
	c, err := o.component(ctx, stepRecipe(), w)
	if err != nil {
		return "", w.removed(err)
	}
	return filepath.Join(c.Path, "dist-step"), nil
}
