// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/progress"
	"github.com/1bit-MONSTER/engine/pipelines/nightly/rehearse"
)

func newRehearse() *cobra.Command {
	var o rehearse.Options
	cmd := &cobra.Command{
		Use:   "rehearse",
		Short: "Play several nights of the nightly job, with no network and no account",
		Long: `Play several nights of the nightly job in a small world of its own: local
upstreams of a few lines of Go, and a distribution that follows them. The nights
are the real ones: a clean bump, a patch that upstream took, a tag that moved, a
hold, a version that must ripen, a night without network, a conflict with the
commit behind it, a pair of which one half dropped what the other uses. What must
come out is written down beforehand; anything else makes it fail, and is named.

It takes about a minute on two cores with nothing else to do, and needs the
pinned Go, which 'dist build' leaves in the store. It changes nothing of yours:
pages and proposals are left in a new folder, everything else is removed.`,
		Example: `  dist rehearse                  # a table, and what to look at
  dist rehearse --keep /tmp/w    # leave the repositories too
  dist rehearse --out /tmp/o --json`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			repo, err := repository(cmd)
			if err != nil {
				return err
			}
			if o.Go, err = goPin(repo); err != nil {
				return err
			}
			if o.Store, err = openStore(); err != nil {
				return err
			}
			env := cli.From(cmd)
			o.Progress = progress.New(env.Err, env.Terminal)
			r, err := rehearse.Run(cmd.Context(), o)
			if err != nil {
				return err
			}
			return showRehearsal(env, r)
		},
	}
	cmd.Flags().StringVarP(&o.Out, "out", "o", "", "folder for pages and proposals, new or empty (default: a new one in the system's folder for temporary files)")
	cmd.Flags().StringVar(&o.Keep, "keep", "", "folder to leave the repositories in, new or empty (default: they are removed)")
	return cmd
}

func showRehearsal(env *cli.Env, r *rehearse.Report) error {
	if env.JSON {
		if err := env.PrintJSON(r); err != nil {
			return err
		}
		return cli.Done(r.Verdict())
	}
	t := cli.Table{Head: []string{"NIGHT", "GROUP", "VERDICT", "WHAT HAPPENED"}, Rows: r.Cells(140)}
	if err := t.Write(env.Out, env.Color); err != nil {
		return err
	}
	fmt.Fprintf(env.Out, "\n%d nights in %.0f s. Look at:\n", len(r.Nights), r.Seconds)
	for _, h := range r.Look {
		fmt.Fprintf(env.Out, "  %s\n    %s\n", shorten(h.Path), h.What)
	}
	for _, s := range r.Surprises {
		env.Notef("otherwise than written: %s", s)
	}
	return cli.Done(r.Verdict())
}
