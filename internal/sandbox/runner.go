// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"errors"
)

// A Runner runs steps.
type Runner interface {
	// Name is what Result.Way says: "bwrap", "namespaces" or "none".
	Name() string
	// Probe runs nothing of a build. Its error is an *Unavailable where the
	// way does not work on this machine.
	Probe(ctx context.Context) error
	// Run runs one step to its end and returns when no process of it is left.
	// The error is nil for exit code 0, otherwise an *ExitError, *Exceeded,
	// *NotStarted, *Unavailable, or wraps the context's.
	Run(ctx context.Context, s Spec) (Result, error)
}

var (
	_ Runner = Bubblewrap{}
	_ Runner = Namespaces{}
	_ Runner = Plain{}
)

// Bubblewrap runs steps with bwrap, 0.8.0 or newer, from PATH or Path. With it
// a step of a caller that is root could change the mode of /dev/null.
type Bubblewrap struct{ Path string }

// Namespaces runs steps with the kernel's namespaces: the program starts
// itself again, so its main function must call Main.
type Namespaces struct{}

// Plain runs steps without a sandbox: a clean environment, private HOME and
// TMPDIR, the limits, and no process that survives, but the whole host and its
// network in sight. Root must be empty; Binds only say where Work is. It too
// needs Main.
type Plain struct{}

// Name implements Runner.
func (Bubblewrap) Name() string { return "bwrap" }

// Name implements Runner.
func (Namespaces) Name() string { return "namespaces" }

// Name implements Runner.
func (Plain) Name() string { return "none" }

// New returns the first way of sandboxing that works here: the kernel's
// namespaces, then bwrap, which some distributions allow what they refuse to
// others (AppArmor on Ubuntu). Both pass the same tests, but only our own
// process 1 is shut to the step, bounds its processes in the kernel, and
// mounts the device nodes read-only. The error joins an *Unavailable of each.
func New(ctx context.Context) (Runner, error) {
	var errs []error
	for _, r := range []Runner{Namespaces{}, Bubblewrap{}} {
		err := r.Probe(ctx)
		if err == nil {
			return r, nil
		}
		var u *Unavailable
		if !errors.As(err, &u) {
			return nil, err
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}
