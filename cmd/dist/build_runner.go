// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"

	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/build"
	"github.com/1bit-MONSTER/engine/pipelines/build/daggerrunner"
)

// stepVariable names the program dist-step where it is built already, as in the
// containers of the Dagger module. Whether it is a wall, the runner tries.
const stepVariable = "DIST_STEP"

// checkRunner refuses what does not go together.
func (f *buildFlags) checkRunner() error {
	switch {
	case f.runner == "host":
		return nil
	case f.runner != "dagger":
		return verdict.Usagef("--runner %s: there are host and dagger", f.runner)
	case f.noSandbox:
		return verdict.Usagef("--no-sandbox runs the steps on this machine: --runner dagger does not go with it")
	case f.hostTools:
		return verdict.Usagef("--host-tools takes this machine's tools: --runner dagger does not go with it")
	}
	return nil
}

// dagger returns what connects to a Dagger engine when there is something to
// build. The connection ends with closeRunner.
func (f *buildFlags) dagger(o build.Options) func(context.Context, build.Space) (build.Runner, error) {
	return func(ctx context.Context, _ build.Space) (build.Runner, error) {
		r, err := daggerrunner.New(ctx, daggerrunner.Options{
			Step: func(ctx context.Context) (string, error) {
				if file := os.Getenv(stepVariable); file != "" {
					return file, nil
				}
				return build.StepProgram(ctx, o)
			},
			Progress: o.Progress,
		})
		if err != nil {
			return nil, err
		}
		f.close = append(f.close, r.Close)
		return r, nil
	}
}

// closeRunner ends the sessions. That one could not be told changes nothing: the
// engine ends it when the connection is gone.
func (f *buildFlags) closeRunner() {
	for _, end := range f.close {
		end()
	}
}
