// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Command dist-step runs one step of a build in a container of a Dagger engine,
// which has no switch for the network: it becomes the step's user, refuses every
// socket but AF_UNIX, io_uring and the rest of the filter's list to itself and
// to all that it starts, and then is the step's program. No shell is between.
//
// The first line that it prints is the value of sandbox.StepRun, which tells the client a
// result of this run from one that the engine remembered; where it cannot become
// the step, the second line says why and the exit code is sandbox.StepFailed. From then on
// everything printed is the step's, stderr in the place of stdout.
//
// It is for pipelines/build/daggerrunner alone.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/1bit-MONSTER/engine/internal/sandbox"
)

type list []string

func (l *list) String() string     { return fmt.Sprint(*l) }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

func main() {
	var w sandbox.Wrapped
	flags := flag.NewFlagSet("dist-step", flag.ContinueOnError)
	flags.StringVar(&w.Work, "dir", "/", "the folder in which the step starts")
	flags.Var((*list)(&w.Env), "env", "one NAME=VALUE of the step's environment, which has no other")
	flags.Var((*list)(&w.Own), "own", "a folder to give to the step's user")
	flags.IntVar(&w.CPUs, "cpus", 0, "how many processors the step may use; 0: all")
	flags.BoolVar(&w.Jobs, "jobs", false, "tell make the number of processors")
	flags.BoolVar(&w.Open, "open", false, "run without the filter")
	probe := flags.Bool("probe", false, "only try whether the filter works here")
	err := flags.Parse(os.Args[1:])
	w.Args = flags.Args()
	fmt.Println(os.Getenv(sandbox.StepRun))
	switch {
	case err != nil:
	case *probe:
		if err = w.Probe(); err == nil {
			return
		}
	case len(w.Args) == 0:
		err = errors.New("arguments: no program to run")
	default:
		err = w.Become()
	}
	fmt.Printf("%s%s\n", sandbox.StepSays, err)
	os.Exit(sandbox.StepFailed)
}
