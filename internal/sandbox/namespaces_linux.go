// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// Run implements Runner.
func (n Namespaces) Run(ctx context.Context, s Spec) (Result, error) {
	r := Result{Way: n.Name(), Sandboxed: true, Code: -1}
	if err := s.Validate(); err != nil {
		return r, err
	}
	mounts, err := plan(s)
	if err != nil {
		return r, err
	}
	o := order{Inside: true, Mounts: mounts, Args: s.Args, Env: s.env(s.work()), Work: s.work(), Limits: s.limits()}
	o.Limits.NoAddress = true
	attr := &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET |
			syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS | syscall.CLONE_NEWCGROUP,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: User, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: User, HostID: os.Getgid(), Size: 1}},
		// For the mounts; given up before the step's program starts.
		AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP},
		Pdeathsig:   syscall.SIGKILL,
	}
	r, err = runInit(ctx, o, &job{spec: s, result: r}, attr)
	var start *fs.PathError
	if r.Code == -1 && errors.As(err, &start) {
		return r, diagnose(n.Name(), "/", start.Err)
	}
	return r, err
}

// limits are those that both ways set on a process.
func (s Spec) limits() limits {
	return limits{
		Data:     s.data(),
		FileSize: uint64(s.Limits.FileSize),
		CPUs:     s.CPUs,
	}
}

// data is far above the limit: looking should kill the step first, which says
// why, and what a program only sets aside counts here too.
func (s Spec) data() uint64 {
	const room = 4 << 30
	if s.Limits.Memory == 0 {
		return 0
	}
	return uint64(s.Limits.Memory) + max(uint64(s.Limits.Memory), room)
}

// runInit starts this program as the step's init, gives it its order and
// holds the pipe whose end ends it.
// More files are for the program that it starts.
func runInit(ctx context.Context, o order, j *job, attr *syscall.SysProcAttr, more ...*os.File) (Result, error) {
	r := j.result
	orders, giveOrders, err := os.Pipe()
	if err != nil {
		return r, err
	}
	defer giveOrders.Close()
	defer orders.Close()
	reports, giveReports, err := os.Pipe()
	if err != nil {
		return r, err
	}
	defer reports.Close()
	defer giveReports.Close()

	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{initName}
	cmd.Env = []string{}
	cmd.ExtraFiles = append([]*os.File{orders, giveReports}, more...)
	o.Extra = len(more)
	cmd.SysProcAttr = attr
	j.cmd = cmd
	j.bound(&o)
	defer j.unbound()
	told := make(chan *report, 1)
	j.started = func() {
		orders.Close()
		giveReports.Close()
		for _, f := range more {
			f.Close()
		}
		go func() {
			var what report
			if json.NewDecoder(reports).Decode(&what) != nil { // its end: the program started
				told <- nil
				return
			}
			told <- &what
		}()
		json.NewEncoder(giveOrders).Encode(o) // where it is dead already, its report or exit code says more
	}
	j.kill = func() {
		if o.Inside {
			cmd.Process.Kill() // process 1: the kernel ends all others first
			return
		}
		giveOrders.Close()
	}
	j.ended = func(r *Result) error {
		what := <-told
		if what == nil && j.program != nil {
			return j.program(r)
		}
		if what == nil {
			return nil
		}
		r.Code = -1
		return &NotStarted{What: what.What, Why: what.Why}
	}
	return j.run(ctx)
}
