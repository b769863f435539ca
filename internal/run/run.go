// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package run starts other programs: with a context, a time limit, an
// environment that is stated in full, stdout and stderr apart, the whole
// process group killed at the end, and an error that names the command line
// without its secrets.
package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// captureLimit bounds what is kept of a stream that nobody reads; 64 MiB is
// far above any answer that we parse and far below the machine's memory.
const captureLimit = 64 << 20

// killDelay is how long a process group has between SIGTERM and SIGKILL.
const killDelay = 2 * time.Second

// A Command is one program to run. Path is looked up in the caller's PATH
// when it has no slash. Env is the whole environment: nothing is inherited.
type Command struct {
	Path    string
	Args    []string
	Dir     string
	Env     []string
	Stdin   io.Reader
	Stdout  io.Writer     // nil: captured in Result.Stdout
	Stderr  io.Writer     // gets a copy; the tail is kept for errors all the same
	Timeout time.Duration // 0: none but the context's
	Secrets []string      // replaced by *** in errors
}

// A Result is what a finished program left.
type Result struct {
	Stdout   []byte
	Stderr   []byte
	Code     int
	Duration time.Duration
	MaxRSS   int64 // bytes; 0 where the system does not say
}

// An ExitError says that a program ran and did not end with status 0.
type ExitError struct {
	Line     string // the command line, secrets masked
	Code     int    // exit status; -1 when it was killed by a signal
	Signal   string
	TimedOut bool
	Stderr   string // the last lines, secrets masked
}

func (e *ExitError) Error() string {
	how := fmt.Sprintf("exit status %d", e.Code)
	switch {
	case e.TimedOut:
		how = "time limit reached"
	case e.Signal != "":
		how = "killed by " + e.Signal
	}
	if e.Stderr == "" {
		return fmt.Sprintf("%s: %s", e.Line, how)
	}
	return fmt.Sprintf("%s: %s: %s", e.Line, how, e.Stderr)
}

// Run starts the program and waits for it and its process group. The error is
// an *ExitError when it ran and did not end with status 0, and wraps
// exec.ErrNotFound when there is no such program; Result is filled as far as
// things went in either case.
func (c Command) Run(ctx context.Context) (Result, error) {
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.Timeout)
		defer cancel()
	}
	var stdout, stderr limited
	cmd := c.command(ctx)
	cmd.Stdin = c.Stdin
	cmd.Stdout = &stdout
	if c.Stdout != nil {
		cmd.Stdout = c.Stdout
	}
	cmd.Stderr = &stderr
	if c.Stderr != nil {
		cmd.Stderr = io.MultiWriter(&stderr, c.Stderr)
	}
	runtime.LockOSThread() // see dieWithParent
	defer runtime.UnlockOSThread()
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return Result{Code: -1}, fmt.Errorf("%s: %w", c.Line(), err)
	}
	err := cmd.Wait()
	if errors.Is(err, exec.ErrWaitDelay) && ctx.Err() == nil {
		err = nil // it ended well; only a child that it left kept a stream open
	}
	killGroup(cmd) // children that outlived their parent
	r := Result{
		Stdout:   stdout.Bytes(),
		Stderr:   stderr.Bytes(),
		Code:     cmd.ProcessState.ExitCode(),
		Duration: time.Since(begin),
		MaxRSS:   maxRSS(cmd.ProcessState),
	}
	if err == nil && stdout.over {
		return r, fmt.Errorf("%s: printed more than %d MiB", c.Line(), captureLimit>>20)
	}
	return r, c.explain(ctx, err, r)
}

// explain turns what Wait said into this package's error.
func (c Command) explain(ctx context.Context, err error, r Result) error {
	if err == nil {
		return nil
	}
	var exit *exec.ExitError
	timedOut := errors.Is(ctx.Err(), context.DeadlineExceeded)
	if !errors.As(err, &exit) && !timedOut {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return fmt.Errorf("%s: %w", c.Line(), err)
	}
	e := &ExitError{Line: c.Line(), Code: r.Code, TimedOut: timedOut, Stderr: c.mask(tail(r.Stderr))}
	if exit != nil {
		e.Signal = signalOf(exit.ProcessState)
	}
	if ctx.Err() != nil {
		return errors.Join(e, ctx.Err())
	}
	return e
}

// command builds the exec.Cmd, in a process group of its own that dies with
// the context: SIGTERM first, SIGKILL after killDelay.
func (c Command) command(ctx context.Context) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.Path, c.Args...)
	cmd.Dir = c.Dir
	cmd.Env = c.Env
	if cmd.Env == nil {
		cmd.Env = []string{} // nil would inherit
	}
	ownGroup(cmd)
	cmd.Cancel = func() error { return terminateGroup(cmd) }
	cmd.WaitDelay = killDelay
	return cmd
}

// Line returns the command line as a person would read it, secrets masked.
func (c Command) Line() string {
	words := append([]string{c.Path}, c.Args...)
	for i, w := range words {
		if w == "" || strings.ContainsAny(w, " \t\n'\"\\$`*?") {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return c.mask(strings.Join(words, " "))
}

func (c Command) mask(s string) string {
	for _, secret := range c.Secrets {
		if secret != "" {
			s = strings.ReplaceAll(s, secret, "***")
		}
	}
	return s
}

// tail returns the last lines of what a program complained, at most 2 KiB.
func tail(b []byte) string {
	b = bytes.TrimSpace(b)
	const most = 2 << 10
	if len(b) > most {
		b = b[len(b)-most:]
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			b = b[i+1:]
		}
	}
	return string(b)
}

// limited is a buffer that keeps the first captureLimit bytes and
// remembers that there was more. The buffer is not embedded: io.Copy would
// take its ReadFrom and go round the limit.
type limited struct {
	kept bytes.Buffer
	over bool
}

func (l *limited) Write(p []byte) (int, error) {
	n := len(p)
	if room := captureLimit - l.kept.Len(); len(p) > room {
		l.over = true
		p = p[:room]
	}
	l.kept.Write(p)
	return n, nil
}

func (l *limited) Bytes() []byte { return l.kept.Bytes() }
