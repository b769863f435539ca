// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/patches"
)

func newPatchesShow() *cobra.Command {
	return &cobra.Command{
		Use:   "show NAME [PATCH]",
		Short: "Show the patches of a stack, or the text of one",
		Long: `Show the patches of a stack in their order, with author, date, how each stands
with the upstream, and what it touches; or the text of one patch. What is shown
is cleaned of characters that a terminal would act on; the file itself is in
patches/NAME.`,
		Example: `  dist patches show llama-vulkan
  dist patches show llama-vulkan ssm-scan-for-mamba-1
  dist patches show llama-vulkan --json`,
		Args: cli.Args(cobra.RangeArgs(1, 2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			env := cli.From(cmd)
			repo, err := openPatches(cmd, false)
			if err != nil {
				return err
			}
			if err := patches.CheckName(args[0]); err != nil {
				return err
			}
			o, s := repo.Look(args[0])
			if s == nil {
				if _, err := repo.Load(args[0]); err != nil {
					return err
				}
				return errors.New(o.Error)
			}
			if len(args) == 2 {
				return showPatch(env, s, args[1])
			}
			if env.JSON {
				return env.PrintJSON(o)
			}
			env.Printf("%s: %d patches on %s, pin %s\n", o.Name, len(o.Patches), orDash(string(o.Base)), orDash(o.Pin))
			for i, c := range o.Patches {
				env.Printf("\n%3d  %s\n     %s\n     %s, %s; %s\n     %s\n", i+1, c.File, c.Subject, c.Author, c.Date.Format("2006-01-02"),
					change(c), orDash(c.Status))
				for _, p := range c.Paths[:min(len(c.Paths), 8)] {
					env.Printf("       %s\n", p)
				}
				if n := len(c.Paths) - 8; n > 0 {
					env.Printf("       and %d more\n", n)
				}
			}
			return nil
		},
	}
}

// change sums up what a patch does.
func change(c patches.Card) string {
	files := "1 file"
	if len(c.Paths) != 1 {
		files = fmt.Sprintf("%d files", len(c.Paths))
	}
	text := fmt.Sprintf("%s, +%d -%d", files, c.Added, c.Removed)
	if c.Binary {
		text += ", binary"
	}
	return text
}

func showPatch(env *cli.Env, s *patches.Stack, name string) error {
	p := s.Patch(name)
	if p == nil {
		p = s.Patch(strings.TrimSuffix(name, patches.Extension) + patches.Extension)
	}
	if p == nil {
		return verdict.Usagef("stack %s has no patch %q; 'dist patches show %s' lists them", s.Name, inert.Line(name, 80), s.Name)
	}
	text := inert.Text(string(patches.Render(p)), 1_000_000, 2000)
	if env.JSON {
		return env.PrintJSON(map[string]string{"stack": s.Name, "file": p.File, "text": text})
	}
	_, err := fmt.Fprintln(env.Out, text)
	return err
}
