// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"fmt"
	"time"

	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// How memory and processes were limited.
const (
	ByCgroup        = "cgroup"         // by the kernel, exactly
	ByRlimitPolling = "rlimit+polling" // a bound on each process or user, and looking at all of them
	ByPolling       = "polling"        // looking only
)

// A Result is what is known of a step that ran, also when it went wrong.
type Result struct {
	Way        string // the runner's name
	Sandboxed  bool   // false: it saw the whole host
	Code       int    // exit code; 128+n when signal n ended it, as shells say it
	Signal     string // the signal that Code stands for, such as SIGKILL
	Exceeded   *Exceeded
	OOM        bool // ended for lack of memory: by our limit, or by the kernel
	Wall       time.Duration
	User, Sys  time.Duration
	PeakMemory int64 // bytes; the whole step's by cgroup or looking, at least its largest process
	Printed    int64 // bytes of stdout and stderr

	MemoryBy    string // ByCgroup or ByRlimitPolling
	ProcessesBy string // ByCgroup, ByRlimitPolling or ByPolling
}

// The names of the limits, as Exceeded gives them.
const (
	LimitWall      = "time"
	LimitCPU       = "CPU time"
	LimitMemory    = "memory"
	LimitProcesses = "processes"
	LimitFileSize  = "file size"
	LimitDisk      = "output folder"
	LimitOutput    = "printed output"
)

// Exceeded is the error of a step that was killed at a limit.
type Exceeded struct {
	Limit string // one of the names above
	Value string // the limit, readable: "2 GiB", "30s"
}

func (e *Exceeded) Error() string {
	return fmt.Sprintf("killed: more than %s of %s", e.Value, e.Limit)
}

// ExitError is the error of a step that ran and did not end with code 0.
type ExitError struct {
	Code   int
	Signal string
}

func (e *ExitError) Error() string {
	if e.Signal != "" {
		return fmt.Sprintf("killed by %s", e.Signal)
	}
	return fmt.Sprintf("exit status %d", e.Code)
}

// NotStarted is the error of a step whose program could not be started, or
// whose file system could not be put together.
type NotStarted struct {
	What string // the program or the mount
	Why  string
}

func (e *NotStarted) Error() string { return fmt.Sprintf("%s: %s", e.What, e.Why) }

// Unavailable is the error where a way of sandboxing does not work on this
// machine. Its verdict is infra.
type Unavailable struct {
	Way string // the runner's name
	Why string
	Do  string // what to do about it
}

func (e *Unavailable) Error() string {
	return fmt.Sprintf("sandbox by %s: %s; %s", e.Way, e.Why, e.Do)
}

// Verdict implements the verdict package's interface.
func (e *Unavailable) Verdict() verdict.Verdict { return verdict.Infra }

// bytesSize writes n exactly, in the largest unit that divides it.
func bytesSize(n int64) string {
	unit := 0
	for n != 0 && n%1024 == 0 && unit < 4 {
		n, unit = n/1024, unit+1
	}
	return fmt.Sprintf("%d %s", n, [...]string{"bytes", "KiB", "MiB", "GiB", "TiB"}[unit])
}

// Exit returns what an exit code as shells give it says of a step: an
// *ExitError, or nil for 0.
func Exit(code int) error {
	if code == 0 {
		return nil
	}
	return &ExitError{Code: code, Signal: signalOf(code)}
}
