// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package verdict holds the six outcomes that everything here ends with, and
// the exit codes that stand for them.
//
// An error says which verdict it is by having a method Verdict() Verdict
// anywhere in its chain; an error without one is a Fail, but for those of the
// machine (see Of). Packages define their
// own error types where callers decide on them, and use the constructors here
// where only the verdict and a sentence matter.
package verdict

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
)

// A Verdict is the outcome of one piece of work.
type Verdict string

// The verdicts. Skipped is never counted as passed.
const (
	Pass     Verdict = "pass"     // it was done, or nothing was to do
	Fail     Verdict = "fail"     // the thing itself is wrong
	Conflict Verdict = "conflict" // a patch no longer applies
	Held     Verdict = "held"     // a rule says not to move
	Infra    Verdict = "infra"    // machine, network or service failed, not the code
	Skipped  Verdict = "skipped"  // not run, with the reason
)

// ExitUsage is the exit code for a command line that cannot be understood or
// that lacks something the user must give first. It is not a verdict: nothing
// was tried.
const ExitUsage = 2

// order is the precedence when many things are summed up in one verdict.
var order = [...]Verdict{Fail, Conflict, Infra, Held, Skipped, Pass}

// All returns the six verdicts in the order of Worst: what needs attention
// first.
func All() []Verdict { return slices.Clone(order[:]) }

// Known says whether v is one of the six words.
func (v Verdict) Known() bool { return slices.Contains(order[:], v) }

// ExitCode returns the exit code of dist for v: 0 pass, 1 fail, 3 conflict,
// 4 held, 5 infra, 6 skipped. An unknown verdict is a fail.
func (v Verdict) ExitCode() int {
	switch v {
	case Pass:
		return 0
	case Conflict:
		return 3
	case Held:
		return 4
	case Infra:
		return 5
	case Skipped:
		return 6
	}
	return 1
}

// Worst returns the verdict of many things at once: the first of fail,
// conflict, infra, held, skipped, pass that occurs. Of nothing it is Pass.
func Worst(verdicts ...Verdict) Verdict {
	for _, o := range order {
		for _, v := range verdicts {
			if v == o {
				return o
			}
		}
	}
	if len(verdicts) > 0 {
		return Fail // only unknown words
	}
	return Pass
}

// A carrier is an error that knows its verdict.
type carrier interface {
	error
	Verdict() Verdict
}

// Of returns the verdict of an error: Pass for nil, what the error says where
// one in its chain has a method Verdict, Infra for a cancelled or timed out
// context and for what only says that the machine cannot, such as a full disk,
// Fail for everything else.
func Of(err error) Verdict {
	if err == nil {
		return Pass
	}
	var c carrier
	if errors.As(err, &c) {
		return c.Verdict()
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return Infra
	}
	var no syscall.Errno
	if errors.As(err, &no) && slices.Contains(machine[:], no) {
		return Infra
	}
	return Fail
}

// machine are the system's errors that say nothing about what was worked on: a
// disk that is full, broken or read-only, and a machine that has no more to give.
var machine = [...]syscall.Errno{
	syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM,
}

// ExitCode returns the exit code of dist for an error: ExitUsage where a Usage
// error is in the chain, the code of its verdict otherwise.
func ExitCode(err error) int {
	var u *Usage
	if errors.As(err, &u) {
		return ExitUsage
	}
	return Of(err).ExitCode()
}

// A Usage error is a mistake in the command line or a missing precondition
// that the user must mend before anything is tried.
type Usage struct{ Text string }

func (u *Usage) Error() string { return u.Text }

// Usagef returns a *Usage error.
func Usagef(format string, args ...any) error {
	return &Usage{Text: fmt.Sprintf(format, args...)}
}

// A Problem is an error with a verdict and a sentence for the user. Its cause,
// if any, is what %w in the format of its constructor wrapped.
type Problem struct {
	verdict Verdict
	err     error
}

func (p *Problem) Error() string    { return p.err.Error() }
func (p *Problem) Unwrap() error    { return errors.Unwrap(p.err) }
func (p *Problem) Verdict() Verdict { return p.verdict }

// New returns an error with the verdict v and the given sentence.
func New(v Verdict, text string) error { return problem(v, "%s", []any{text}) }

// Failf returns an error with the verdict Fail, whatever it wraps.
func Failf(format string, args ...any) error { return problem(Fail, format, args) }

// Infraf returns an error with the verdict Infra, whatever it wraps.
func Infraf(format string, args ...any) error { return problem(Infra, format, args) }

// Heldf returns an error with the verdict Held, whatever it wraps.
func Heldf(format string, args ...any) error { return problem(Held, format, args) }

// Skippedf returns an error with the verdict Skipped, whatever it wraps.
func Skippedf(format string, args ...any) error { return problem(Skipped, format, args) }

func problem(v Verdict, format string, args []any) error {
	return &Problem{verdict: v, err: fmt.Errorf(format, args...)}
}
