// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/patches"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/build"
)

// newPatches returns 'dist patches', which holds the commands about stacks.
func newPatches() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "patches",
		Short: "Keep our changes to the upstreams",
		Long: `A stack is our patches on one pin, in order: patches/<stack>/series and one file
for each patch, named after its subject. The files are the export of commits;
their text depends on the base and the commits alone, and is only ever applied
to the exact files that it was written for. The lock of the pin has the tree
after each patch.

Commands that apply patches need the commits of the upstream: the pin's
repository in the cache (<cache>/git/<pin>.git), or the one that --git-dir names.
It is only read.`,
	}
	cmd.PersistentFlags().String("git-dir", "", "repository with the commits of the upstream (default: the one in the cache)")
	return cli.Group(cmd, newPatchesList(), newPatchesShow(), newPatchesCheck(), newPatchesImport(), newPatchesExport(), newPatchesApply(),
		newPatchesEdit(), newPatchesRefresh(), newPatchesDrop(), newPatchesLock(), newPatchesPublish(),
		newPatchesRebase(), newPatchesBisect(), newPatchesReplay(), newPatchesReport())
}

// openPatches opens the repository of the command; close it when write is set.
func openPatches(cmd *cobra.Command, write bool) (*patches.Repository, error) {
	root, err := repository(cmd)
	if err != nil {
		return nil, err
	}
	if write {
		return patches.OpenToWrite(cmd.Context(), root)
	}
	return patches.Open(cmd.Context(), root)
}

// upstreamSource finds the repository of a pin: --git-dir, else the cache.
func upstreamSource(cmd *cobra.Command) patches.Source {
	return func(ctx context.Context, pin *pins.Pin, stack string) (*git.Repo, error) {
		dir, err := cmd.Flags().GetString("git-dir")
		if err != nil {
			return nil, err
		}
		if dir != "" {
			repo, err := git.Open(ctx, dir)
			if err != nil {
				return nil, verdict.Usagef("--git-dir: %s", err)
			}
			return repo, nil
		}
		if pin == nil {
			return nil, verdict.Usagef("stack %s is on no pin: name the upstream's repository with --git-dir", stack)
		}
		cache, err := build.DefaultCache()
		if err != nil {
			return nil, err
		}
		dir = filepath.Join(cache.Dir, "git", pin.Name+".git")
		if _, err := os.Stat(dir); err != nil {
			return nil, verdict.Usagef("the repository of pin %s is not in the cache: run 'dist fetch %s', or name one with --git-dir", pin.Name, pin.Name)
		}
		return git.Open(ctx, dir)
	}
}

// near lets a fetch leave out what the upstream's repository here has already.
func near(cmd *cobra.Command, repo *patches.Repository, stack string, from *patches.From) {
	if r, err := upstreamSource(cmd)(cmd.Context(), repo.PinOf(stack), stack); err == nil {
		from.Near = r
	}
}

// addFrom adds the flags that say where commits come from.
func addFrom(cmd *cobra.Command, from *patches.From, status *string, where string) {
	cmd.Flags().StringVar(&from.Where, "from", "", where)
	cmd.Flags().StringVar(&from.Branch, "branch", "", "branch with the commits (default: HEAD of a folder)")
	cmd.Flags().StringVar(status, "status", "", "Upstream-Status of the patches that state none: 'inappropriate [reason]', pending, 'submitted URL' or 'backport URL'")
}

// setStatus reads the flag --status.
func setStatus(from *patches.From, status string) error {
	if status == "" {
		return nil
	}
	s, err := patches.ParseStatus(status)
	if err != nil {
		return verdict.Usagef("--status: %s", err)
	}
	from.Status = &s
	return nil
}

// showImported prints what became of a stack's files.
func showImported(env *cli.Env, what string, im *patches.Imported) error {
	for _, n := range im.Notes {
		env.Notef("note: %s", n)
	}
	if env.JSON {
		return env.PrintJSON(im)
	}
	env.Printf("%s %s: %s on %s\n", what, im.Name, count(len(im.Files), "patch", "patches"), im.Base.Short())
	list := func(what string, files []string) {
		for _, f := range files {
			env.Printf("  %-8s %s\n", what, f)
		}
	}
	list("kept", im.Kept)
	list("changed", im.Changed)
	list("added", im.Added)
	list("dropped", im.Dropped)
	list("empty", im.Empty)
	list("merge", im.Merges)
	if im.Locked {
		env.Printf("  the lock of the pin has the tree after each patch\n")
	}
	return nil
}

// showApplied prints where a patched tree is.
func showApplied(env *cli.Env, a *patches.Applied) error {
	if env.JSON {
		return env.PrintJSON(a)
	}
	env.Printf("%s\n  base     %s\n  patches  %d\n  tip      %s\n  tree     %s\n  files    %d\n", shorten(a.Dir), a.Base, a.Patches, a.Tip, a.Tree, a.Files)
	if a.Onto != "" {
		env.Printf("  onto     %s\n", a.Onto)
	}
	for _, path := range a.Conflicts {
		env.Printf("  conflict %s\n", inert.Line(path, 200))
	}
	if len(a.Submodules) > 0 {
		env.Printf("  empty    %s (submodules)\n", strings.Join(a.Submodules, ", "))
	}
	if len(a.Excluded) > 0 {
		env.Printf("  absent   %s (excluded by the pin)\n", strings.Join(a.Excluded, ", "))
	}
	return nil
}
