// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package rehearse

import (
	"context"

	"github.com/1bit-MONSTER/engine/pipelines/build"
	"github.com/1bit-MONSTER/engine/pipelines/nightly"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

// Night returns the options of a live night on a new clone of main, in a folder
// that is not there yet. Its state and proposals go to the clone's origin, which
// is the world's main.
func (w *World) Night(ctx context.Context, dir string) (nightly.Options, error) {
	if err := w.Clone(ctx, dir); err != nil {
		return nightly.Options{}, err
	}
	e, err := w.Engine()
	if err != nil {
		return nightly.Options{}, err
	}
	return nightly.Options{
		Repo: dir, Mode: round.Live, Engine: *e, Cache: build.Cache{Dir: w.Cache},
		Recipes: []*build.Recipe{}, State: w.Main.Dir(), Push: w.Main.Dir(),
	}, nil
}

// run runs a whole night and leaves the page, as 'dist nightly run' does.
func run(ctx context.Context, o nightly.Options) (*nightly.Report, error) {
	n, err := nightly.New(ctx, o)
	if err != nil {
		return nil, err
	}
	defer n.Close()
	r, err := n.Run(ctx)
	if err != nil || o.Out == "" {
		return r, err
	}
	p, err := n.Status(ctx)
	if err != nil {
		return nil, err
	}
	return r, p.Write(o.Out)
}
