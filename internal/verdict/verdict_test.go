// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package verdict

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"
)

func TestWorstFollowsTheStatedOrder(t *testing.T) {
	for _, c := range []struct {
		in   []Verdict
		want Verdict
	}{
		{nil, Pass},
		{[]Verdict{Pass, Skipped}, Skipped},
		{[]Verdict{Skipped, Held, Pass}, Held},
		{[]Verdict{Held, Infra}, Infra},
		{[]Verdict{Infra, Conflict}, Conflict},
		{[]Verdict{Conflict, Pass, Fail}, Fail},
		{[]Verdict{"nonsense"}, Fail},
	} {
		if got := Worst(c.in...); got != c.want {
			t.Errorf("Worst(%v) = %s, want %s", c.in, got, c.want)
		}
	}
}

func TestOfAndExitCode(t *testing.T) {
	cause := errors.New("no route")
	for _, c := range []struct {
		name string
		err  error
		want Verdict
		exit int
	}{
		{"nil", nil, Pass, 0},
		{"plain", cause, Fail, 1},
		{"usage", fmt.Errorf("dist: %w", Usagef("unknown flag")), Fail, 2},
		{"held below a wrap", fmt.Errorf("pin zinc: %w", Heldf("until Monday")), Held, 4},
		{"infra over a fail", Infraf("fetch: %w", Failf("sum")), Infra, 5},
		{"deadline", fmt.Errorf("x: %w", context.DeadlineExceeded), Infra, 5},
		{"full disk", fmt.Errorf("x: %w", &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}), Infra, 5},
		{"read-only disk", fmt.Errorf("x: %w", syscall.EROFS), Infra, 5},
		{"no such file", &fs.PathError{Op: "open", Path: "x", Err: syscall.ENOENT}, Fail, 1},
		{"a full disk that is no excuse", Failf("sum: %w", syscall.ENOSPC), Fail, 1},
		{"skipped", Skippedf("no archive configured"), Skipped, 6},
	} {
		if got := Of(c.err); got != c.want {
			t.Errorf("%s: Of = %s, want %s", c.name, got, c.want)
		}
		if got := ExitCode(c.err); got != c.exit {
			t.Errorf("%s: ExitCode = %d, want %d", c.name, got, c.exit)
		}
	}
	if err := Infraf("fetch: %w", cause); !errors.Is(err, cause) {
		t.Error("Infraf lost its cause")
	}
}
