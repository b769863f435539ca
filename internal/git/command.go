// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"syscall"

	"github.com/1bit-MONSTER/engine/internal/run"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// Command returns a git command in the filtered environment, with all
// transports forbidden. gitDir may be empty. It is for callers that need a
// subcommand without a method here; args must hold --end-of-options before
// anything untrusted.
func Command(gitDir string, args ...string) run.Command {
	return command(gitDir, nil, nil, args)
}

// command adds plain settings as options and secret ones to the environment.
func command(gitDir string, plain, secret, args []string) run.Command {
	// The settings travel in the environment: they are many, and the command
	// line in an error should be readable.
	config := append(append([]string(nil), settings[:]...), plain...)
	config = append(config, secret...)
	c := run.Command{Path: "git", Env: environment(config)}
	if gitDir != "" {
		c.Args = append(c.Args, "--git-dir="+gitDir)
	}
	c.Args = append(c.Args, args...)
	return c
}

// output runs c and returns its stdout.
func output(ctx context.Context, c run.Command) ([]byte, error) {
	r, err := c.Run(ctx)
	return r.Stdout, noGit(err)
}

// noGit puts the one error that a user can mend into words, and makes errors of
// the system of those that git has only words for.
func noGit(err error) error {
	if errors.Is(err, exec.ErrNotFound) {
		return verdict.Infraf("git is not installed: install git 2.39 or newer: %w", err)
	}
	var exit *run.ExitError
	if errors.As(err, &exit) {
		for _, no := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS} {
			if strings.Contains(strings.ToLower(exit.Stderr), no.Error()) {
				return &systemError{err, no}
			}
		}
	}
	return err
}

// A systemError is what git says with the system's error behind it, in the C
// locale's words.
type systemError struct {
	error
	errno syscall.Errno
}

func (e *systemError) Unwrap() []error { return []error{e.error, e.errno} }

// exitCode is the exit status behind err, -1 if it is another kind of error.
func exitCode(err error) int {
	var e *run.ExitError
	if errors.As(err, &e) {
		return e.Code
	}
	return -1
}

func line(b []byte) string { return strings.TrimSuffix(string(b), "\n") }
