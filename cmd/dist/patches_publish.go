// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/patches"
)

// tokenEnv names the variable with the token for pushes to GitHub.
const tokenEnv = "GITHUB_TOKEN"

func newPatchesPublish() *cobra.Command {
	var to string
	var o patches.PublishOptions
	cmd := &cobra.Command{
		Use:   "publish NAME --to REMOTE",
		Short: "Push the commits of a merged stack as a branch and a tag",
		Long: `Push the rebuilt commits of a stack to a fork: a branch, and a tag named after
the stack and its tip. The branch's old tip is pushed as such a tag first, and
the branch moves only if it is still there.

Only what is merged is published: the pin file and the stack's folder must be
those of main, byte for byte; otherwise the verdict is held. A push to
https://github.com uses the token in GITHUB_TOKEN.`,
		Example: `  dist patches publish llama-vulkan --to https://github.com/1bit-MONSTER/llama.cpp
  dist patches publish llama-vulkan --to /srv/git/llama.cpp.git --branch 1bit/vulkan-upstream`,
		Args: cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if to == "" {
				return verdict.Usagef("the remote must be said with --to")
			}
			o.Remote = git.Remote{URL: to}
			switch {
			case filepath.IsAbs(to):
				o.Remote.Allow = []string{"file"}
			case strings.HasPrefix(to, "git@"), strings.HasPrefix(to, "ssh://"):
				o.Remote.Allow = []string{"ssh"}
			case strings.HasPrefix(to, "https://github.com/") && os.Getenv(tokenEnv) != "":
				o.Remote.Credential = git.Credential{User: "x-access-token", Password: os.Getenv(tokenEnv)}
			}
			o.Source = upstreamSource(cmd)
			repo, err := openPatches(cmd, false)
			if err != nil {
				return err
			}
			p, err := repo.Publish(cmd.Context(), args[0], o)
			if err != nil {
				return err
			}
			env := cli.From(cmd)
			if env.JSON {
				return env.PrintJSON(p)
			}
			env.Printf("%s\n", p.Describe())
			return nil
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "https address, ssh address, or absolute folder of the repository to push to")
	cmd.Flags().StringVar(&o.Branch, "branch", "", "branch there (default: dist/NAME)")
	cmd.Flags().StringVar(&o.Main, "main", "", "ref that counts as merged (default: refs/remotes/origin/main, else refs/heads/main)")
	return cmd
}
