// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/build"
)

func newReproduce() *cobra.Command {
	var f buildFlags
	cmd := &cobra.Command{
		Use:   "reproduce COMPONENT",
		Short: "Build a component twice and compare",
		Long: `Build a component twice, with everything varied that may not matter, and compare
the results file by file. The first build is the one in the store, if it is
there. What differs is named by ELF section or archive member, and both builds
are kept to look at. What a recipe excepts, with its reason, is shown and does
not count.`,
		Example: `  dist reproduce llama-vulkan
  dist reproduce llama-vulkan --runner dagger`,
		Args:              cli.Args(cobra.ExactArgs(1)),
		ValidArgsFunction: completeRecipes,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := known(args); err != nil {
				return err
			}
			repo, err := repository(cmd)
			if err != nil {
				return err
			}
			f.out = filepath.Join(repo, "dist")
			if err := f.checkRunner(); err != nil {
				return err
			}
			defer f.closeRunner()
			w, err := f.workshop(cmd)
			if err != nil {
				return err
			}
			defer w.Close()
			r, err := w.Reproduce(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return showReproduction(cli.From(cmd), r)
		},
	}
	f.network.flags(cmd)
	cmd.Flags().StringVar(&f.cpu, "cpu", "", "the oldest processor it must run on (default: the recipe's first)")
	cmd.Flags().StringVar(&f.runner, "runner", "host", "what executes the steps: host, or dagger for a Dagger engine")
	return cmd
}

func showReproduction(env *cli.Env, r *build.Reproduction) error {
	v := verdict.Pass
	if !r.Equal {
		v = verdict.Fail
	}
	if env.JSON {
		if err := env.PrintJSON(r); err != nil {
			return err
		}
		return cli.Done(v)
	}
	env.Printf("%s: varied: %s\n", r.Name, strings.Join(r.Varied, ", "))
	for _, d := range r.Differences {
		env.Printf("  %s: %s\n", d.Path, strings.Join(d.What, ", "))
		if d.Excepted != "" {
			env.Printf("    excepted: %s\n", d.Excepted)
		}
	}
	if r.Equal {
		env.Printf("equal: %s\n", r.Sums[0])
	} else {
		env.Printf("not equal: %s in %s\n       and %s in %s\n", r.Sums[0], r.Kept[0], r.Sums[1], r.Kept[1])
		if r.Report != "" {
			env.Printf("diffoscope says how: %s\n", r.Report)
		}
	}
	return cli.Done(v)
}
