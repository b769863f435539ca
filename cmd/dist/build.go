// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/progress"
	"github.com/1bit-MONSTER/engine/pipelines/build"
)

func newBuild() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "build [serve]",
		Short: "Build the serve binary from pinned inputs",
		Long: `Build the program 1bit for linux/amd64 with the Go toolchain that pins/go.yaml
names, and pack it with its licence and a manifest of everything that went in.

The bytes depend on the sources, the toolchain and the modules alone: not on
the machine, its settings or the time. When nothing changed since the last
build, nothing is done.

The cache is the folder that DIST_CACHE names, else 1bit-dist in the user's
cache folder. It may be deleted at any time.`,
		Example: `  dist build                 # dist/1bit-<version>-linux-x86_64.tar.zst
  dist build --out /tmp/out  # the same bytes elsewhere
  dist build --json          # the result for a program`,
		Args: cli.Args(cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs)),
		ValidArgs: []cobra.Completion{
			cobra.CompletionWithDesc("serve", "the program 1bit"),
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			env := cli.From(cmd)
			repo, err := repository(cmd)
			if err != nil {
				return err
			}
			cache, err := build.DefaultCache()
			if err != nil {
				return err
			}
			g, err := goPin(repo)
			if err != nil {
				return err
			}
			if out == "" {
				out = filepath.Join(repo, "dist")
			}
			r, err := build.Serve(cmd.Context(), build.Options{
				Repo: repo, Out: out, Cache: cache, Go: g, Progress: progress.New(env.Err, env.Terminal),
			})
			if err != nil {
				return err
			}
			if env.JSON {
				return env.PrintJSON(r)
			}
			return show(env, r)
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "folder of the archive (default: dist in the repository)")
	return cmd
}

func show(env *cli.Env, r *build.Result) error {
	what := "built"
	switch {
	case r.UpToDate:
		what = "nothing changed:"
	case r.Hit:
		what = "packed from the store:"
	}
	_, err := fmt.Fprintf(env.Out, "%s %s\n  size       %.1f MB\n  sha256     %s\n  component  %s\n  source     %s\n",
		what, shorten(r.Archive), float64(r.Size)/1e6, r.SHA256, r.Component, r.Source)
	return err
}
