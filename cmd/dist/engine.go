// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/clock"
	"github.com/1bit-MONSTER/engine/internal/httpget"
	"github.com/1bit-MONSTER/engine/internal/progress"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/build"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
)

// network are the flags of commands that may ask upstreams.
type network struct {
	mirrors string
	offline bool
	jobs    int
}

func (n *network) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&n.mirrors, "mirrors", "", "file that maps addresses to mirrors (default: DIST_MIRRORS)")
	cmd.Flags().BoolVar(&n.offline, "offline", false, "ask nobody: use what is in the cache")
	cmd.Flags().IntVarP(&n.jobs, "jobs", "j", fetch.DefaultJobs, "pins that are worked on side by side")
}

// engine returns the fetch engine of a command, and the folder of the pins.
func (n *network) engine(cmd *cobra.Command) (*fetch.Engine, string, error) {
	set, dir, err := loadPins(cmd)
	if err != nil {
		return nil, "", err
	}
	if n.jobs < 1 || n.jobs > 256 {
		return nil, "", verdict.Usagef("--jobs is 1 to 256")
	}
	if n.mirrors == "" {
		n.mirrors = os.Getenv("DIST_MIRRORS")
	}
	mirrors, err := fetch.LoadMirrors(n.mirrors)
	if err != nil {
		return nil, "", err
	}
	cache, err := build.DefaultCache()
	if err != nil {
		return nil, "", err
	}
	store, err := cache.Store()
	if err != nil {
		return nil, "", err
	}
	// Only an address of the user's own, a mirror or apt's archive, may be http.
	client, err := httpget.New(httpget.WithAllowHTTP())
	if err != nil {
		return nil, "", err
	}
	env := cli.From(cmd)
	return &fetch.Engine{
		Set: set, Mirrors: mirrors, Store: store, CacheDir: cache.Dir, HTTP: client,
		Offline: n.offline, Jobs: n.jobs, Progress: progress.New(env.Err, env.Terminal), Clock: clock.System,
	}, dir, nil
}

// namedPins returns the pins that a user named; without names those that all
// picks, or all.
func namedPins(set *pins.Set, names []string, all func(*pins.Pin) bool) ([]*pins.Pin, error) {
	var list []*pins.Pin
	seen := map[string]bool{}
	for _, name := range names {
		p, err := set.Named(name)
		if err != nil {
			return nil, err
		}
		if !seen[name] {
			seen[name] = true
			list = append(list, p)
		}
	}
	if len(names) > 0 {
		return list, nil
	}
	for _, p := range set.Pins {
		if all == nil || all(p) {
			list = append(list, p)
		}
	}
	return list, nil
}

// verified picks pins with a verified lock.
func verified(p *pins.Pin) bool { return p.State() == pins.Verified }

// completePins completes names of pins.
func completePins(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	set, _, err := loadPins(cmd)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var names []cobra.Completion
	for _, p := range set.Pins {
		names = append(names, cobra.CompletionWithDesc(p.Name, p.What))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// shorten12 shows a commit's first digits, and anything else as it is.
func shorten12(id string) string { return shortVersion("", id) }
