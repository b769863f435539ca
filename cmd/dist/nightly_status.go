// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/inert"
)

func newNightlyStatus() *cobra.Command {
	var f nightFlags
	var markdown bool
	cmd := &cobra.Command{
		Use:   "status [GROUP...]",
		Short: "Show how every group stands",
		Long: `Show how every group stands: how far behind it is, how the last night ended for
it and what holds it. It reads the branch nightly-state, and what dry runs on
this machine remember, and asks no upstream. With --out it leaves the page for a
browser, which has the versions too, the same as JSON, and as Markdown for the
summary of a workflow's step.`,
		Example: `  dist nightly status
  dist nightly status --out page && xdg-open page/index.html`,
		ValidArgsFunction: completeGroups,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.jobs, f.offline = 1, true
			n, err := f.night(cmd, args)
			if err != nil {
				return err
			}
			defer n.Close()
			p, err := n.Status(cmd.Context())
			if err != nil {
				return err
			}
			env := cli.From(cmd)
			if f.out != "" {
				if err := p.Write(f.out); err != nil {
					return err
				}
			}
			switch {
			case env.JSON:
				return p.JSON(env.Out)
			case markdown:
				return p.Markdown(env.Out)
			}
			t := cli.Table{Head: []string{"GROUP", "VERDICT", "STATE", "BEHIND", "WHY"}}
			for _, g := range p.Groups {
				behind := ""
				for _, m := range g.Members {
					if m.Behind != "" && behind == "" {
						behind = m.Behind
					}
				}
				why := g.Why
				if g.Alarm != nil {
					why = "ALARM, " + g.Alarm.Text + colon(why)
				}
				t.Add(g.Name, orDash(string(g.Verdict)), orDash(inert.Line(g.State, 40)), orDash(inert.Line(behind, 40)), orDash(inert.Line(why, wide)))
			}
			if err := t.Write(env.Out, env.Color); err != nil {
				return err
			}
			for _, note := range p.Notes {
				env.Notef("note: %s", note)
			}
			return nil
		},
	}
	f.remotes(cmd)
	cmd.Flags().StringVar(&f.out, "out", "", "folder that gets the page: index.html, nightly.json, summary.md")
	cmd.Flags().BoolVar(&markdown, "markdown", false, "print it as Markdown")
	return cmd
}

func newNightlyExplain() *cobra.Command {
	var f nightFlags
	cmd := &cobra.Command{
		Use:               "explain GROUP",
		Short:             "Tell the story of one group",
		Long:              "Tell where a group is, what is newest, what holds it, what was tried and what a person can do, in about ten lines.",
		Example:           "  dist nightly explain hrx",
		Args:              cli.Args(cobra.ExactArgs(1)),
		ValidArgsFunction: completeGroups,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.jobs, f.offline = 1, true
			n, err := f.night(cmd, nil)
			if err != nil {
				return err
			}
			defer n.Close()
			lines, err := n.Explain(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			env := cli.From(cmd)
			if env.JSON {
				return env.PrintJSON(lines)
			}
			t := cli.Table{}
			for _, l := range lines {
				t.Add(l.What, l.Text)
			}
			return t.Write(env.Out, env.Color)
		},
	}
	f.remotes(cmd)
	return cmd
}
