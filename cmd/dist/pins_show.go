// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/pins"
)

func newPinsShow() *cobra.Command {
	return &cobra.Command{
		Use:               "show NAME",
		Short:             "Show one pin",
		Long:              "Show how a pin is tracked, what holds it, and what its lock has. Only files are read.",
		Example:           "  dist pins show zinc\n  dist pins show zinc --json",
		Args:              cli.Args(cobra.ExactArgs(1)),
		ValidArgsFunction: completePins,
		RunE: func(cmd *cobra.Command, args []string) error {
			set, _, err := loadPins(cmd)
			if err != nil {
				return err
			}
			p, err := set.Named(args[0])
			if err != nil {
				return err
			}
			env := cli.From(cmd)
			group := ""
			if g := set.GroupOf(p.Name); g != nil {
				group = g.Name
			}
			if env.JSON {
				return env.PrintJSON(struct {
					*pins.Pin
					File  string     `json:"file"`
					Group string     `json:"group,omitempty"`
					State pins.State `json:"state"`
				}{p, p.File(), group, p.State()})
			}
			return showPin(p, group).Write(env.Out, false)
		},
	}
}

// showPin is a pin as lines of names and values; empty values are left out.
func showPin(p *pins.Pin, group string) *cli.Table {
	t := &cli.Table{}
	line := func(name, value string) {
		if value != "" {
			t.Add(name, value)
		}
	}
	line("name", p.Name)
	line("what", p.What)
	line("file", p.File())
	line("upstream", p.Upstream)
	line("license", p.License)
	line("use", string(p.Use))
	line("group", group)
	line("stack", p.Stack)
	line("track", string(p.Track.Kind))
	line("  branch", p.Track.Branch)
	for _, s := range p.Track.Schemes {
		line("  scheme", s.Pattern)
	}
	line("  of", p.Track.Of)
	line("  path", p.Track.Path)
	line("  key", p.Track.Key)
	line("  repo", p.Track.Repo)
	line("  module", p.Track.Module)
	line("  reason", p.Track.Reason)
	if p.Track.MinAge > 0 {
		line("  min-age", p.Track.MinAge.String())
	}
	line("  every", string(p.Track.Every))
	if h := p.Hold; h != nil {
		line("hold", h.Reason)
		line("  until", string(h.Until))
		line("  issue", h.Issue)
	}
	for _, r := range p.Reject {
		line("reject", r.ID)
		line("  why", r.Why)
	}
	line("state", string(p.State()))
	if l := p.Lock; l != nil {
		showLock(l, line)
	}
	return t
}

func showLock(l *pins.Lock, line func(name, value string)) {
	line("  version", l.Version)
	line("  tag", l.Tag)
	line("  commit", l.Commit)
	line("  tree", l.Tree)
	line("  sum", l.Sum)
	line("  digest", l.Digest)
	if !l.Date.IsZero() {
		line("  date", l.Date.Format(time.RFC3339))
	}
	if l.Via != nil {
		line("  via", l.Via.URL+" at "+l.Via.Commit)
	}
	if l.ViaMirror != nil {
		line("  via mirror", l.ViaMirror.StandsIn)
	}
	if a := l.Accepted; a != nil {
		line("  accepted", fmt.Sprintf("%s -> %s by %s on %s: %s", a.From, a.To, a.By, a.Date, a.Why))
	}
	for _, s := range l.Submodules {
		line("  submodule", s.Path+" "+s.Commit)
	}
	for _, f := range l.Files {
		line("  file", fmt.Sprintf("%s %d bytes sha256 %s", f.Name, f.Size, f.SHA256))
	}
	for _, e := range l.Excluded {
		line("  excluded", e.Path)
	}
	for _, in := range l.Inputs {
		line("  input", string(in.Kind)+" "+in.Name)
	}
}
