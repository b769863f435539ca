// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package sandbox

import (
	"context"
	"errors"
	"runtime"
)

// Main does nothing: steps run on Linux only.
func Main() {}

func unavailable(way string) error {
	return &Unavailable{Way: way, Why: "steps run on Linux only, this is " + runtime.GOOS, Do: "build on a Linux machine"}
}

// Probe returns an *Unavailable.
func (b Bubblewrap) Probe(context.Context) error { return unavailable(b.Name()) }

// Probe returns an *Unavailable.
func (n Namespaces) Probe(context.Context) error { return unavailable(n.Name()) }

// Probe returns an *Unavailable.
func (p Plain) Probe(context.Context) error { return unavailable(p.Name()) }

// Run returns an *Unavailable.
func (b Bubblewrap) Run(context.Context, Spec) (Result, error) {
	return Result{Way: b.Name(), Code: -1}, unavailable(b.Name())
}

// Run returns an *Unavailable.
func (n Namespaces) Run(context.Context, Spec) (Result, error) {
	return Result{Way: n.Name(), Code: -1}, unavailable(n.Name())
}

// Run returns an *Unavailable.
func (p Plain) Run(context.Context, Spec) (Result, error) {
	return Result{Way: p.Name(), Code: -1}, unavailable(p.Name())
}

// Probe returns a *WrapError.
func (w Wrapped) Probe() error { return w.Become() }

// Become returns a *WrapError.
func (w Wrapped) Become() error {
	return &WrapError{StageFilter, errors.New("steps run on Linux only")}
}

func signalOf(int) string { return "" }
