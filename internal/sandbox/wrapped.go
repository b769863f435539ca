// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"errors"
	"fmt"
)

// A Wrapped is one step in a container that another program made and in which
// this process is root: [Wrapped.Become] gives it the user, the limits and the
// filter of a step, and then becomes the step's program. The container brings
// the root, the inputs and the folders; nobody watches time, memory and output.
type Wrapped struct {
	Args []string // as Spec's
	Env  []string // as Spec's
	Work string   // as Spec's
	CPUs int      // as Spec's
	// Own are folders that are given to the step's user, such as those that it
	// writes to. Home among them is shut to others.
	Own []string
	// Jobs sets MAKEFLAGS to the number of CPUs, where Env does not set it.
	Jobs bool
	// Open leaves the filter out: the step has the container's network.
	Open bool
}

// A WrapError says at which stage a process could not become a step.
type WrapError struct {
	Stage string // "user", "limits", "seccomp", …, or the program that did not start
	Err   error
}

func (e *WrapError) Error() string { return fmt.Sprintf("%s: %s", e.Stage, e.Err) }

func (e *WrapError) Unwrap() error { return e.Err }

// What the program dist-step, which becomes a Wrapped, and its client agree on.
const (
	StepRun    = "DIST_STEP_RUN" // the environment variable with the first line that it prints
	StepFailed = 125             // its exit code when it did not become the step
	StepSays   = "dist-step: "   // how its second line then begins
)

// StageFilter is the stage of a kernel, or a container, that takes no filter.
const StageFilter = "seccomp"

var errNotRoot = errors.New("this process is not root in its container")
