// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/clock"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

// Two machines, or two runs on one: exactly one works.
func TestTwoAtOnce(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		name string
		same bool // one cache, one clone
	}{{"two machines", false}, {"one machine", true}} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			a, b := w.options(day(1)), w.options(day(1))
			if x.same {
				b = a
			}
			ledgers := []*Ledger{open(t, a), open(t, b)}
			errs := make([]error, 2)
			var wg sync.WaitGroup
			for i, l := range ledgers {
				wg.Go(func() { errs[i] = l.Claim(t.Context(), zinc, fmt.Sprintf("night-%d", i)) })
			}
			wg.Wait()
			if (errs[0] == nil) == (errs[1] == nil) {
				t.Fatalf("both or none: %v, %v", errs[0], errs[1])
			}
			winner, loser := ledgers[0], ledgers[1]
			night, lost := "night-0", errs[1]
			if errs[0] != nil {
				winner, loser, night, lost = loser, winner, "night-1", errs[0]
			}
			wantVerdict(t, lost, verdict.Held, "works on zinc")
			var taken *Taken
			if !errors.As(lost, &taken) || taken.Here != x.same || !x.same && (taken.Claim.Night != night || !taken.Until.Equal(day(1, DefaultLease))) {
				t.Errorf("taken %+v", taken)
			}
			if n := strings.Count(w.file("events/zinc/2026-10.jsonl"), "claimed"); n != 1 {
				t.Errorf("%d claims were written", n)
			}
			// Other groups are not touched by it.
			if err := loser.Claim(t.Context(), "zig", "night-9"); err != nil {
				t.Error(err)
			}
			if err := winner.Claim(t.Context(), zinc, night); err != nil {
				t.Errorf("again, the same night: %v", err)
			}
			if err := winner.Claim(t.Context(), zinc, "another"); verdict.Of(err) != verdict.Held {
				t.Errorf("again, another night: %v", err)
			}
			w.add(winner, ended(night, verdict.Pass))
			if err := loser.Claim(t.Context(), zinc, "night-2"); err != nil {
				t.Errorf("after the end: %v", err)
			}
		})
	}
}

func TestClaimOfTheDead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := w.options(day(1))
	o.Lease = 6 * time.Hour
	dead := open(t, o)
	if err := dead.Claim(t.Context(), zinc, "dead"); err != nil {
		t.Fatal(err)
	}
	dead.Close() // as when its process ends

	other := w.options(day(1, 5*time.Hour))
	other.Lease = o.Lease
	err := open(t, other).Claim(t.Context(), zinc, "other")
	wantVerdict(t, err, verdict.Held, "another machine works on zinc since 2026-10-02T00:00:00Z, in the night dead", "until 2026-10-02T06:00:00Z")

	// The same cache knows that nobody lives.
	if err := open(t, o).Claim(t.Context(), zinc, "again"); err != nil {
		t.Fatal(err)
	}
	other.Clock = clock.Fixed(day(1, 6*time.Hour))
	l := open(t, other)
	if err := l.Claim(t.Context(), zinc, "other"); err != nil {
		t.Fatal(err)
	}
	wantNote(t, l, "in the night again, never ended: it is taken over")
	if m := w.memory(l, zinc); m.Claim == nil || m.Claim.Night != "other" || len(m.Nights) != 3 || m.Nights[0].Ended {
		t.Errorf("%+v", m)
	}
	if verdict.Of(open(t, o).Claim(t.Context(), zinc, "x")) != verdict.Held {
		t.Error("the lost claim was taken back")
	}
}

// A machine whose clock is years ahead dies; its claim must not last for years.
func TestClaimFromTheFuture(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := open(t, w.options(day(3000))).Claim(t.Context(), zinc, "future"); err != nil {
		t.Fatal(err)
	}
	l := open(t, w.options(day(1)))
	if err := l.Claim(t.Context(), zinc, "now"); err != nil {
		t.Fatal(err)
	}
	wantNote(t, l, "which is not yet")
	if verdict.Of(open(t, w.options(day(1))).Claim(t.Context(), zinc, "x")) != verdict.Held {
		t.Error("the right claim does not count")
	}
}

func TestOwner(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := w.options(day(1))
	a, err := open(t, o).owner(t.Context())
	if err != nil || !ownerRE.MatchString(a) {
		t.Fatal(a, err)
	}
	if b, err := open(t, o).owner(t.Context()); err != nil || a != b {
		t.Errorf("another run is %s, %v", b, err)
	}
	for _, change := range []func(){func() { o.Mode = round.DryRun }, func() { o.Mode, o.CacheDir = round.Live, t.TempDir() }} {
		change()
		if b, err := open(t, o).owner(t.Context()); err != nil || a == b {
			t.Errorf("with another cache it is %s, %v", b, err)
		}
	}
	host, _ := os.Hostname()
	if host != "" && strings.Contains(a, host) {
		t.Error("the owner names the machine")
	}
}
