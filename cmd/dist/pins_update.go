// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/run"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
)

func newPinsUpdate() *cobra.Command {
	var n network
	var o fetch.UpdateOptions
	var accept string
	var all bool
	cmd := &cobra.Command{
		Use:   "update NAME... | --all",
		Short: "Move pins to their newest versions",
		Long: `Move pins to the newest versions of their upstreams: resolve, fetch with
submodules, verify, and write the lock. A group is resolved at one moment and
moves whole or not at all; naming a member brings the group. A file changes only
when everything that its lock names is verified and in the store.

--to names a revision instead: a tag, a branch or a full commit (for a gitlink
or field one of the repository that it is read from). Only what is read from the
same place moves with it then.

A version that is no successor of the lock is refused: a tag that moved, an
older commit (backwards), or one on another line (sideways). A person may take
it with --to, --accept and --reason; the lock records who, when and why. Holds,
min-age and schedules do not bind a person's update; rejected versions do.

A pin with a stack of patches does not move here: 'dist patches rebase' moves
both together.`,
		Example: `  dist pins update zinc
  dist pins update --all --mirrors mirrors.yaml
  dist pins update llama-vulkan --to v0.5.0
  dist pins update zinc --to 3a35e76d64ebb91e2d82e16ddda20ee865ce1d45 \
      --accept backwards --reason 'the newest loses tokens'`,
		Args:              cli.Args(cobra.ArbitraryArgs),
		ValidArgsFunction: completePins,
		RunE: func(cmd *cobra.Command, args []string) error {
			if all == (len(args) > 0) {
				return verdict.Usagef("name the pins to move, or say --all")
			}
			var err error
			if o.Accept, err = fetch.ParseDirection(accept); err != nil {
				return err
			}
			e, dir, err := n.engine(cmd)
			if err != nil {
				return err
			}
			o.PinsDir = dir
			if o.Accept != "" && o.By == "" {
				o.By = userName(cmd, dir)
			}
			list, err := namedPins(e.Set, args, nil)
			if err != nil {
				return err
			}
			rows, err := e.Update(cmd.Context(), list, o)
			if err != nil {
				return err
			}
			return showRows(cli.From(cmd), rows, printUpdated, func(r fetch.Updated) verdict.Verdict { return r.Verdict })
		},
	}
	n.flags(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "move all pins")
	cmd.Flags().StringVar(&o.To, "to", "", "a tag, branch or full commit instead of the newest")
	cmd.Flags().StringVar(&accept, "accept", "", "take a version that is no successor: moved, backwards or sideways")
	cmd.Flags().StringVar(&o.Reason, "reason", "", "why it is accepted (one line)")
	cmd.Flags().StringVar(&o.By, "by", "", "who accepts (default: user.name of git)")
	return cmd
}

// userName is what git calls the person in this repository. Here alone the
// person's own configuration is what is wanted.
func userName(cmd *cobra.Command, dir string) string {
	c := run.Command{Path: "git", Args: []string{"config", "user.name"}, Dir: dir,
		Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "XDG_CONFIG_HOME=" + os.Getenv("XDG_CONFIG_HOME")}}
	if v, ok := os.LookupEnv("GIT_CONFIG_GLOBAL"); ok {
		c.Env = append(c.Env, "GIT_CONFIG_GLOBAL="+v)
	}
	res, err := c.Run(cmd.Context())
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(res.Stdout))
}

func printUpdated(env *cli.Env, rows []fetch.Updated) error {
	table := cli.Table{Head: []string{"NAME", "FROM", "TO", "FILE", "VERDICT"}}
	via := false
	for _, r := range rows {
		file := "-"
		switch {
		case r.Changed:
			file = "written"
		case r.Verdict == verdict.Pass:
			file = "unchanged"
		}
		if r.Via != "" {
			file, via = file+" via mirror", true
		}
		table.Add(r.Name, shorten12(r.From), shortVersion(r.Version, r.To), file, string(r.Verdict))
	}
	if err := table.Write(env.Out, env.Color); err != nil {
		return err
	}
	if via {
		env.Printf("via mirror: not to be released before 'dist pins verify --online' has seen the upstream\n")
	}
	for _, r := range rows {
		notePin(env, r.Name, r.Why, r.Notes...)
	}
	return nil
}
