// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// How often a step is looked at; never more than a twentieth of the time goes
// into looking.
const (
	lookEvery = 20 * time.Millisecond
	sizeEvery = 500 * time.Millisecond
	endDelay  = 5 * time.Second // from the kill to giving up on the streams
)

// A job is a step that one of the ways has made ready to start.
type job struct {
	spec    Spec
	cmd     *exec.Cmd
	result  Result
	group   *cgroup             // nil: none
	pids    *cgroup             // bounds processes where group is nil; nil: none
	stderr  io.Writer           // gets a copy of the step's; may be nil
	started func()              // after the start
	kill    func()              // ends all of the step, may be called again
	ended   func(*Result) error // after the end: what the way knows of it
	program func(*Result) error // after the end of a program that runs the step; may be nil
}

// bound limits memory and processes in the kernel, as far as it lets us, and
// returns what the step's first process has to do for it.
func (j *job) bound(o *order) {
	r, l := &j.result, j.spec.Limits
	r.MemoryBy, r.ProcessesBy = ByRlimitPolling, ByPolling
	if j.group = newCgroup(l); j.group != nil {
		r.MemoryBy, r.ProcessesBy = ByCgroup, ByCgroup
		return
	}
	if j.pids = newPidsGroup(l); j.pids != nil {
		r.ProcessesBy, o.Join = ByCgroup, j.pids.dir
		return
	}
	if os.Getuid() != 0 && l.Processes > 0 {
		r.ProcessesBy = ByRlimitPolling
		o.Limits.Tasks = uint64(2*l.Processes + taskRoom)
		if !o.Inside { // counted together with all that the user runs already
			o.Limits.Tasks += uint64(userTasks())
		}
	}
}

func (j *job) unbound() {
	j.group.remove()
	j.pids.remove()
}

// run starts the job, watches its limits and waits for its end.
func (j *job) run(ctx context.Context) (Result, error) {
	l := j.spec.Limits
	var once sync.Once
	var why error
	stop := func(err error) {
		once.Do(func() { why = err })
		j.kill()
	}
	exceed := func(limit, value string) { stop(&Exceeded{Limit: limit, Value: value}) }

	out := &printed{limit: l.Output, over: func() { exceed(LimitOutput, bytesSize(l.Output)) }}
	j.cmd.Stdout, j.cmd.Stderr = out.to(j.spec.Stdout), out.to(j.spec.Stderr)
	if j.stderr != nil {
		j.cmd.Stderr = io.MultiWriter(j.stderr, j.cmd.Stderr)
	}
	j.cmd.WaitDelay = endDelay
	j.cmd.SysProcAttr.Setpgid = true // a terminal's Ctrl-C is for the caller
	if j.group != nil {
		j.cmd.SysProcAttr.UseCgroupFD, j.cmd.SysProcAttr.CgroupFD = true, j.group.fd()
	}
	runtime.LockOSThread() // the step dies with the thread that starts it
	defer runtime.UnlockOSThread()
	begin := time.Now()
	if err := j.cmd.Start(); err != nil {
		j.result.Code = -1
		return j.result, err
	}
	j.started()
	done := make(chan struct{})
	var watchers sync.WaitGroup
	watchers.Go(func() { j.watch(ctx, done, begin, stop, exceed) })
	if l.Disk > 0 {
		watchers.Go(func() { j.watchDisk(done, exceed) })
	}
	err := j.cmd.Wait()
	close(done)
	watchers.Wait()
	j.result.Wall = time.Since(begin)
	j.result.Printed = out.n
	return j.finish(ctx, err, &once, &why)
}

