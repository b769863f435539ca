// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

// shown is a clean Page in the words in which people read it.
type shown struct {
	Title, When, Stamp, Night, Mode string
	Sums                            []sum
	Notes                           []string
	Alarms                          []shownAlarm
	Rows                            []row
	Strip, StripWidth               int
	First, Last                     string // days
}

type sum struct {
	Verdict verdict.Verdict
	Count   int
	Word    string
}

type shownAlarm struct{ ID, Name, Text, Since, Stamp, Why string }

type row struct {
	ID, Name         string
	Alarm            string // since when
	Members          []shownMember
	Verdict          verdict.Verdict
	Word, State, Why string
	Strip            []shownNight
	StripText        string
	Stories          []story
	NotPassed        int // nights
	Proposal         *Proposal
}

type shownMember struct{ Pin, Version, Commit, Age, Newest, Behind string }

type shownNight struct {
	Verdict verdict.Verdict
	X       int
	Text    string
}

// A story is nights in a row that ended alike, and not well.
type story struct {
	When    string
	Verdict verdict.Verdict
	Why     string
	Nights  int
}

const (
	dayLayout  = "2 Jan"
	whenLayout = "Monday 2 January 2006, 15:04 UTC"
	stamp      = time.RFC3339
)

// unknownState is said first where the state branch could not be read.
const unknownState = "What earlier nights remembered could not be read: empty strips and missing alarms mean nothing here."

func view(p *Page) *shown {
	last := day(p.Made)
	v := &shown{
		Title: p.Title, When: p.Made.Format(whenLayout), Stamp: p.Made.Format(stamp), Night: p.Night, Mode: modeWords(p.Mode),
		Notes: p.Notes, Strip: Strip, StripWidth: 12 * Strip,
		First: last.AddDate(0, 0, 1-Strip).Format(dayLayout), Last: last.Format(dayLayout),
	}
	if !p.StateKnown {
		v.Notes = append([]string{unknownState}, v.Notes...)
	}
	counts := map[verdict.Verdict]int{}
	for i := range p.Groups {
		g := &p.Groups[i]
		r := g.row(i, p.Made)
		if g.Alarm != nil {
			v.Alarms = append(v.Alarms, shownAlarm{r.ID, g.Name, g.Alarm.Text, g.Alarm.Since.Format(dayLayout), g.Alarm.Since.Format(stamp), g.Why})
		}
		counts[r.Verdict]++
		v.Rows = append(v.Rows, r)
	}
	for _, verd := range append(verdict.All(), none) {
		if n := counts[verd]; n > 0 {
			v.Sums = append(v.Sums, sum{verd, n, word(verd)})
		}
	}
	return v
}

func modeWords(m round.Mode) string {
	switch m {
	case round.DryRun:
		return "dry run: nothing but the cache was touched"
	case round.Live:
		return "live"
	case round.Stopped:
		return "stopped: nothing is begun"
	}
	return string(m)
}

// word is how a verdict is written; none is that of a group.
func word(v verdict.Verdict) string {
	if v == none {
		return "not tried"
	}
	return string(v)
}

func (g *Group) row(i int, made time.Time) row {
	r := row{
		ID: anchor(g.Name, i), Name: g.Name, Verdict: g.Verdict,
		State: g.State, Why: g.Why, Proposal: g.Proposal, Stories: stories(g.Nights),
	}
	if g.Alarm != nil {
		r.Alarm = g.Alarm.Since.Format(dayLayout)
	}
	if r.Verdict == "" {
		r.Verdict = none
	}
	r.Word = word(r.Verdict)
	for _, m := range g.Members {
		r.Members = append(r.Members, m.shown(made, len(g.Members) == 1 && m.Pin == g.Name))
	}
	byDay := map[time.Time]Night{}
	for _, n := range g.Nights {
		byDay[day(n.Date)] = n
	}
	for x := range Strip {
		d := day(made).AddDate(0, 0, x+1-Strip)
		s := shownNight{Verdict: none, X: 12 * x, Text: d.Format(dayLayout) + ": no run"}
		if n, ok := byDay[d]; ok {
			s.Verdict, s.Text = n.Verdict, strings.Join(nonEmpty(d.Format(dayLayout), string(n.Verdict), n.Why), ": ")
		}
		r.Strip = append(r.Strip, s)
	}
	for _, s := range r.Stories {
		r.NotPassed += s.Nights
	}
	r.StripText = stripText(r.Strip)
	return r
}

