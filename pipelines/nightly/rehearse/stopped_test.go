// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package rehearse

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/nightly"
)

// Whoever stops runs, however often and wherever, has said nothing against the
// round: the next run goes on.
func TestStoppedRunIsNoTry(t *testing.T) {
	t.Parallel()
	w := small(t)
	w.must(t, "hello", Files{"main.go": helloMain("one")})
	for _, at := range []nightly.State{nightly.Fetch, nightly.Archive, nightly.Rebase, nightly.Gates, nightly.Gates, nightly.Commit} {
		ctx, stop := context.WithCancel(t.Context())
		o, err := w.Night(t.Context(), filepath.Join(t.TempDir(), "clone"))
		if err != nil {
			t.Fatal(err)
		}
		o.Groups = []string{"hello"}
		o.After = func(_ string, x nightly.Transition) {
			if x.To == at {
				stop()
			}
		}
		if _, err := run(ctx, o); !errors.Is(err, context.Canceled) {
			t.Fatalf("stopped at %q: %v", at, err)
		}
		stop()
		m := w.memory(t, "hello")
		if e := m.LastEnded(); e == nil || e.Verdict != verdict.Infra || m.Claim != nil || m.Handed != nil {
			t.Errorf("stopped at %q: the state branch says %+v, claim %+v, handed %+v", at, e, m.Claim, m.Handed)
		}
	}
	w.mustNight(t, []string{"hello: pass, wait"}, only("hello"))
}

// A run that is killed before gates ran is no try either.
func TestKilledBeforeGatesIsNoTry(t *testing.T) {
	t.Parallel()
	w := small(t)
	w.must(t, "hello", Files{"main.go": helloMain("one")})
	for range 4 {
		w.kill(t, "hello", 6) // on its way to fetch
	}
	r := w.mustNight(t, []string{"hello: pass, wait"}, only("hello"))
	if r.Groups[0].Try != 1 {
		t.Errorf("it was try %d", r.Groups[0].Try)
	}
}
