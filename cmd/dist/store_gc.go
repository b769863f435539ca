// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/build"
)

func newStoreGC() *cobra.Command {
	var older time.Duration
	var dryRun, noRoots bool
	cmd := &cobra.Command{
		Use:   "gc",
		Short: "Remove what was not used for a while",
		Long: `Remove what killed runs left, and the entries that were last used longer ago
than --older-than.

Inside the engine's repository, or with --repo, what its locks name is kept
whatever its age: sources, patched sources, files, inputs and toolchains, which
would have to be fetched again. What was built from them is not. Elsewhere, and
with --no-roots, age alone decides.`,
		Example: `  dist store gc --older-than 720h
  dist store gc --dry-run
  dist store gc --older-than 0s --no-roots   # everything`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if older < 0 {
				return verdict.Usagef("--older-than %s is negative", older)
			}
			var roots map[store.Key]string
			if !noRoots {
				var err error
				if roots, err = lockedRoots(cmd); err != nil {
					return err
				}
			}
			return collectGarbage(cmd, roots, older, dryRun)
		},
	}
	cmd.Flags().DurationVar(&older, "older-than", 30*24*time.Hour, "how long an entry must not have been used")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only say what would be removed")
	cmd.Flags().BoolVar(&noRoots, "no-roots", false, "remove also what the repository's locks name")
	return cmd
}

// lockedRoots returns what the locks of the repository name; nothing outside a
// repository. Pins that cannot be read are an error: nothing is removed then.
func lockedRoots(cmd *cobra.Command) (map[store.Key]string, error) {
	repo, err := repository(cmd)
	if err != nil {
		if cmd.Flags().Changed("repo") {
			return nil, err
		}
		return nil, nil
	}
	set, err := pins.Load(pinsDir(repo))
	if err != nil {
		return nil, err
	}
	return build.Roots(set), nil
}

func collectGarbage(cmd *cobra.Command, roots map[store.Key]string, older time.Duration, dryRun bool) error {
	env := cli.From(cmd)
	s, err := openStore()
	if err != nil {
		return err
	}
	limit, kept := time.Now().Add(-older), 0
	gone, err := s.GC(cmd.Context(), func(e *store.Entry, used time.Time) bool {
		if used.After(limit) {
			return true
		}
		if _, named := roots[e.Key]; !named {
			return false
		}
		kept++
		return true
	}, dryRun)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	records := []store.Record{}
	var total int64
	for _, e := range gone {
		records = append(records, e.Record)
		total += e.Size
	}
	if env.JSON {
		return env.PrintJSON(map[string]any{"removed": records, "bytes": total, "kept-by-locks": kept, "dry-run": dryRun})
	}
	for _, e := range gone {
		env.Printf("%s %s\n", shortKey(e.Key), e.Name)
	}
	what := "removed"
	if dryRun {
		what = "would be removed"
	}
	env.Printf("%s, %s %s\n", count(len(gone), "entry", "entries"), megabytes(total), what)
	if kept > 0 {
		env.Notef("%s as old kept, which locks name: --no-roots removes them too", count(kept, "entry", "entries"))
	}
	return nil
}
