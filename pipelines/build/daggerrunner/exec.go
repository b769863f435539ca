// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package daggerrunner

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"dagger.io/dagger"

	"github.com/1bit-MONSTER/engine/internal/sandbox"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/build"
)

// againVariable makes the engine run again what it remembers as failed. No step
// sees it.
const againVariable = "DIST_STEP_AGAIN"

// An output is what came of a step.
type output struct {
	after      *dagger.Container
	printed    string // stdout and stderr
	remembered bool   // the engine did not run it now
	refusal    *sandbox.WrapError
}

// exec runs one step. Its error is that of the host runner for the same end.
func (r *Runner) exec(ctx context.Context, ctr *dagger.Container, s sandbox.Spec) (output, error) {
	limited, cancel := context.WithTimeoutCause(ctx, build.Limits().Wall, &sandbox.Exceeded{Limit: sandbox.LimitWall, Value: build.Limits().Wall.String()})
	defer cancel()
	run := rand.Text()
	out, code, err := r.once(limited, ctr, s, run)
	for range abandonedTries {
		if limited.Err() == nil && abandoned(err) {
			out, code, err = r.once(limited, ctr, s, run)
		}
	}
	if err == nil && code != 0 && out.remembered {
		again := ctr.WithEnvVariable(againVariable, run)
		if out, code, err = r.once(limited, again, s, run); err == nil {
			out.after = out.after.WithoutEnvVariable(againVariable)
		}
	}
	if err != nil {
		if cause := context.Cause(limited); cause != nil {
			err = cause
		}
		return out, err
	}
	return out, out.err(code)
}

// abandonedTries is how often a step is asked for again whose exec ended with
// another client.
const abandonedTries = 3

// abandoned reports whether the engine ended an exec that we did not end: two
// clients that want the same share one, and when the first is killed the engine
// may end it for both.
func abandoned(err error) bool {
	return err != nil && strings.Contains(err.Error(), context.Canceled.Error())
}

// once asks the engine for the step's result.
func (r *Runner) once(ctx context.Context, ctr *dagger.Container, s sandbox.Spec, run string) (out output, code int, err error) {
	// The run's name does not count for what the engine remembers.
	out.after = ctr.WithVolatileVariable(sandbox.StepRun, run).
		WithExec(r.command(s), dagger.ContainerWithExecOpts{Expect: dagger.ReturnTypeAny})
	var killed *dagger.ExecError
	code, err = out.after.ExitCode(ctx)
	if errors.As(err, &killed) && killed.ExitCode > 128 {
		// A signal is no exit code that an engine expects. It keeps the end of
		// what was printed, says what it left out, and does not remember it.
		out.printed = strings.TrimPrefix(strings.TrimPrefix(killed.Stdout, run), "\n")
		if out.printed != "" {
			out.printed += "\n" // it was cut off
		}
		return out, killed.ExitCode, nil
	}
	if err != nil {
		return out, code, failed(ctx, "exec", err)
	}
	if out.printed, err = out.after.Stdout(ctx); err != nil {
		return out, code, failed(ctx, "log", err)
	}
	first, rest, _ := strings.Cut(out.printed, "\n")
	out.remembered = first != run
	out.refusal = refused(code, rest)
	if out.printed = rest; out.refusal != nil {
		out.printed = ""
	}
	return out, code, nil
}

// command is the argument vector of an exec.
func (r *Runner) command(s sandbox.Spec) []string {
	args := []string{stepPath, "-dir=" + s.Work, "-jobs"}
	for _, dir := range []string{build.WorkDir, build.OutputDir, sandbox.Home} {
		args = append(args, "-own="+dir)
	}
	if s.CPUs > 0 {
		args = append(args, "-cpus="+strconv.Itoa(s.CPUs))
	}
	if r.space == build.NetworkOpen {
		args = append(args, "-open")
	}
	for _, e := range s.Env {
		args = append(args, "-env="+e)
	}
	return append(append(args, "--"), s.Args...)
}

// err turns an exit code into the error that the host runner has for it.
func (o output) err(code int) error {
	if o.refusal != nil && o.refusal.Stage == sandbox.StageFilter {
		return verdict.Infraf("the Dagger engine no longer lets a step be shut off from the network (%w): run the same again", o.refusal)
	}
	if o.refusal != nil {
		return &sandbox.NotStarted{What: o.refusal.Stage, Why: o.refusal.Err.Error()}
	}
	if most := build.Limits().Output; int64(len(o.printed)) > most {
		return &sandbox.Exceeded{Limit: sandbox.LimitOutput, Value: fmt.Sprintf("%d MiB", most>>20)}
	}
	return sandbox.Exit(code)
}

// refused returns why dist-step did not become the step, if it did not, from
// the exit code and what was printed after the first line.
func refused(code int, rest string) *sandbox.WrapError {
	text, ok := strings.CutPrefix(rest, sandbox.StepSays)
	if code != sandbox.StepFailed || !ok {
		return nil
	}
	stage, why, _ := strings.Cut(strings.TrimSpace(text), ": ")
	return &sandbox.WrapError{Stage: stage, Err: errors.New(why)}
}
