// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package child runs one program whose life is bound to ours: it has a process
// group of its own, nothing of that group outlives us, not even when we are
// killed, and the last lines that it wrote are there to explain its end.
// Programs that do one thing and end are the matter of package run.
//
// How life is bound: on Linux the kernel kills the child when the thread that
// started it ends (that thread is held for the child's whole life); on every
// Unix a small guard process, /bin/sh waiting on a pipe from us, kills the
// child's whole process group when we are gone; on Windows a job object does.
// Between the start of a program and its entry into the guard or the job there
// is a moment, well under a millisecond of our own work, in which our death
// would leave it alive on systems other than Linux.
package child

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

// A Command is the program to run. Path must name a file: nothing is looked
// up. Env is the whole environment.
type Command struct {
	Path string
	Args []string
	Env  []string
	Log  io.Writer              // gets each line that the program writes, if not nil
	Drop func(line []byte) bool // lines to forget, if not nil

	Stdin  *os.File // what the program reads; nil: nothing
	Stdout *os.File // where its standard output goes; nil: where its errors go, to Log
}

// A Child is a running or ended program.
type Child struct {
	cmd  *exec.Cmd
	tail *tail
	bond *bond
	read chan struct{} // closed when the output ended
	done chan struct{} // closed when the program ended and its group is gone

	stopping sync.Once
	err      error // of Wait; read after done
}

// outputDelay is how long the output may stay open after the program ended, by
// something that it left and that escaped its process group.
const outputDelay = time.Second

// Start starts the program.
func Start(c Command) (*Child, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	ch := &Child{
		cmd:  exec.Command(c.Path, c.Args...),
		tail: &tail{log: c.Log, drop: c.Drop},
		read: make(chan struct{}),
		done: make(chan struct{}),
	}
	ch.cmd.Env = append([]string{}, c.Env...) // never nil: that would inherit
	ch.cmd.Stdout, ch.cmd.Stderr = w, w
	if c.Stdout != nil {
		ch.cmd.Stdout = c.Stdout
	}
	if c.Stdin != nil {
		ch.cmd.Stdin = c.Stdin
	}
	prepare(ch.cmd)
	started := make(chan error)
	go ch.live(started, w)
	if err := <-started; err != nil {
		r.Close()
		return nil, fmt.Errorf("start %s: %w", c.Path, err)
	}
	go func() {
		ch.tail.ReadFrom(r)
		close(ch.read)
	}()
	go func() {
		<-ch.done
		r.Close() // ends the reader if something still holds the other end
	}()
	return ch, nil
}

// live starts the program, waits for it and cleans up. It holds its thread for
// all of that: Linux ends the program together with this thread.
func (ch *Child) live(started chan<- error, w *os.File) {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	err := ch.cmd.Start()
	w.Close()
	if err != nil {
		started <- err
		return
	}
	ch.bond = bind(ch.cmd.Process)
	started <- nil
	ch.err = ch.cmd.Wait()
	ch.bond.kill()
	select {
	case <-ch.read:
	case <-time.After(outputDelay):
	}
	ch.bond.release()
	close(ch.done)
}

// Done is closed when the program has ended.
func (ch *Child) Done() <-chan struct{} { return ch.done }

// PID returns the process id.
func (ch *Child) PID() int { return ch.cmd.Process.Pid }

// Stop asks the program to end and kills it, with all of its process group,
// when it has not after grace. It returns when the program has ended.
func (ch *Child) Stop(grace time.Duration) {
	ch.stopping.Do(func() {
		select {
		case <-ch.done: // its number may already be another's
			return
		default:
		}
		ch.bond.terminate()
		select {
		case <-ch.done:
		case <-time.After(grace):
			ch.bond.kill()
		}
	})
	<-ch.done
}

// How returns in words how the program ended, such as "exited with status 1"
// or "was killed by a signal (killed)". Call it after Done.
func (ch *Child) How() string {
	<-ch.done
	state := ch.cmd.ProcessState
	if state == nil {
		return fmt.Sprintf("ended (%v)", ch.err)
	}
	if name := signalName(state); name != "" {
		return "was killed by a signal (" + name + ")"
	}
	return fmt.Sprintf("exited with status %d", state.ExitCode())
}

// Tail returns the last lines that the program wrote.
func (ch *Child) Tail() []string { return ch.tail.Lines() }
