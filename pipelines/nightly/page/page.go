// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package page shows how every group of pins stands: as one static HTML file,
// as Markdown for the summary of a workflow's step, and as JSON. It is for
// everybody who wants to know in half a minute whether the nights are well.
//
// It is told everything in a Page and asks nothing: no clock, no file, no
// network. The same Page gives the same bytes. The HTML file needs no script
// and loads nothing, which its own content security policy enforces.
//
// All text in a Page may come from others; it is made inert here. Limits: only
// the last 30 nights are shown, and long sentences are cut.
package page

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

// Schema is the version of what JSON writes.
const Schema = 1

// Strip is how many nights the page shows.
const Strip = 30

// How long texts may be, in runes.
const (
	maxName     = 80
	maxSentence = 400
	maxMembers  = 100
)

// A Page is how all groups stood at one moment.
type Page struct {
	Title string     `json:"title"`
	Made  time.Time  `json:"made"` // the end of the last night; ages count to here
	Night string     `json:"night,omitempty"`
	Mode  round.Mode `json:"mode"`
	// StateKnown is false where what earlier nights remembered could not be
	// read: the page then says so instead of showing empty strips as truth.
	StateKnown bool     `json:"state-known"`
	Notes      []string `json:"notes,omitempty"` // sentences about the night as a whole
	Groups     []Group  `json:"groups"`
}

// A Group is one row.
type Group struct {
	Name    string          `json:"name"`
	Members []Member        `json:"members"`
	Verdict verdict.Verdict `json:"verdict,omitempty"` // of the last run; empty: it was never tried
	State   string          `json:"state,omitempty"`   // where it stands, in the state machine's words
	Why     string          `json:"why,omitempty"`     // what holds it, one sentence
	Alarm   *Alarm          `json:"alarm,omitempty"`
	// Nights are the verdicts of earlier runs and this one, in any order. Of
	// several on one day (UTC) the last one given counts. A day without one is
	// a gap: nothing ran.
	Nights   []Night   `json:"nights"`
	Proposal *Proposal `json:"proposal,omitempty"`
}

// A Member is one pin of a group.
type Member struct {
	Pin     string `json:"pin"`
	Version string `json:"version,omitempty"` // as the upstream names what we use
	Commit  string `json:"commit,omitempty"`  // or digest; the page shows 12 digits
	// Seen is when we first saw that exact version. Zero: no night remembers,
	// and Dated, the date in the lock, is shown as what it is, the upstream's
	// word.
	Seen  time.Time `json:"seen,omitzero"`
	Dated time.Time `json:"dated,omitzero"`
	// UpToDate: Version is the newest that the track finds. Otherwise Newest is
	// its name or commit; empty: nobody knows.
	UpToDate bool   `json:"up-to-date"`
	Newest   string `json:"newest,omitempty"`
	// NewestSeen is when we first saw the newest.
	NewestSeen time.Time `json:"newest-seen,omitzero"`
	Behind     string    `json:"behind,omitempty"` // in words: 42 commits
}

// A Night is how one run ended for a group.
type Night struct {
	Date    time.Time       `json:"date"`
	Verdict verdict.Verdict `json:"verdict"`
	Why     string          `json:"why,omitempty"`
}

// A Proposal waits for a person.
type Proposal struct {
	Branch string `json:"branch"`
	Title  string `json:"title"`
	Draft  bool   `json:"draft"`
	URL    string `json:"url,omitempty"` // https; others are not shown as a link
}

// clean returns the page with all text inert, what needs attention first, and
// the nights that are shown, oldest first. The receiver stays as it is.
func (p *Page) clean() *Page {
	c := *p
	c.Title = name(cmp.Or(p.Title, "Nightly pins"))
	c.Made = p.Made.UTC().Truncate(time.Second)
	c.Night, c.Mode = name(p.Night), round.Mode(name(string(p.Mode)))
	c.Notes = each(p.Notes, sentence)
	c.Groups = each(p.Groups, func(g Group) Group { return g.clean(c.Made) })
	slices.SortStableFunc(c.Groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(a.urgency(), b.urgency()), strings.Compare(a.Name, b.Name))
	})
	return &c
}

func (g Group) clean(made time.Time) Group {
	g.Name, g.Verdict, g.State, g.Why = name(g.Name), known(g.Verdict), name(g.State), sentence(g.Why)
	if len(g.Members) > maxMembers {
		g.Members = g.Members[:maxMembers]
	}
	g.Members = each(g.Members, func(m Member) Member {
		m.Pin, m.Version, m.Commit = name(m.Pin), name(m.Version), name(m.Commit)
		m.Newest, m.Behind = name(m.Newest), name(m.Behind)
		m.Seen, m.Dated, m.NewestSeen = m.Seen.UTC(), m.Dated.UTC(), m.NewestSeen.UTC()
		return m
	})
	if g.Alarm != nil {
		g.Alarm = &Alarm{Since: g.Alarm.Since.UTC(), Text: sentence(g.Alarm.Text)}
	}
	if g.Proposal != nil {
		q := *g.Proposal
		q.Branch, q.Title, q.URL = name(q.Branch), sentence(q.Title), link(q.URL)
		g.Proposal = &q
	}
	g.Nights = lastNights(g.Nights, made)
	return g
}

// lastNights returns at most one night a day of the Strip days that end with
// the day of made, oldest first.
func lastNights(all []Night, made time.Time) []Night {
	last := day(made)
	first := last.AddDate(0, 0, 1-Strip)
	byDay := map[time.Time]Night{}
	for _, n := range all {
		d := day(n.Date)
		if d.Before(first) || d.After(last) {
			continue
		}
		byDay[d] = Night{Date: n.Date.UTC(), Verdict: known(n.Verdict), Why: sentence(n.Why)}
	}
	list := make([]Night, 0, len(byDay))
	for d := first; !d.After(last); d = d.AddDate(0, 0, 1) {
		if n, ok := byDay[d]; ok {
			list = append(list, n)
		}
	}
	return list
}

// urgency sorts groups: those with an alarm first, then as verdicts are summed
// up, then those that were never tried.
func (g *Group) urgency() int {
	if g.Alarm != nil {
		return -1
	}
	all := verdict.All()
	if i := slices.Index(all, g.Verdict); i >= 0 {
		return i
	}
	return len(all)
}

func day(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

func name(s string) string     { return inert.Line(s, maxName) }
func sentence(s string) string { return inert.Line(s, maxSentence) }

var plainURL = regexp.MustCompile(`^https://[A-Za-z0-9][A-Za-z0-9._:-]*/[A-Za-z0-9._~/%?=&#+,:-]*$`)

// link returns an https address that needs no second look, in HTML or in a cell
// of Markdown, or nothing.
func link(s string) string {
	if len(s) > 2000 || !plainURL.MatchString(s) {
		return ""
	}
	return s
}

// each returns what f makes of each element; never nil, so that JSON has [].
func each[T any](list []T, f func(T) T) []T {
	out := make([]T, len(list))
	for i, x := range list {
		out[i] = f(x)
	}
	return out
}
