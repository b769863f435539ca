// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package gate

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// All returns every gate, in the order in which they run: cheap ones first.
func All() []Gate {
	return []Gate{
		pinRules(), archived(), stacked(), signed(), submoduled(), licensed(), sized(),
		downloaded(), contracted(), built(), evidenced(),
	}
}

// Find returns the gate of that name, or a usage error.
func Find(name string) (Gate, error) {
	var names []string
	for _, g := range All() {
		if g.Name == name {
			return g, nil
		}
		names = append(names, g.Name)
	}
	return Gate{}, verdict.Usagef("there is no gate %q: there are %s", name, strings.Join(names, ", "))
}

// Bounds of what a result carries: a sentence in characters, and details in
// bytes. A log has everything.
const (
	maxWhy     = 500
	maxDetails = 128 << 10
)

// Run runs gates in their order and returns a result for each. One that ends
// badly does not keep the others from running, but for two rules: without all
// stacks applied nothing is said about patched sources, and what is costly is
// not done for a round that another gate stops already.
//
// Logs go to logsDir, which is made; without one they are thrown away.
func Run(ctx context.Context, s *Subject, gates []Gate, logsDir string) []Result {
	var results []Result
	for _, g := range gates {
		why := ""
		switch {
		case g.patched && !stacksApply(s):
			why = "the stack does not apply"
		case g.costly:
			why = stopped(results)
		}
		if why != "" {
			results = append(results, Result{Gate: g.Name, Verdict: verdict.Skipped, Why: why, Begin: time.Now().UTC()})
			continue
		}
		results = append(results, one(ctx, s, g, logsDir))
	}
	return results
}

// stopped names the gate that stops a round already, if one does.
func stopped(results []Result) string {
	for _, r := range results {
		switch r.Verdict {
		case verdict.Fail, verdict.Conflict, verdict.Held:
			if !r.waits() {
				return fmt.Sprintf("the gate %s is %s", r.Gate, r.Verdict)
			}
		}
	}
	return ""
}

// one runs one gate with its log.
func one(ctx context.Context, s *Subject, g Gate, logsDir string) Result {
	begin := time.Now()
	in := *s
	in.logs, in.Log = logsDir, io.Discard
	var r Result
	var file *os.File
	if logsDir != "" {
		err := os.MkdirAll(logsDir, 0o777)
		if err == nil {
			file, err = os.Create(filepath.Join(logsDir, g.Name+".txt"))
		}
		if err != nil {
			r = Result{Verdict: verdict.Infra, Why: "its log cannot be written: " + err.Error()}
		} else {
			in.Log = file
		}
	}
	switch {
	case r.Verdict != "":
	case ctx.Err() != nil:
		r = Result{Verdict: verdict.Infra, Why: "it was not run: " + ctx.Err().Error()}
	default:
		r = guarded(ctx, &in, g)
	}
	r.Gate, r.Begin, r.Seconds = g.Name, begin.UTC(), time.Since(begin).Round(time.Millisecond).Seconds()
	r.tidy()
	if file != nil {
		r.Log = filepath.ToSlash(filepath.Join(filepath.Base(logsDir), g.Name+".txt"))
		fmt.Fprintf(file, "%s: %s", g.Name, r.Verdict)
		if r.Why != "" {
			fmt.Fprintf(file, ": %s", r.Why)
		}
		fmt.Fprintf(file, "\n%s", r.Details)
		if err := file.Close(); err != nil {
			r.Verdict, r.Why = verdict.Infra, "its log cannot be written: "+inert.Line(err.Error(), maxWhy)
		}
	}
	return r
}

// guarded runs a gate and makes a result of a panic: nothing was judged then,
// and it is our fault, not the round's.
func guarded(ctx context.Context, s *Subject, g Gate) (r Result) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(s.Log, "panic: %v\n%s\n", p, debug.Stack())
			r = Result{Verdict: verdict.Infra, Why: fmt.Sprintf("the gate %s has a mistake (%v): its log says where; report it", g.Name, p)}
		}
	}()
	r = g.Run(ctx, s)
	if r.Verdict == "" {
		r = Result{Verdict: verdict.Infra, Why: "the gate " + g.Name + " has a mistake: it came to no verdict"}
	}
	if ctx.Err() != nil && r.Verdict != verdict.Pass {
		r.Verdict, r.Why = verdict.Infra, "it was ended: "+ctx.Err().Error()
	}
	return r
}

// tidy bounds what goes on into ledgers, pages and proposals.
func (r *Result) tidy() {
	r.Why = inert.Line(r.Why, maxWhy)
	if len(r.Details) > maxDetails {
		at := maxDetails
		if i := strings.LastIndexByte(r.Details[:at], '\n'); i > 0 {
			at = i + 1
		}
		r.Details = strings.ToValidUTF8(r.Details[:at], "") + "… the rest is in the log\n"
	}
}