// finish turns what is known at the end into result and error.
func (j *job) finish(ctx context.Context, waited error, once *sync.Once, why *error) (Result, error) {
	r, l, state := &j.result, j.spec.Limits, j.cmd.ProcessState
	r.Code = state.ExitCode()
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		r.Code = 128 + int(status.Signal())
	}
	r.User, r.Sys = max(r.User, state.UserTime()), max(r.Sys, state.SystemTime())
	if u, ok := state.SysUsage().(*syscall.Rusage); ok {
		r.PeakMemory = max(r.PeakMemory, u.Maxrss<<10)
	}
	if j.group != nil {
		j.group.read(r)
		if r.OOM {
			once.Do(func() { *why = &Exceeded{Limit: LimitMemory, Value: bytesSize(l.Memory)} })
		}
	}
	if j.group == nil && l.Memory > 0 && r.PeakMemory > l.Memory { // between two looks
		once.Do(func() { *why = &Exceeded{Limit: LimitMemory, Value: bytesSize(l.Memory)} })
	}
	if j.group.refused() || j.pids.refused() {
		once.Do(func() { *why = &Exceeded{Limit: LimitProcesses, Value: fmt.Sprint(l.Processes)} })
	}
	endErr := j.ended(r)
	if l.Disk > 0 && *why == nil && size(j.spec.Binds) > l.Disk {
		once.Do(func() { *why = &Exceeded{Limit: LimitDisk, Value: bytesSize(l.Disk)} })
	}
	r.Signal = signalOf(r.Code)
	if r.Signal == "SIGXFSZ" && l.FileSize > 0 {
		once.Do(func() { *why = &Exceeded{Limit: LimitFileSize, Value: bytesSize(l.FileSize)} })
	}
	if errors.As(*why, &r.Exceeded) && r.Exceeded.Limit == LimitMemory {
		r.OOM = true
	}
	var exit *exec.ExitError
	switch {
	case *why != nil:
		return *r, *why
	case ctx.Err() != nil:
		return *r, ctx.Err()
	case endErr != nil:
		return *r, endErr
	case r.Code != 0:
		return *r, &ExitError{Code: r.Code, Signal: r.Signal}
	case waited != nil && !errors.As(waited, &exit):
		return *r, fmt.Errorf("sandbox: %w", waited) // a writer of the caller refused
	}
	return *r, nil
}

// watch kills the step at a limit of time, memory or processes, and when the
// context ends.
func (j *job) watch(ctx context.Context, done chan struct{}, begin time.Time, stop func(error), exceed func(limit, value string)) {
	l := j.spec.Limits
	var wall <-chan time.Time
	if l.Wall > 0 {
		timer := time.NewTimer(l.Wall)
		defer timer.Stop()
		wall = timer.C
	}
	next := time.NewTimer(lookEvery)
	defer next.Stop()
	for {
		select {
		case <-done:
			return
		case <-ctx.Done():
			stop(ctx.Err())
			<-done
			return
		case <-wall:
			exceed(LimitWall, l.Wall.String())
			<-done
			return
		case <-next.C:
		}
		before := time.Now()
		u := j.look()
		r := &j.result
		r.PeakMemory, r.User, r.Sys = max(r.PeakMemory, u.memory), max(r.User, u.user), max(r.Sys, u.sys)
		switch {
		case l.Memory > 0 && u.memory > l.Memory:
			exceed(LimitMemory, bytesSize(l.Memory))
		case l.Processes > 0 && (u.tasks > l.Processes || j.group.refused() || j.pids.refused()):
			exceed(LimitProcesses, fmt.Sprint(l.Processes))
		case l.CPU > 0 && u.user+u.sys > l.CPU:
			exceed(LimitCPU, l.CPU.String())
		}
		next.Reset(max(lookEvery, 19*time.Since(before)))
	}
}

func (j *job) look() usage {
	if j.group != nil {
		return j.group.look(j.spec.Limits)
	}
	return look(j.cmd.Process.Pid)
}

func (j *job) watchDisk(done chan struct{}, exceed func(limit, value string)) {
	next := time.NewTimer(sizeEvery / 10) // a step that starts to fill the disk does so at once
	defer next.Stop()
	for {
		select {
		case <-done:
			return
		case <-next.C:
		}
		before := time.Now()
		if size(j.spec.Binds) > j.spec.Limits.Disk {
			exceed(LimitDisk, bytesSize(j.spec.Limits.Disk))
		}
		next.Reset(max(sizeEvery, 19*time.Since(before)))
	}
}

// signalOf names the signal that an exit code stands for, if it is one.
func signalOf(code int) string {
	if code > 128 && code <= 128+64 {
		return unix.SignalName(unix.Signal(code - 128))
	}
	return ""
}
