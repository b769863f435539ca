// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/sandbox"
)

// A Runner executes the steps of a component. What a step sees is the same
// with each: the toolchain, the inputs read-only at the fixed paths, empty
// folders for work and output, a fixed environment, no network.
type Runner interface {
	// Space is the key space of what it makes.
	Space() Space
	// Run runs the steps in order and stops at the first that fails. The
	// results are those of the steps that ran.
	Run(ctx context.Context, j Job) ([]StepResult, error)
}

// A Job is one component to build, with everything where it lies on the host.
type Job struct {
	Name  string
	Root  string // the toolchain's root file system; empty: there is none besides the mounts
	Binds []sandbox.Bind
	Work  string // becomes /build
	Out   string // becomes /out
	Env   []string
	Epoch int64 // the time of sources, in seconds since 1970
	Steps []Step
	Log   io.Writer
	CPUs  int // that a step may use; 0: all
}

// A StepResult is what is known of a step that ran.
type StepResult struct {
	Name       string        `json:"name"`
	Way        string        `json:"way"` // bwrap, namespaces, dagger, none
	Wall       time.Duration `json:"wall"`
	CPU        time.Duration `json:"cpu"`
	PeakMemory int64         `json:"peak-memory"` // bytes
	MemoryBy   string        `json:"memory-by"`
	Printed    int64         `json:"printed"` // bytes
}

// Limits are those of every step; generous, since they are for what has gone
// wrong.
func Limits() sandbox.Limits {
	return sandbox.Limits{
		Wall:      4 * time.Hour,
		Processes: 4096,
		Memory:    20 << 30,
		Disk:      60 << 30,
		Output:    256 << 20,
	}
}

// A HostRunner runs steps on this machine.
type HostRunner struct {
	Sandbox sandbox.Runner
	space   Space
}

// NewHostRunner returns the runner for a key space: in the first kind of
// sandbox that works here, or without one for NoSandbox.
func NewHostRunner(ctx context.Context, space Space) (*HostRunner, error) {
	if space == NoSandbox {
		return &HostRunner{sandbox.Plain{}, space}, nil
	}
	s, err := sandbox.New(ctx)
	if err != nil {
		return nil, err
	}
	return &HostRunner{s, space}, nil
}

// Space implements Runner.
func (h *HostRunner) Space() Space { return h.space }

// Run implements Runner.
func (h *HostRunner) Run(ctx context.Context, j Job) ([]StepResult, error) {
	binds := append([]sandbox.Bind{
		{From: j.Work, To: WorkDir, Writable: true},
		{From: j.Out, To: OutputDir, Writable: true},
	}, j.Binds...)
	env := makeJobs(j)
	var done []StepResult
	for _, step := range j.Steps {
		spec := sandbox.Spec{
			Root: j.Root, Binds: binds, Work: step.Dir, Args: step.Args,
			Env:    append(env[:len(env):len(env)], step.Env...),
			Stdout: j.Log, Stderr: j.Log, Limits: Limits(), CPUs: j.CPUs,
		}
		if spec.Work == "" {
			spec.Work = WorkDir
		}
		if h.space == NoSandbox {
			spec = translate(spec)
		}
		fmt.Fprintf(j.Log, "==== %s: %s\n", step.Name, strings.Join(step.Args, " "))
		r, err := h.Sandbox.Run(ctx, spec)
		done = append(done, StepResult{
			Name: step.Name, Way: r.Way, Wall: r.Wall, CPU: r.User + r.Sys,
			PeakMemory: r.PeakMemory, MemoryBy: r.MemoryBy, Printed: r.Printed,
		})
		fmt.Fprintf(j.Log, "==== %s: %s\n", step.Name, outcome(r, err))
		if err != nil {
			return done, &StepError{Component: j.Name, Step: step.Name, Err: err}
		}
	}
	return done, nil
}

// makeJobs returns a job's environment with the number of processors for make,
// which, unlike others, does not look at them by itself. How many there are is
// no input.
func makeJobs(j Job) []string {
	return merge([]string{fmt.Sprintf("MAKEFLAGS=-j%d", cmp.Or(j.CPUs, runtime.NumCPU()))}, j.Env)
}

// A StepError says which step of which component failed, and how.
type StepError struct {
	Component, Step string
	Err             error
	Tail            string // the last lines of the log
	Log             string // where the whole log is
}

func (e *StepError) Error() string {
	text := fmt.Sprintf("%s: step %q: %s", e.Component, e.Step, e.Err)
	if e.Tail != "" {
		text += "; its last lines:\n" + e.Tail
	}
	if e.Log != "" {
		text += "\nthe whole log is " + e.Log
	}
	return text
}

func (e *StepError) Unwrap() error { return e.Err }

func outcome(r sandbox.Result, err error) string {
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("done in %v, %d MiB at most (%s)", r.Wall.Round(time.Millisecond), r.PeakMemory>>20, r.MemoryBy)
}
