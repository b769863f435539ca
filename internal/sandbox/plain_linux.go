// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package sandbox

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/1bit-MONSTER/engine/internal/rmtree"
)

// Probe implements Runner. A plain process runs on every Linux.
func (Plain) Probe(context.Context) error { return nil }

// Run implements Runner.
func (p Plain) Run(ctx context.Context, s Spec) (Result, error) {
	r := Result{Way: p.Name(), Code: -1}
	if err := s.Validate(); err != nil {
		return r, err
	}
	if s.Root != "" {
		return r, &NotStarted{What: "root " + s.Root, Why: "without a sandbox only the host's tools can be used"}
	}
	private, err := os.MkdirTemp("", "dist-step-")
	if err != nil {
		return r, &NotStarted{What: "private folder", Why: err.Error()}
	}
	defer rmtree.All(private)
	home, tmp := filepath.Join(private, "home"), filepath.Join(private, "tmp")
	for _, d := range []string{home, tmp} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return r, &NotStarted{What: "private folder", Why: err.Error()}
		}
	}
	work := s.work()
	if outside, ok := s.Outside(work); ok {
		work = outside
	}
	s.Env = append(slices.DeleteFunc(slices.Clone(s.Env), func(e string) bool {
		return strings.HasPrefix(e, "HOME=") || strings.HasPrefix(e, "TMPDIR=")
	}), "HOME="+home, "TMPDIR="+tmp)
	o := order{Args: s.Args, Env: s.env(work), Work: work, Limits: s.limits()}
	return runInit(ctx, o, &job{spec: s, result: r}, &syscall.SysProcAttr{})
}
