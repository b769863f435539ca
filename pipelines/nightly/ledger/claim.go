// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/1bit-MONSTER/engine/internal/filelock"
	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

// wrongClock is how far in the future a claim may be dated.
const wrongClock = time.Hour

// Taken says that somebody else works on a group.
type Taken struct {
	Group string
	Here  bool // by another process of this machine, with the same cache
	// Claim is what is known about it, zero where nothing is.
	Claim Claim
	Until time.Time // when the claim no longer counts; zero where Here
}

func (e *Taken) Error() string {
	since := ""
	if !e.Claim.At.IsZero() {
		since = fmt.Sprintf(" since %s, in the night %s", e.Claim.At.Format(time.RFC3339), inert.Line(e.Claim.Night, 100))
	}
	if e.Here {
		return fmt.Sprintf("another run on this machine works on %s%s: wait until it ends", e.Group, since)
	}
	return fmt.Sprintf("another machine works on %s%s: wait until it ends, or until %s, when its claim no longer counts",
		e.Group, since, e.Until.Format(time.RFC3339))
}

// Verdict is Held.
func (e *Taken) Verdict() verdict.Verdict { return verdict.Held }

// held is the lock behind a claim of this run.
type held struct {
	lock  *filelock.Lock
	night string
}

// Claim says that this run works on a group, until it has Ended or the ledger
// is closed. The error is a *Taken when somebody else does.
//
// An open claim of another machine counts until its lease is over. One of this
// machine's cache counts as long as its process lives, which a lock shows: what
// a killed run left is taken over at once. A claim that is dated in the future
// does not count.
func (l *Ledger) Claim(ctx context.Context, group, night string) error {
	if !nameRE.MatchString(group) {
		return fmt.Errorf("%s is no name of a group", quote(group))
	}
	if l.o.Mode == round.Stopped {
		return verdict.Heldf("the nightly job is stopped: nothing is begun")
	}
	owner, err := l.owner(ctx)
	if err != nil {
		return err
	}
	fresh, err := l.lockGroup(ctx, group, night)
	if err != nil {
		return err
	}
	err = l.AppendIf(ctx, group, func(m *Memory) error {
		return l.mayClaim(m, owner)
	}, Event{Kind: Claimed, Group: group, Night: night, Owner: owner})
	if err != nil && fresh {
		l.mu.Lock()
		l.release(group)
		l.mu.Unlock()
	}
	return err
}

// mayClaim decides about the claim that is there.
func (l *Ledger) mayClaim(m *Memory, owner string) error {
	if l.o.Mode == round.DryRun {
		// It changes nothing that others work on, so that only dry runs with
		// this cache are in each other's way; and they are dead, see lockGroup.
		return nil
	}
	c, now := m.Claim, l.o.Clock()
	switch {
	case c == nil, c.Owner == owner:
		return nil
	case c.dated.Sub(now) > wrongClock:
		l.note("the claim of another machine on %s is dated %s, which is not yet: it does not count", m.Group, c.dated.Format(time.RFC3339))
		return nil
	case now.Sub(c.At) >= l.o.Lease:
		l.note("the claim of another machine on %s, made %s in the night %s, never ended: it is taken over", m.Group, c.At.Format(time.RFC3339), c.Night)
		return nil
	}
	return &Taken{Group: m.Group, Claim: *c, Until: c.At.Add(l.o.Lease)}
}

// lockGroup takes the lock that shows that this process lives. fresh is false
// when this run has it already, for the same night.
func (l *Ledger) lockGroup(ctx context.Context, group, night string) (fresh bool, err error) {
	l.mu.Lock()
	h := l.claimed[group]
	l.mu.Unlock()
	if h != nil {
		if h.night == night {
			return false, nil
		}
		return false, &Taken{Group: group, Here: true, Claim: Claim{Night: h.night}}
	}
	if err := os.MkdirAll(l.dir("claims"), 0o777); err != nil {
		return false, err
	}
	lock, err := filelock.Try(l.dir("claims", group+".lock"))
	if err != nil {
		return false, err
	}
	if lock == nil {
		taken := &Taken{Group: group, Here: true}
		if m, err := l.Memory(ctx, group); err == nil && m.Claim != nil {
			taken.Claim = *m.Claim
		}
		return false, taken
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.claimed[group] = &held{lock, night}
	return true, nil
}

// release gives a group's lock back. l.mu is held.
func (l *Ledger) release(group string) {
	if h := l.claimed[group]; h != nil {
		h.lock.Unlock()
		delete(l.claimed, group)
	}
}
