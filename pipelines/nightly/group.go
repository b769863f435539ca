// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package nightly

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
)

// A Group is pins that move together: one of groups.yaml, or a pin that is in
// none, under its own name.
type Group struct {
	Name    string
	Members []*pins.Pin
	Every   pins.Every
	Split   bool // half of it may be proposed, as a draft
	order   int
}

// Groups returns what a night works on, in order. Pins that nothing follows
// (manual, or every: never) are left out, and groups that have only those.
func Groups(set *pins.Set) []Group {
	var list []Group
	in := map[string]bool{}
	for _, g := range set.Groups {
		group := Group{Name: g.Name, Every: g.Every, Split: g.Split == pins.SplitAllowed, order: g.Order}
		followed := false
		for _, name := range g.Members {
			in[name] = true
			p := set.Pin(name)
			group.Members = append(group.Members, p)
			followed = followed || follows(p)
		}
		if followed && g.Every != pins.EveryNever {
			list = append(list, group)
		}
	}
	for _, p := range set.Pins {
		if !in[p.Name] && follows(p) {
			list = append(list, Group{Name: p.Name, Members: []*pins.Pin{p}, order: 1 << 20})
		}
	}
	slices.SortStableFunc(list, func(a, b Group) int {
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.Name, b.Name))
	})
	return list
}

func follows(p *pins.Pin) bool {
	return p.Track.Kind != pins.Manual && p.Track.Every != pins.EveryNever
}

// groupsNamed picks groups by their names or by those of members; none are all.
func groupsNamed(all []Group, names []string) ([]Group, error) {
	if len(names) == 0 {
		return all, nil
	}
	var list []Group
	for _, name := range names {
		i := slices.IndexFunc(all, func(g Group) bool {
			return g.Name == name || slices.ContainsFunc(g.Members, func(p *pins.Pin) bool { return p.Name == name })
		})
		if i < 0 {
			return nil, verdict.Usagef("there is no group %q that a night works on: there are %s", name, strings.Join(groupNames(all), ", "))
		}
		if !slices.ContainsFunc(list, func(g Group) bool { return g.Name == all[i].Name }) {
			list = append(list, all[i])
		}
	}
	return list, nil
}

func groupNames(all []Group) []string {
	var names []string
	for _, g := range all {
		names = append(names, g.Name)
	}
	return names
}

// every is how long at least lies between two rounds: what the group says, else
// the longest that a member says.
func (g *Group) every() time.Duration {
	if g.Every != "" {
		return interval(g.Every)
	}
	var longest time.Duration
	for _, p := range g.Members {
		longest = max(longest, interval(p.Track.Every))
	}
	return longest
}

// interval is less than its name by some hours, since no night begins at
// exactly the same time as the one before.
func interval(e pins.Every) time.Duration {
	const day, grace = 24 * time.Hour, 6 * time.Hour
	switch e {
	case pins.EveryWeek:
		return 7*day - grace
	case pins.EveryMonth:
		return 28*day - grace
	}
	return 0 // as often as a night is run
}

// often is every, in a word.
func (g *Group) often() string {
	if g.every() > 7*24*time.Hour {
		return "month"
	}
	return "week"
}
