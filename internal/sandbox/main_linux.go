// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package sandbox

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/1bit-MONSTER/engine/internal/sandbox/seccomp"
)

// initName is the name under which this program starts itself again: as
// process 1 of a step, or as the parent of bwrap or of a plain step, which
// ends and waits for all that they leave.
const initName = "dist-sandbox-init"

// Descriptors of the program started again.
const (
	orderFD  = 3 // an order as JSON; its end is the caller's end
	reportFD = 4 // a report as JSON, or nothing and the end
	extraFD  = 5 // the first of those that the program started gets, from 3 on
)

// An order is what the program started again is told.
type order struct {
	Inside bool // in new namespaces: mount, drop everything
	Mounts []mount
	Args   []string
	Env    []string
	Work   string
	Limits limits
	Join   string // the folder of a cgroup to enter, or empty
	Extra  int    // how many descriptors the program gets besides the first three
}

// A report says what went wrong before the step's program ran.
type report struct{ What, Why string }

// Main makes the program that calls it fit to be started again by a Runner.
// Call it first thing in main and in TestMain: where this process is such a
// one, it does not return.
func Main() {
	if os.Args[0] == initName {
		runtime.LockOSThread() // capabilities, filter and affinity are the thread's
		os.Exit(initMain())
	}
}

func initMain() int {
	closing := closeFrom(orderFD) // also what our caller got from its own and passed on
	orders, reports := os.NewFile(orderFD, "order"), os.NewFile(reportFD, "report")
	fail := func(what string, err error) int {
		json.NewEncoder(reports).Encode(report{What: what, Why: err.Error()}) // nobody else to tell
		return 125
	}
	var o order
	if err := json.NewDecoder(orders).Decode(&o); err != nil {
		return fail("order", err)
	}
	if closing != nil {
		return fail("descriptors", closing)
	}
	if err := o.prepare(); err != nil {
		return fail(err.what, err.err)
	}
	program, err := lookPath(o.Args[0], o.Env)
	if err != nil {
		return fail(o.Args[0], err)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return fail(os.DevNull, err)
	}
	if o.Inside {
		if err := dropAll(); err != nil {
			return fail("capabilities", err)
		}
		if err := seccomp.Install(); err != nil {
			return fail("seccomp", err)
		}
	} else if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fail("subreaper", err)
	}
	files := []uintptr{null.Fd(), 1, 2}
	for i := range o.Extra {
		files = append(files, uintptr(extraFD+i))
	}
	pid, err := syscall.ForkExec(program, o.Args, &syscall.ProcAttr{
		Env:   o.Env,
		Files: files,
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return fail(o.Args[0], err)
	}
	reports.Close()
	for i := range o.Extra {
		unix.Close(extraFD + i)
	}
	go func() { // the caller's end, whatever ended it, is the step's
		orders.Read(make([]byte, 1))
		if o.Inside {
			os.Exit(128 + int(syscall.SIGKILL))
		}
		for { // until the step is reaped below
			killBelow()
			time.Sleep(time.Millisecond)
		}
	}()
	code := reap(pid)
	if !o.Inside {
		sweep()
	}
	return code
}

// A stageError says at which stage of preparation an error came.
type stageError struct {
	what string
	err  error
}

// join enters the cgroup with all threads.
func (o *order) join() error {
	if o.Join == "" {
		return nil
	}
	return os.WriteFile(filepath.Join(o.Join, "cgroup.procs"), []byte("0"), 0)
}

func (o *order) prepare() *stageError {
	if err := o.join(); err != nil {
		return &stageError{"cgroup", err}
	}
	if err := os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0); err != nil && o.Inside {
		return &stageError{"oom_score_adj", err}
	}
	unix.Umask(umask)
	if o.Inside {
		if err := mountAll(o.Mounts); err != nil {
			return err
		}
		if err := unix.Sethostname([]byte(Hostname)); err != nil {
			return &stageError{"host name", err}
		}
		// Other processes of the step must not read or change this one.
		if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
			return &stageError{"dumpable", err}
		}
	}
	if err := os.Chdir(o.Work); err != nil {
		return &stageError{"work folder", err}
	}
	if err := o.Limits.set(); err != nil {
		return &stageError{"limits", err}
	}
	return nil
}

// closeFrom lets no descriptor from the first on pass into another program.
func closeFrom(first uint) error {
	if err := unix.CloseRange(first, ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("close_range: %w", err)
	}
	return nil
}

// reap waits for every child until the step's first process has ended, and
// returns its exit code as a shell would.
func reap(first int) int {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return 125
		case pid == first && status.Exited():
			return status.ExitStatus()
		case pid == first && status.Signaled():
			return 128 + int(status.Signal())
		}
	}
}

// sweep kills every descendant of this process and waits for it, until there
// is none. All become our children when their parents end.
func sweep() {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if err == syscall.ECHILD {
			return
		}
		if pid != 0 {
			continue // one less, or interrupted
		}
		killBelow()
		syscall.Wait4(-1, nil, 0, nil) // the next turn sees what came of it
	}
}

func killBelow() {
	for _, p := range descendants(os.Getpid()) {
		syscall.Kill(p, syscall.SIGKILL)
	}
}
