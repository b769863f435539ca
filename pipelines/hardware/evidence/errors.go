// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"fmt"
	"time"

	"github.com/1bit-MONSTER/engine/internal/inert"
)

// TooLarge says that an envelope is none of ours: they are a few kB.
type TooLarge struct{ Size, Max int }

func (e *TooLarge) Error() string {
	return fmt.Sprintf("the evidence has %d bytes, more than the %d that one may have", e.Size, e.Max)
}

// Malformed says that an envelope or statement is not as this package writes it.
type Malformed struct{ Why string }

func (e *Malformed) Error() string { return "the evidence is malformed: " + e.Why }

// UnknownField says that there is more in it than this version of the program
// understands; it might be a condition.
type UnknownField struct{ Field string }

func (e *UnknownField) Error() string {
	return fmt.Sprintf("the evidence has an unknown field %q", e.Field)
}

// WrongType says that it is a statement about something else.
type WrongType struct{ What, Got, Want string }

func (e *WrongType) Error() string {
	return fmt.Sprintf("%s is %q, not %q", e.What, inert.Line(e.Got, 120), e.Want)
}

// UnknownKey says that the signer is not in ci/trust/runners.yaml.
type UnknownKey struct{ Runner string }

func (e *UnknownKey) Error() string {
	return fmt.Sprintf("%s has no runner %q", TrustFile, inert.Line(e.Runner, 80))
}

// BadSignature says that the runner's key did not sign this.
type BadSignature struct{ Runner string }

func (e *BadSignature) Error() string {
	return fmt.Sprintf("the signature is not that of runner %s", e.Runner)
}

// Revoked says that nothing counts that the runner's key ever signed.
type Revoked struct {
	Runner string
	Date   time.Time
	Why    string
}

func (e *Revoked) Error() string {
	return fmt.Sprintf("the key of runner %s was revoked on %s: %s", e.Runner, e.Date.Format(time.DateOnly), inert.Line(e.Why, 200))
}

// OutsideValidity says that the runner's key was not valid when, by its own
// word, it signed.
type OutsideValidity struct {
	Runner   string
	At       time.Time
	From, To time.Time // the first moment of validity, and the first after it
}

func (e *OutsideValidity) Error() string {
	return fmt.Sprintf("the statement is of %s, and the key of runner %s is valid from %s to %s",
		e.At.Format(time.RFC3339), e.Runner, e.From.Format(time.DateOnly), e.To.Add(-time.Second).Format(time.DateOnly))
}

// InFuture says that a statement is younger than now: some clock is wrong.
type InFuture struct{ At, Now time.Time }

func (e *InFuture) Error() string {
	return fmt.Sprintf("the statement is of %s, which is yet to come: a clock is wrong", e.At.Format(time.RFC3339))
}
