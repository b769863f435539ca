// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"sync"
)

// A Process is a program that answers over its pipes while we hold it, such as
// git cat-file --batch. It is not safe for use by several goroutines at once.
type Process struct {
	Stdin  io.WriteCloser
	Stdout io.ReadCloser

	c      Command
	ctx    context.Context
	cancel context.CancelFunc
	cmd    *exec.Cmd
	stderr limited
	once   sync.Once
	err    error
}

// Start starts the program with pipes on stdin and stdout. The caller must
// call Close, which also ends it.
func (c Command) Start(ctx context.Context) (*Process, error) {
	ctx, cancel := context.WithCancel(ctx)
	p := &Process{c: c, ctx: ctx, cancel: cancel}
	p.cmd = c.command(ctx)
	p.cmd.Stderr = &p.stderr
	if c.Stderr != nil {
		p.cmd.Stderr = io.MultiWriter(&p.stderr, c.Stderr)
	}
	var err error
	if p.Stdin, err = p.cmd.StdinPipe(); err == nil {
		if p.Stdout, err = p.cmd.StdoutPipe(); err == nil {
			err = p.cmd.Start()
		}
	}
	if err != nil {
		cancel()
		return nil, fmt.Errorf("%s: %w", c.Line(), err)
	}
	return p, nil
}

// Close closes stdin, reads stdout to its end, waits for the program and kills
// what is left of its process group. The error is as for Command.Run. Calling
// it again returns the same error.
func (p *Process) Close() error {
	p.once.Do(func() {
		p.Stdin.Close()
		io.Copy(io.Discard, p.Stdout)
		err := p.cmd.Wait()
		killGroup(p.cmd)
		r := Result{Stderr: p.stderr.Bytes(), Code: p.cmd.ProcessState.ExitCode()}
		p.err = p.c.explain(p.ctx, err, r)
		p.cancel()
	})
	return p.err
}

// Kill ends the program at once and discards what it says.
func (p *Process) Kill() {
	p.cancel()
	p.Close()
}
