// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/patches"
)

func newPatchesRefresh() *cobra.Command {
	var o patches.RefreshOptions
	var status string
	var f stackFlags
	cmd := &cobra.Command{
		Use:   "refresh NAME",
		Short: "Take the commits of a work tree back into the stack",
		Long: `Replace the patches of a stack by the commits of the work tree that
'dist patches edit' made, or of another branch on the same base; series, files
and the lock of the pin are written together. Comments in the series stay.

A work tree of 'dist patches edit NAME --onto REV' moves the stack, and with it
the lock of its pin, to REV; how conflicts were settled there is recorded in
resolutions/ and settles the same conflicts from then on.

Refused are changes that were not committed, a stack that was changed since the
work tree was made, and fewer patches than before, unless --allow-drop says
exactly how many are to go.`,
		Example: `  dist patches refresh llama-vulkan
  dist patches refresh llama-vulkan --from ~/edit/llama-vulkan --allow-drop 1`,
		Args: cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := setStatus(&o.From, status); err != nil {
				return err
			}
			var err error
			if o.From.Where, err = editFolder(o.From.Where, args[0]); err != nil {
				return err
			}
			if !strings.Contains(o.From.Where, "://") {
				if f.onto, err = patches.OntoOf(cmd.Context(), o.From.Where); err != nil {
					return err
				}
			}
			if f.onto != "" {
				return refreshOnto(cmd, &f, args[0], o)
			}
			repo, err := openPatches(cmd, true)
			if err != nil {
				return err
			}
			defer repo.Close()
			near(cmd, repo, args[0], &o.From)
			im, err := repo.Refresh(cmd.Context(), args[0], o)
			if err != nil {
				return err
			}
			return showImported(cli.From(cmd), "refreshed", im)
		},
	}
	addFrom(cmd, &o.From, &status, "the work tree, or another repository (default: edit/NAME in the cache)")
	cmd.Flags().IntVar(&o.Drop, "allow-drop", 0, "number of patches that are to go")
	f.addAccept(cmd)
	f.network.flags(cmd)
	f.addMove(cmd)
	return cmd
}

// refreshOnto takes back a work tree in which a person settled conflicts.
func refreshOnto(cmd *cobra.Command, f *stackFlags, name string, o patches.RefreshOptions) error {
	x, err := f.open(cmd, name, true)
	if err != nil {
		return err
	}
	defer x.done()
	im, learnt, err := x.RefreshOnto(cmd.Context(), o, x.onto, x.lock)
	if err != nil {
		return err
	}
	env := cli.From(cmd)
	for _, r := range learnt {
		env.Notef("recorded how %s was settled for %q", inert.Line(r.Path, 200), inert.Line(r.Patch, 100))
	}
	if err := showImported(env, "refreshed", im); err != nil {
		return err
	}
	x.noteBound(env)
	return nil
}