var plainName = regexp.MustCompile(`^[a-z0-9-]+$`)

// anchor returns the id of a row: links to a group keep their meaning as long
// as it is called so.
func anchor(name string, i int) string {
	if plainName.MatchString(name) {
		return "group-" + name
	}
	return fmt.Sprintf("row-%d", i+1)
}

// shown says where a member stands; alone: the group is called as it is.
func (m *Member) shown(made time.Time, alone bool) shownMember {
	s := shownMember{Pin: m.Pin, Version: m.Version, Commit: short(m.Commit)}
	if alone {
		s.Pin = ""
	}
	if s.Version == s.Commit || m.Version == m.Commit {
		s.Version = ""
	}
	if m.Version == "" && m.Commit == "" {
		s.Age = "not locked yet"
	}
	switch {
	case !m.Seen.IsZero():
		s.Age = "first seen " + ago(made.Sub(m.Seen))
	case !m.Dated.IsZero():
		s.Age = "dated " + m.Dated.Format("2 Jan 2006") + " by its authors"
	}
	switch {
	case m.UpToDate:
		s.Age = strings.Join(nonEmpty("newest", s.Age), ", ")
	case m.Newest != "":
		s.Newest = short(m.Newest)
		s.Behind = strings.Join(nonEmpty(behind(m.Behind), seen(made, m.NewestSeen)), ", ")
	}
	return s
}

func behind(words string) string {
	if words == "" {
		return ""
	}
	return words + " behind"
}

func seen(made, at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return "seen " + ago(made.Sub(at))
}

// short cuts what is a full commit or digest to 12 digits; names stay.
func short(s string) string {
	digits := strings.TrimPrefix(s, "sha256:")
	if (len(digits) == 40 || len(digits) == 64) && strings.Trim(digits, "0123456789abcdef") == "" {
		return digits[:12]
	}
	return s
}

// stripText says a strip in words, the exceptions by day.
func stripText(strip []shownNight) string {
	counts := map[verdict.Verdict]int{}
	for _, n := range strip {
		counts[n.Verdict]++
	}
	var parts []string
	for _, m := range marks {
		if n := counts[m.Verdict]; n > 0 && m.Verdict != none {
			parts = append(parts, fmt.Sprintf("%d %s", n, m.Verdict))
		}
	}
	if n := counts[none]; n > 0 {
		parts = append(parts, fmt.Sprintf("%d without a run", n))
	}
	return fmt.Sprintf("%d nights: %s. The last night, %s.", len(strip), strings.Join(parts, ", "), strip[len(strip)-1].Text)
}

// stories tells the nights that did not pass, the last first.
func stories(nights []Night) []story {
	var list []story
	for i := 0; i < len(nights); {
		n, j := nights[i], i+1
		for j < len(nights) && nights[j].Verdict == n.Verdict && nights[j].Why == n.Why && day(nights[j].Date).Equal(day(nights[j-1].Date).AddDate(0, 0, 1)) {
			j++
		}
		if n.Verdict != verdict.Pass {
			when := n.Date.Format(dayLayout)
			if j > i+1 {
				when += " to " + nights[j-1].Date.Format(dayLayout)
			}
			list = append([]story{{when, n.Verdict, n.Why, j - i}}, list...)
		}
		i = j
	}
	return list
}

func nonEmpty(list ...string) []string {
	var out []string
	for _, s := range list {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}
