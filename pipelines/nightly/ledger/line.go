// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"
	"unicode/utf8"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/inert"
)

// What is on the branch may be written by anybody who could push there, so that
// everything about it has a limit.
const (
	maxLine    = 256 << 10 // bytes
	maxMembers = 500
)

var (
	nameRE   = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)            // as pins and groups are named
	nightRE  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:+-]{0,99}$`) // ids of runs
	idRE     = regexp.MustCompile(`^[0-9a-f]{16}$`)                      // ids of rounds; see round.Round.Identify
	monthRE  = regexp.MustCompile(`^[0-9]{4}-(0[1-9]|1[0-2])\.jsonl$`)   // names of files
	ownerRE  = regexp.MustCompile(`^[0-9a-f]{16}$`)                      // see owner
	digestRE = regexp.MustCompile(`^[0-9a-f]{64}$`)
	earliest = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)                 // nothing here is older
	latest   = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)                 // a file's name has four digits for the year
	errKind  = errors.New("its kind is not known to this version of dist") // read by a newer one, perhaps
)

// check says what is wrong with an event. What passes on one machine passes on
// all: nothing is written that is not read again.
func (e *Event) check() error {
	switch {
	case !nameRE.MatchString(e.Group) || len(e.Group) > 100:
		return fmt.Errorf("%s is no name of a group", quote(e.Group))
	case !nightRE.MatchString(e.Night) && e.Kind != Retry && e.Kind != Done:
		return fmt.Errorf("%s is no id of a night", quote(e.Night))
	case e.At.Before(earliest) || !e.At.Before(latest):
		return fmt.Errorf("its time %s cannot be", e.At.Format(time.RFC3339))
	case e.RoundID != "" && !idRE.MatchString(e.RoundID):
		return fmt.Errorf("%s is no id of a round", quote(e.RoundID))
	case e.Try < 0:
		return fmt.Errorf("%d is no number of a try", e.Try)
	}
	switch e.Kind {
	case Sighted:
		return e.checkMembers()
	case Claimed:
		if !ownerRE.MatchString(e.Owner) {
			return fmt.Errorf("%s is no id of an owner", quote(e.Owner))
		}
	case Began:
		if e.RoundID == "" {
			return errors.New("a try needs its round's id")
		}
		if r := e.Round; r != nil && (r.ID != e.RoundID || r.Group != e.Group) {
			return errors.New("its round has another id or group than itself")
		}
	case Ended:
		if !e.Verdict.Known() {
			return fmt.Errorf("%s is no verdict", quote(string(e.Verdict)))
		}
		for _, g := range e.Gates {
			if g.Name == "" || !g.Verdict.Known() {
				return fmt.Errorf("the gate %s has no name or no verdict", quote(g.Name))
			}
		}
	case Handed:
		if e.RoundID == "" || !digestRE.MatchString(e.Digest) {
			return errors.New("what was handed on needs its round's id and a sha256")
		}
	case Pushing, Proposed, Done:
		if e.Commit != "" {
			if _, err := git.ParseID(e.Commit); err != nil {
				return err
			}
		}
		if e.Kind != Done && (e.Commit == "" || git.CheckRefName("refs/heads/"+e.Branch) != nil) {
			return errors.New("a proposal needs a commit and a branch")
		}
	case Retry:
	default:
		return errKind
	}
	return nil
}

func (e *Event) checkMembers() error {
	if len(e.Members) == 0 || len(e.Members) > maxMembers {
		return fmt.Errorf("a sighting of %d members", len(e.Members))
	}
	seen := map[string]bool{}
	for _, s := range e.Members {
		if !nameRE.MatchString(s.Pin) || seen[s.Pin] {
			return fmt.Errorf("%s is no name of a pin, or is there twice", quote(s.Pin))
		}
		if s.Newest.ID == "" {
			return fmt.Errorf("the member %s has no newest version", s.Pin)
		}
		seen[s.Pin] = true
	}
	return nil
}

// encode returns the event as a line, line end included. Its keys are always in
// the same order, and what a terminal would act on or not show is escaped, so
// that people can read the file as it is.
func encode(e Event) ([]byte, error) {
	e.At = e.At.UTC().Truncate(time.Second)
	if e.Round != nil {
		e.Round = e.Round.Bare()
	}
	if err := e.check(); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return nil, err
	}
	line := visible(b.Bytes())
	if len(line) > maxLine {
		return nil, fmt.Errorf("it has %d bytes, more than the %d that are read", len(line), maxLine)
	}
	return line, nil
}

// visible escapes invisible characters. In JSON they occur in strings only.
func visible(line []byte) []byte {
	out := make([]byte, 0, len(line))
	for i := 0; i < len(line); {
		r, n := utf8.DecodeRune(line[i:])
		if r >= utf8.RuneSelf && inert.Invisible(r) {
			if r > 0xffff {
				r -= 0x10000
				out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
			} else {
				out = fmt.Appendf(out, `\u%04x`, r)
			}
		} else {
			out = append(out, line[i:i+n]...)
		}
		i += n
	}
	return out
}

// decode reads a line of a group's file. Fields that it does not know are left
// out.
func decode(line []byte, group string) (Event, error) {
	var e Event
	if len(line) > maxLine {
		return e, fmt.Errorf("it has more than %d bytes", maxLine)
	}
	if err := json.Unmarshal(line, &e); err != nil {
		return e, fmt.Errorf("it is no event: %w", err)
	}
	if err := e.check(); err != nil {
		return e, err
	}
	if e.Group != group {
		return e, fmt.Errorf("it is of the group %s", e.Group)
	}
	e.At = e.At.UTC()
	if e.Round != nil {
		e.Round = e.Round.Bare() // nothing else is ever written
	}
	return e, nil
}

func quote(s string) string { return inert.Quote(s, 80) }
