// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
	"github.com/1bit-MONSTER/engine/pipelines/toolchain"
)

// A fetchedToolchain is what became of one toolchain.
type fetchedToolchain struct {
	Name    string          `json:"name"`
	Version string          `json:"version,omitempty"`
	Path    string          `json:"path,omitempty"`
	Size    int64           `json:"size,omitempty"` // bytes
	Files   int             `json:"files,omitempty"`
	Hit     bool            `json:"hit"` // it was in the store
	Verdict verdict.Verdict `json:"verdict"`
	Why     string          `json:"why,omitempty"` // of a verdict that is not pass
}

func newToolchainFetch() *cobra.Command {
	var n network
	cmd := &cobra.Command{
		Use:   "fetch [NAME...]",
		Short: "Unpack toolchains into the store",
		Long: `Bring the named toolchains, or all that are verified, into the store: download
what their locks list, check each sum, unpack. What is there already is not
asked for, and what was unpacked is not unpacked again.`,
		Example: `  dist toolchain fetch debian-bookworm-build
  dist toolchain fetch --offline`,
		Args:              cli.Args(cobra.ArbitraryArgs),
		ValidArgsFunction: completeToolchains,
		RunE: func(cmd *cobra.Command, args []string) error {
			e, _, err := n.engine(cmd)
			if err != nil {
				return err
			}
			list, err := toolchainPins(e.Set, args)
			if err != nil {
				return err
			}
			rows := []fetchedToolchain{}
			for _, p := range list {
				if len(args) == 0 && !verified(p) {
					continue
				}
				rows = append(rows, fetchToolchain(cmd, e, p))
				if err := cmd.Context().Err(); err != nil {
					return err
				}
			}
			env := cli.From(cmd)
			if env.JSON {
				if err := env.PrintJSON(rows); err != nil {
					return err
				}
			} else if err := printToolchains(env, rows); err != nil {
				return err
			}
			return cli.Done(fetch.WorstOf(rows, func(r fetchedToolchain) verdict.Verdict { return r.Verdict }))
		},
	}
	n.flags(cmd)
	return cmd
}

func fetchToolchain(cmd *cobra.Command, e *fetch.Engine, p *pins.Pin) fetchedToolchain {
	row := fetchedToolchain{Name: p.Name, Verdict: verdict.Pass}
	if p.Lock != nil {
		row.Version = p.Lock.Version
	}
	_, err := toolchain.Cached(e.Store, p)
	row.Hit = err == nil
	if e.Offline && !row.Hit && p.Track.Kind == pins.GoModule {
		// It comes from a go client, which knows nothing of --offline.
		row.Verdict, row.Why = verdict.Infra, p.Name+" is not here and --offline forbids to ask for it: run the same once without --offline"
		return row
	}
	if row.Path, err = toolchain.Fetch(cmd.Context(), e.Store, e, p, e.Progress); err != nil {
		row.Verdict, row.Why = verdict.Of(err), err.Error()
		return row
	}
	if entry, err := toolchain.Cached(e.Store, p); err == nil {
		row.Size, row.Files = entry.Size, entry.Files
	}
	return row
}

func printToolchains(env *cli.Env, rows []fetchedToolchain) error {
	table := cli.Table{Head: []string{"NAME", "VERSION", "SIZE", "STORE", "VERDICT"}}
	for _, r := range rows {
		size, hit := "-", "-"
		if r.Verdict == verdict.Pass {
			size, hit = megabytes(r.Size), "new"
			if r.Hit {
				hit = "there"
			}
		}
		table.Add(r.Name, shortVersion(r.Version, ""), size, hit, string(r.Verdict))
	}
	if err := table.Write(env.Out, env.Color); err != nil {
		return err
	}
	for _, r := range rows {
		if r.Why != "" {
			env.Notef("dist: %s", r.Why)
		}
	}
	return nil
}
