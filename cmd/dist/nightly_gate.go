// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/build"
	"github.com/1bit-MONSTER/engine/pipelines/nightly"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

func newNightlyGate() *cobra.Command {
	var f nightFlags
	var dir string
	cmd := &cobra.Command{
		Use:   "gate --round FOLDER",
		Short: "Second step: rebase, check and build one group",
		Long: `The second step of a night, for one group: rebase the patches, run all gates,
build what the group feeds, and make the commit that would be proposed. It runs
upstream code, in the sandbox. It uses no network and no secret: the folder that
the first step left for the group, and this repository at the commit that the
round stands on, are all that it needs. Groups are independent: a job may run
one process for each.

Verdicts, logs, the text of the proposal and a git bundle of its commit are left
in the folder.`,
		Example: "  dist nightly gate --round night/zinc",
		Args:    cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := needFolderThere(dir, "round"); err != nil {
				return err
			}
			folder, err := filepath.Abs(dir)
			if err != nil {
				return err
			}
			x, err := round.Read(round.Folder(folder).Round())
			if err != nil {
				return err
			}
			f.mode = string(x.Mode)
			if x.Mode == round.Live && (f.noSandbox || f.hostTools) {
				return verdict.Usagef("this round is a live one: its gates run in the sandbox only, with pinned tools")
			}
			f.offline, f.jobs = true, 1
			n, err := f.night(cmd, nil)
			if err != nil {
				return err
			}
			defer n.Close()
			g, err := n.Gate(cmd.Context(), round.Folder(folder))
			if err != nil {
				return err
			}
			return showGated(cli.From(cmd), g)
		},
	}
	f.tools(cmd)
	cmd.Flags().StringVar(&dir, "round", "", "the folder that the first step left for the group")
	return cmd
}

func showGated(env *cli.Env, g *nightly.GroupReport) error {
	if env.JSON {
		if err := env.PrintJSON(g); err != nil {
			return err
		}
		return cli.Done(g.Verdict)
	}
	t := cli.Table{Head: []string{"GATE", "VERDICT", "TIME", "WHY"}}
	for _, x := range g.Gates {
		t.Add(x.Name, string(x.Verdict), seconds(x.Seconds), orDash(x.Why))
	}
	if len(g.Gates) > 0 {
		if err := t.Write(env.Out, env.Color); err != nil {
			return err
		}
	}
	env.Printf("\n%s: %s%s\n", g.Group, g.Verdict, colon(g.Why))
	for _, why := range g.Draft {
		env.Notef("only a draft: %s", why)
	}
	return cli.Done(g.Verdict)
}

func colon(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

// spaceOf is the key space of builds with these flags.
func (f *nightFlags) spaceOf() build.Space {
	switch {
	case f.noSandbox:
		return build.NoSandbox
	case f.hostTools:
		return build.HostTools
	}
	return build.Sandboxed
}

// seconds shows a duration.
func seconds(s float64) string { return fmt.Sprintf("%.1f s", s) }
