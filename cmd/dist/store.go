// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/build"
)

func newStore() *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "store",
		Short: "Look at and clean the store of sources, toolchains and outputs",
		Long: `The store is a folder in the cache (DIST_CACHE) in which everything that was
fetched or built lies by the sum of its content. It may be deleted at any time.`,
	}, newStoreList(), newStorePath(), newStoreVerify(), newStoreGC())
}

func openStore() (*store.Store, error) {
	cache, err := build.DefaultCache()
	if err != nil {
		return nil, err
	}
	return cache.Store()
}

// listedEntry is an entry as --json shows it.
type listedEntry struct {
	store.Record
	Path string    `json:"path"`
	Used time.Time `json:"used"`
}

func newStoreList() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the entries",
		Example: "  dist store list --json",
		Args:    cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			env := cli.From(cmd)
			s, err := openStore()
			if err != nil {
				return err
			}
			all, err := s.List()
			if err != nil {
				return err
			}
			listed := []listedEntry{}
			table := cli.Table{Head: []string{"KEY", "KIND", "SIZE", "FILES", "USED", "NAME"}}
			var total int64
			for _, e := range all {
				used := s.Used(e.Key)
				listed = append(listed, listedEntry{e.Record, e.Path, used})
				table.Add(shortKey(e.Key), e.Kind, megabytes(e.Size), fmt.Sprint(e.Files), used.Format(time.DateOnly), e.Name)
				total += e.Size
			}
			if env.JSON {
				return env.PrintJSON(listed)
			}
			if err := table.Write(env.Out, env.Color); err != nil {
				return err
			}
			env.Printf("%s, %s, in %s\n", count(len(all), "entry", "entries"), megabytes(total), s.Dir())
			return nil
		},
	}
}

// shortKey shows enough of a key to find it again.
func shortKey(key store.Key) string {
	kind, digits, _ := strings.Cut(string(key), "-")
	return kind + "-" + digits[:12]
}

// find returns the entry that a user means by a sum, a key, the beginning of a
// key, or a name.
func find(s *store.Store, what string) (*store.Entry, error) {
	if key, err := store.KeyOf(what); err == nil {
		return s.Get(key)
	}
	all, err := s.List()
	if err != nil {
		return nil, err
	}
	var found []*store.Entry
	for _, e := range all {
		if strings.HasPrefix(string(e.Key), what) || e.Name == what {
			found = append(found, e)
		}
	}
	switch len(found) {
	case 0:
		return nil, verdict.Failf("the store has no entry %q: see 'dist store list'", what)
	case 1:
		return found[0], nil
	}
	return nil, verdict.Usagef("%q means %d entries: give more of the key", what, len(found))
}

func newStorePath() *cobra.Command {
	return &cobra.Command{
		Use:     "path ENTRY",
		Short:   "Print where an entry's content lies",
		Long:    "ENTRY is a sum as locks spell it, a key, the beginning of one, or a name.",
		Example: "  dist store path t1-0f3c",
		Args:    cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			env := cli.From(cmd)
			s, err := openStore()
			if err != nil {
				return err
			}
			e, err := find(s, args[0])
			if err != nil {
				return err
			}
			if env.JSON {
				return env.PrintJSON(listedEntry{e.Record, e.Path, s.Used(e.Key)})
			}
			_, err = fmt.Fprintln(env.Out, e.Path)
			return err
		},
	}
}

func newStoreVerify() *cobra.Command {
	var repair bool
	cmd := &cobra.Command{
		Use:   "verify [ENTRY...]",
		Short: "Read entries again and compare them with their sums",
		Long: `Read every file of the given entries, or of all, and say what is not as it
was when it entered. With --repair damaged entries are removed: what needs them
fetches or builds them again.`,
		Example: "  dist store verify --repair",
		Args:    cli.Args(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, args []string) error {
			env := cli.From(cmd)
			s, err := openStore()
			if err != nil {
				return err
			}
			entries, err := s.List()
			if err != nil {
				return err
			}
			if len(args) > 0 {
				entries = nil
				for _, a := range args {
					e, err := find(s, a)
					if err != nil {
						return err
					}
					entries = append(entries, e)
				}
			}
			damages := []*store.Damage{}
			for _, e := range entries {
				if err := cmd.Context().Err(); err != nil {
					return err
				}
				d := s.Verify(e.Key)
				if d == nil {
					continue
				}
				damages = append(damages, d)
				if repair {
					if err := s.Remove(cmd.Context(), e.Key); err != nil {
						return err
					}
				}
			}
			return showDamages(env, len(entries), damages, repair)
		},
	}
	cmd.Flags().BoolVar(&repair, "repair", false, "remove damaged entries")
	return cmd
}

func showDamages(env *cli.Env, read int, damages []*store.Damage, repaired bool) error {
	if env.JSON {
		if err := env.PrintJSON(map[string]any{"entries": read, "damaged": damages, "removed": repaired && len(damages) > 0}); err != nil {
			return err
		}
	}
	for _, d := range damages {
		env.Printf("%s %s: %s\n", shortKey(d.Key), d.Name, strings.Join(d.Why, "; "))
	}
	env.Printf("%s read, %d damaged\n", count(read, "entry", "entries"), len(damages))
	if len(damages) == 0 || repaired {
		return nil
	}
	env.Notef("remove them with 'dist store verify --repair'")
	return cli.Done(verdict.Fail)
}
