// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/clock"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

// years is a branch of three years with 20 groups of two pins: each night a
// sighting and an end with ten gates, every third one a try and a proposal too.
func years(b *testing.B) (*gittest.Repo, int64) {
	b.Helper()
	files := gittest.Files{}
	total := int64(0)
	for g := range 20 {
		group := fmt.Sprintf("group-%d", g)
		months := map[string]*bytes.Buffer{}
		for d := range 3 * 365 {
			night := fmt.Sprintf("%s-01ab", day(d).Format("2006-01-02"))
			id := func(n int) string { return fmt.Sprintf("%040x", n+1) }
			e := sightOf(group, [3]string{group + "-a", id(d - 1), id(d)}, [3]string{group + "-b", id(d / 2), id(d/2 + 1)})
			events := []Event{e}
			end := ended(night, verdict.Held)
			end.Why = "the newest version is too young: it was first seen 3 hours ago, and 24 hours are asked for"
			if d%3 == 0 {
				p := proposed(d, commit1)
				p.RoundID = roundID(d)
				r := &round.Round{Schema: 1, ID: roundID(d), Group: group, Night: night, Mode: round.Live, At: day(d), Try: 1, Base: commit1,
					Members: []round.Member{{Pin: group + "-a", Stack: group, From: v(id(d)), To: v(id(d + 1)), Ours: id(d), Seen: day(d)}}}
				events = append(events, Event{Kind: Claimed, Owner: "0123456789abcdef"}, Event{Kind: Began, RoundID: r.ID, Try: 1, Round: r}, p)
				for i := range 10 {
					end.Gates = append(end.Gates, Gate{Name: fmt.Sprintf("gate-%d", i), Verdict: verdict.Pass, Seconds: 12.5})
				}
			}
			for _, e := range append(events, end) {
				e.Group, e.Night, e.At = group, night, day(d, time.Hour)
				line, err := encode(e)
				if err != nil {
					b.Fatal(err)
				}
				m := monthOf(e.At)
				if months[m] == nil {
					months[m] = &bytes.Buffer{}
				}
				months[m].Write(line)
				total += int64(len(line))
			}
		}
		for name, text := range months {
			files[path(group, name)] = strings.TrimSuffix(text.String(), "\n")
		}
	}
	r := gittest.New(b)
	r.Commit(Branch, "years", files)
	return r, total
}

func benchLedger(b *testing.B) (*Ledger, int64) {
	remote, size := years(b)
	ledger := &Ledger{o: Options{Repo: remote.Repo, Mode: round.Live, Clock: clock.Fixed(day(1200))}, said: map[string]bool{}}
	head, err := remote.RevParse(b.Context(), Branch)
	if err != nil {
		b.Fatal(err)
	}
	ledger.setHead(head)
	return ledger, size
}

// BenchmarkMemories folds everything: what 'dist nightly status' and a night
// read at their beginning.
func BenchmarkMemories(b *testing.B) {
	l, size := benchLedger(b)
	b.SetBytes(size)
	for b.Loop() {
		all, err := l.Memories(b.Context())
		if err != nil || len(all) != 20 || len(l.Notes()) != 0 {
			b.Fatal(len(all), err, l.Notes())
		}
	}
}

// BenchmarkMemory folds one group.
func BenchmarkMemory(b *testing.B) {
	l, size := benchLedger(b)
	b.SetBytes(size / 20)
	for b.Loop() {
		if m, err := l.Memory(b.Context(), "group-7"); err != nil || m.Events == 0 {
			b.Fatal(m, err)
		}
	}
}
