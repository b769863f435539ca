// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/patches"
	"github.com/1bit-MONSTER/engine/pipelines/build"
)

func newPatchesEdit() *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use:   "edit NAME",
		Short: "Make a work tree with the commits of a stack",
		Long: `Make a git repository for a person: the stack's commits on their base, on a
branch of the stack's name, checked out. Change, reorder, add and drop commits
there with git as you like, then take them back with 'dist patches refresh'.

The repository borrows objects from the upstream's one, which has to stay.`,
		Example: `  dist patches edit llama-vulkan          # in the cache folder; the path is shown
  dist patches edit llama-vulkan --to ~/edit/llama-vulkan`,
		Args: cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			repo, err := openPatches(cmd, false)
			if err != nil {
				return err
			}
			dir, err := editFolder(to, args[0])
			if err != nil {
				return err
			}
			a, err := repo.Edit(cmd.Context(), args[0], dir, upstreamSource(cmd))
			if err != nil {
				return err
			}
			return showApplied(cli.From(cmd), a)
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "folder for the work tree; it must not exist or be empty (default: edit/NAME in the cache)")
	return cmd
}

// editFolder is where the work tree of a stack is.
func editFolder(dir, stack string) (string, error) {
	if dir != "" {
		return dir, nil
	}
	if err := patches.CheckName(stack); err != nil {
		return "", err
	}
	cache, err := build.DefaultCache()
	if err != nil {
		return "", err
	}
	return filepath.Join(cache.Dir, "edit", stack), nil
}
