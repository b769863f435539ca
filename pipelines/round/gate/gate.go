// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package gate holds the checks that a round must pass before it is proposed,
// one file each. They run without a network and without secrets, on what a
// night handed on (round.Folder), and say what they found; none of them
// changes anything.
package gate

import (
	"context"
	"io"
	"time"

	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/patches"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/build"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

// A Gate is one named check.
type Gate struct {
	Name string
	What string // what it looks at, in one line
	// Run looks at the subject. What it returns has neither gate, time nor log
	// set; those are for Run's caller.
	Run func(ctx context.Context, s *Subject) Result

	patched bool // it reads sources with our patches, so every stack must apply
	costly  bool // it waits for the others, and is not run where one of them stops the round
}

// A Result is what one gate found.
type Result struct {
	Gate    string          `json:"gate"`
	Verdict verdict.Verdict `json:"verdict"`
	Why     string          `json:"why,omitempty"` // of a verdict that is not pass: one sentence, inert
	// Details is what a person wants to see besides, as plain text of several
	// lines, made inert by whoever renders it: a difference of licences, the
	// symbols that are gone.
	Details string `json:"details,omitempty"`
	// Person: it may go on, but a person must look before it is merged, so that
	// the proposal is a draft. Why says at what.
	Person  bool      `json:"person,omitempty"`
	Begin   time.Time `json:"begin"`
	Seconds float64   `json:"seconds"`
	Log     string    `json:"log,omitempty"` // relative to the round's folder
}

// A Subject is what gates look at.
type Subject struct {
	Round *round.Round
	Base  *pins.Set // as on main, at Round.Base
	Next  *pins.Set // with the round in it
	// BaseDir and NextDir are work trees of this repository: as on main, and
	// with the round's pins and patches. What decides over a round (policy,
	// trust, rules) is read from BaseDir, never from NextDir.
	BaseDir, NextDir string
	// Engine is offline, on the round's folder, with Next.
	Engine *fetch.Engine
	// Stacks says how each stack of the group did, by name, and StackErrors
	// what kept one from being tried.
	Stacks      map[string]*patches.Result
	StackErrors map[string]error
	Receipts    []fetch.Archived // of the archive, from the resolving phase
	Recipes     []*build.Recipe  // nil: build.Recipes()
	// Workshop makes what builds components with Next; see build.NewWorkshop.
	Workshop func() (*build.Workshop, error)
	Now      time.Time
	Log      io.Writer // what the gate prints; becomes its log file

	logs string // folder for further logs; empty: there is none
}
