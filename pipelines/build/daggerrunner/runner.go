// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package daggerrunner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"dagger.io/dagger"

	"github.com/1bit-MONSTER/engine/internal/progress"
	"github.com/1bit-MONSTER/engine/internal/sandbox"
	"github.com/1bit-MONSTER/engine/pipelines/build"
)

// Options say with what to run.
type Options struct {
	// Step returns the path of the program dist-step (build.StepProgram). It is
	// asked when an engine has answered.
	Step func(context.Context) (string, error)
	// Connect returns the client, which the runner closes; nil: Connect.
	Connect  func(context.Context) (*dagger.Client, error)
	Progress *progress.Reporter
}

// A Runner runs steps on a Dagger engine. It must be closed.
type Runner struct {
	client *dagger.Client
	step   string
	space  build.Space
}

var _ build.Runner = (*Runner)(nil)

// New connects to an engine and asks it for one exec, which tells whether a step
// can be shut off from the network there. Where it cannot, the runner's key
// space is build.NetworkOpen, and the reporter gets a warning.
func New(ctx context.Context, o Options) (*Runner, error) {
	connect := o.Connect
	if connect == nil {
		connect = Connect
	}
	client, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	r := &Runner{client: client}
	why := ""
	if r.step, err = o.Step(ctx); err == nil {
		why, err = r.probe(ctx)
	}
	if err != nil {
		client.Close()
		return nil, err
	}
	if why != "" {
		r.space = build.NetworkOpen
		o.Progress.Step("warning: this Dagger engine cannot shut a step off from the network (%s); what is built is marked and never released", why)
	}
	return r, nil
}

// Close ends the session with the engine.
func (r *Runner) Close() error { return r.client.Close() }

// Space implements build.Runner.
func (r *Runner) Space() build.Space { return r.space }

// Run implements build.Runner.
func (r *Runner) Run(ctx context.Context, j build.Job) ([]build.StepResult, error) {
	ctr, err := r.container(j)
	if err != nil {
		return nil, err
	}
	var done []build.StepResult
	for _, step := range j.Steps {
		spec := sandbox.Spec{Work: step.Dir, Args: step.Args, Env: append(j.Env[:len(j.Env):len(j.Env)], step.Env...), CPUs: j.CPUs}
		if spec.Work == "" {
			spec.Work = build.WorkDir
		}
		if err := spec.Validate(); err != nil {
			return done, &build.StepError{Component: j.Name, Step: step.Name, Err: err}
		}
		fmt.Fprintf(j.Log, "==== %s: %s\n", step.Name, strings.Join(step.Args, " "))
		begin := time.Now()
		out, err := r.exec(ctx, ctr, spec)
		result := build.StepResult{Name: step.Name, Way: "dagger", Wall: time.Since(begin), MemoryBy: "nobody", Printed: int64(len(out.printed))}
		done = append(done, result)
		if _, werr := j.Log.Write([]byte(out.printed)); err == nil {
			err = werr
		}
		fmt.Fprintf(j.Log, "==== %s: %s\n", step.Name, outcome(out, result.Wall, err))
		if err != nil {
			return done, &build.StepError{Component: j.Name, Step: step.Name, Err: err}
		}
		ctr = out.after
	}
	return done, r.export(ctx, ctr, j)
}

func outcome(out output, wall time.Duration, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case out.remembered:
		return "done before: the engine remembered it"
	}
	return fmt.Sprintf("done in %v", wall.Round(time.Millisecond))
}

// export brings what the steps left in /out into the job's folder.
func (r *Runner) export(ctx context.Context, ctr *dagger.Container, j build.Job) error {
	if _, err := ctr.Directory(build.OutputDir).Export(ctx, j.Out); err != nil {
		return failed(ctx, j.Name+": export", err)
	}
	return nil
}

// probe returns why a step cannot be shut off from the network on this engine;
// empty: it can.
func (r *Runner) probe(ctx context.Context) (why string, err error) {
	// A failed exec is not remembered: the engine's kernel may be another one
	// the next time.
	_, err = r.base().WithExec([]string{stepPath, "-probe"}).ExitCode(ctx)
	var exec *dagger.ExecError
	switch {
	case err == nil:
		return "", nil
	case errors.As(err, &exec):
		_, rest, _ := strings.Cut(exec.Stdout, "\n")
		if refusal := refused(exec.ExitCode, rest); refusal != nil {
			return refusal.Error(), nil
		}
	}
	return "", failed(ctx, "probe", err)
}
