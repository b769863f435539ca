// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/clock"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/build"
)

func newPinsList() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List all pins",
		Long: `List all pins: the locked version, its age, the newest version that was seen
the last time upstreams were asked, how far the lock has come, and a verdict.
It reads files only. The exit code is 0 whatever the verdicts are.`,
		Example: `  dist pins list
  dist pins list --json`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			set, _, err := loadPins(cmd)
			if err != nil {
				return err
			}
			env := cli.From(cmd)
			rows := set.Rows(knownNewest(env), clock.System())
			if env.JSON {
				return env.PrintJSON(rows)
			}
			return printRows(env, rows)
		},
	}
}

// knownNewest returns what upstreams had when they were last asked. It is only
// a cache: without it the column is empty.
func knownNewest(env *cli.Env) map[string]pins.Newer {
	cache, err := build.DefaultCache()
	if err != nil {
		return nil
	}
	newest, err := pins.ReadNewest(filepath.Join(cache.Dir, pins.NewestFile))
	if err != nil {
		env.Notef("dist: %s", err)
	}
	return newest
}

func printRows(env *cli.Env, rows []pins.Row) error {
	table := cli.Table{Head: []string{"NAME", "VERSION", "AGE", "NEWEST", "STATE", "VERDICT"}}
	aged := false
	for _, r := range rows {
		age, newest, state := "-", "-", string(r.State)
		if r.AgeDays != nil {
			age, aged = fmt.Sprintf("~%dd", *r.AgeDays), true
		}
		if r.Newest != nil {
			newest = shortVersion(r.Newest.Version, r.Newest.Commit)
		}
		if r.ViaMirror {
			state += " via mirror"
		}
		table.Add(r.Name, shortVersion(r.Version, r.Commit), age, newest, state, string(r.Verdict))
	}
	if err := table.Write(env.Out, env.Color); err != nil {
		return err
	}
	if aged {
		env.Printf("~ by the date that the upstream wrote, not by when we first saw that version\n")
	}
	return nil
}

// shortVersion is a version as a table shows it.
func shortVersion(version, commit string) string {
	switch {
	case version != "":
		return version
	case len(commit) > 12:
		return commit[:12]
	case commit != "":
		return commit
	}
	return "-"
}
