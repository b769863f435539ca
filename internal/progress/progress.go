// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package progress shows how long work goes: bars on a terminal, one plain
// line a step elsewhere.
package progress

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

// A Reporter shows the steps of one command. The nil Reporter shows nothing.
// It is safe for use by several goroutines.
type Reporter struct {
	w        io.Writer
	terminal bool
	mu       sync.Mutex
}

// New returns a Reporter on w, which is a terminal or not.
func New(w io.Writer, terminal bool) *Reporter { return &Reporter{w: w, terminal: terminal} }

// Step says that a step begins.
func (r *Reporter) Step(format string, args ...any) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(r.w, format+"\n", args...)
}

// A Bar counts the bytes or things of one step.
type Bar struct {
	r    *Reporter
	bar  *progressbar.ProgressBar
	name string
}

// Bytes says that a step begins and returns what counts its bytes; total is -1
// where it is not known. Off a terminal only the beginning is told.
func (r *Reporter) Bytes(name string, total int64) *Bar {
	if r == nil {
		return &Bar{}
	}
	if !r.terminal {
		r.Step("%s", name)
		return &Bar{r: r, name: name}
	}
	return &Bar{r: r, name: name, bar: progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(r.w),
		progressbar.OptionSetDescription(name),
		progressbar.OptionShowBytes(true),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)}
}

// Set says how far the step is; total is -1 where it is not known.
func (b *Bar) Set(done, total int64) {
	if b.bar == nil {
		return
	}
	b.r.mu.Lock()
	defer b.r.mu.Unlock()
	if total > 0 && total != b.bar.GetMax64() {
		b.bar.ChangeMax64(total)
	}
	b.bar.Set64(done)
}

// Done ends the step.
func (b *Bar) Done() {
	if b.bar == nil {
		return
	}
	b.r.mu.Lock()
	defer b.r.mu.Unlock()
	b.bar.Finish()
	fmt.Fprintln(b.r.w, b.name)
}
