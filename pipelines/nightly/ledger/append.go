// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

const (
	maxAttempts = 40 // to be the fastest
	maxBroken   = 3  // of them may fail for the network
	maxEvents   = 1000
)

// Append adds events of any groups, in one commit. An event without a time has
// the present one; times are kept to the second.
//
// When another run was faster, it is read again and added again. Events that
// are there already, because an answer got lost, are not added twice.
//
// Errors: an event that could not be read again is refused before anything is
// written; a usage error when pushing is not allowed; infra when the remote
// cannot be reached, or others were always faster.
func (l *Ledger) Append(ctx context.Context, events ...Event) error {
	return l.AppendIf(ctx, "", nil, events...)
}

// AppendIf is Append that asks check, before each attempt, about the group's
// memory as it is at the remote. Its error ends the attempts and is returned as
// it is. A nil check has nothing against it.
func (l *Ledger) AppendIf(ctx context.Context, group string, check func(*Memory) error, events ...Event) error {
	lines, err := l.encode(events)
	if err != nil || len(lines) == 0 {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch l.o.Mode {
	case round.Stopped:
		return verdict.Heldf("the nightly job is stopped: nothing is written down")
	case round.DryRun:
		err = l.appendOverlay(ctx, group, check, lines)
	default:
		err = l.push(ctx, describe(lines), func(s *stage) error {
			if s.has(lines) {
				return errThere
			}
			if check != nil {
				m, err := l.memory(s.reader, l.head, group)
				if err != nil {
					return err
				}
				if err := check(m); err != nil {
					return &decided{err}
				}
			}
			return s.add(lines)
		})
	}
	if err != nil {
		return err
	}
	for _, e := range events {
		if h := l.claimed[e.Group]; e.Kind == Ended && h != nil && h.night == e.Night {
			l.release(e.Group)
		}
	}
	return nil
}

// A written event is one that is ready to be added.
type written struct {
	Event
	line []byte
}

func (l *Ledger) encode(events []Event) ([]written, error) {
	if len(events) > maxEvents {
		return nil, fmt.Errorf("%d events at once are too many", len(events))
	}
	var lines []written
	for _, e := range events {
		if e.At.IsZero() {
			e.At = l.o.Clock()
		}
		line, err := encode(e)
		if err != nil {
			return nil, fmt.Errorf("an event of the kind %s cannot be written: %w", quote(string(e.Kind)), err)
		}
		e.At = e.At.UTC().Truncate(time.Second)
		lines = append(lines, written{e, line})
	}
	return lines, nil
}

// decided is what a check said.
type decided struct{ error }

// errThere says that there is nothing to add.
var errThere = errors.New("all of it is there")

// push tries to be the one who moves the branch. fill changes the stage, which
// is always made anew from what the remote has.
func (l *Ledger) push(ctx context.Context, message string, fill func(*stage) error) error {
	broken := 0
	fresh := false // what we have is what the remote has just said
	var err error
	for attempt := range maxAttempts {
		if attempt > 0 {
			if e := pause(ctx, attempt); e != nil {
				return e
			}
			// An answer may have got lost: only the remote knows.
			if err = l.refresh(ctx); err != nil {
				if broken++; broken >= maxBroken || verdict.Of(err) != verdict.Infra {
					return err
				}
				continue
			}
			fresh = true
		}
		var commit git.ID
		if commit, err = l.stage(ctx, message, fill); err != nil {
			var no *decided
			switch {
			case errors.Is(err, errThere):
				return nil
			case errors.As(err, &no) && !fresh:
				continue // it may have been true a while ago only
			case no != nil:
				return no.error
			}
			return err
		}
		limited, cancel := context.WithTimeout(ctx, askLimit)
		err = l.o.Repo.Push(limited, l.o.Remote, git.PushRef{Ref: remoteRef, ID: commit, Expect: l.head})
		cancel()
		var moved *git.RefMoved
		switch {
		case err == nil:
			l.setHead(commit)
			if err := l.setLocal(ctx, commit); err != nil {
				// It is written down, and the next look at the remote mends this.
				l.note("this clone's %s is behind: %v", LocalRef, err)
			}
			return nil
		case errors.As(err, &moved):
		default:
			if err = l.unpushable(err); verdict.ExitCode(err) == verdict.ExitUsage {
				return err
			}
			if broken++; broken >= maxBroken || ctx.Err() != nil {
				return err
			}
		}
	}
	return verdict.Infraf("the branch %s at %s: other runs were faster %d times: try again later: %w", Branch, l.where(), maxAttempts, err)
}

// pause waits a little longer each time, and never as long as another one.
func pause(ctx context.Context, attempt int) error {
	longest := 25 * time.Millisecond << min(attempt, 6)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(rand.N(longest)):
		return nil
	}
}

// passing is what a host says when it is not well.
var passing = regexp.MustCompile(`(?i)server error|timed? ?out|unavailable|try again`)

// unpushable sorts out why a push failed: what the remote refuses is for the
// user to mend.
func (l *Ledger) unpushable(err error) error {
	var refused *git.PushRefused
	var auth *git.AuthRequired
	var none *git.NotFound
	switch {
	case errors.As(err, &refused) && passing.MatchString(refused.Why):
	case errors.As(err, &refused), errors.As(err, &auth),
		// A host does not say of a repository that it may be read only.
		errors.As(err, &none) && strings.HasPrefix(l.o.Remote.URL, "http"):
		mend := "use a credential that may"
		if l.o.TokenEnv != "" {
			mend = "give a token that may in " + l.o.TokenEnv
		}
		return verdict.Usagef("the branch %s cannot be pushed (%v): %s, or name another place with --state-remote", Branch, err, mend)
	}
	return verdict.Infraf("the branch %s cannot be pushed: %w", Branch, err)
}
