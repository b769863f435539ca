// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/store"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/build"
	"github.com/1bit-MONSTER/engine/pipelines/toolchain"
)

func newToolchainPath() *cobra.Command {
	return &cobra.Command{
		Use:   "path NAME",
		Short: "Print the folder of a toolchain in the store",
		Example: `  dist toolchain path debian-bookworm-build
  ls "$(dist toolchain path go)/bin"`,
		Args:              cli.Args(cobra.ExactArgs(1)),
		ValidArgsFunction: completeToolchains,
		RunE: func(cmd *cobra.Command, args []string) error {
			set, _, err := loadPins(cmd)
			if err != nil {
				return err
			}
			list, err := toolchainPins(set, args)
			if err != nil {
				return err
			}
			cache, err := build.DefaultCache()
			if err != nil {
				return err
			}
			st, err := cache.Store()
			if err != nil {
				return err
			}
			e, err := toolchain.Cached(st, list[0])
			var absent *store.Absent
			if errors.As(err, &absent) {
				return verdict.Infraf("%s is not in the store: run 'dist toolchain fetch %s'", args[0], args[0])
			}
			if err != nil {
				return err
			}
			env := cli.From(cmd)
			if env.JSON {
				return env.PrintJSON(map[string]string{"name": args[0], "path": e.Path})
			}
			env.Printf("%s\n", e.Path)
			return nil
		},
	}
}
