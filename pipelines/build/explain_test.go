// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/run"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// What the machine does to a go command is not said of the program.
func TestExplainGoErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want verdict.Verdict
		say  string
	}{
		{"a program that does not compile", &run.ExitError{Code: 1, Stderr: "a.go:1:1: undefined: x"}, verdict.Fail, "undefined"},
		{"a full disk", &run.ExitError{Code: 1, Stderr: "write: no space left on device"}, verdict.Infra, "is full"},
		{"no more processes", &run.ExitError{Code: 1, Stderr: "sync: fork/exec compile: resource temporarily unavailable"}, verdict.Infra, "run the same again"},
		{"no more memory", &run.ExitError{Code: 1, Stderr: "sync: fork/exec compile: cannot allocate memory"}, verdict.Infra, "run the same again"},
		{"a compiler killed for memory", &run.ExitError{Code: 1, Stderr: "runtime: compile: signal: killed"}, verdict.Infra, "run the same again"},
		{"no more files", &run.ExitError{Code: 1, Stderr: "open x: too many open files"}, verdict.Infra, "run the same again"},
		{"itself killed", &run.ExitError{Code: -1, Signal: "killed"}, verdict.Infra, "run the same again"},
		{"the time limit", &run.ExitError{Code: -1, TimedOut: true, Signal: "terminated"}, verdict.Infra, "in time"},
		{"not even started", fmt.Errorf("go: %w", &os.PathError{Op: "fork/exec", Path: "go", Err: syscall.EAGAIN}), verdict.Infra, "run the same again"},
		{"cancelled", errors.Join(&run.ExitError{Code: -1}, context.Canceled), verdict.Infra, "canceled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, explain := range []func(error) error{explainList} {
				err := store.Explain(explain(c.err), "/cache")
				if verdict.Of(err) != c.want || !strings.Contains(err.Error(), c.say) {
					t.Errorf("verdict %s: %v; want %s and %q", verdict.Of(err), err, c.want, c.say)
				}
			}
		})
	}
}

// What is read is a file: anything else is an error, at once.
func TestReadRegular(t *testing.T) {
	for _, path := range []string{t.TempDir(), os.DevNull} {
		if _, err := readRegular(path); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: %v", path, err)
		}
	}
}
