// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/progress"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/build"
)

// buildFlags are the flags of dist build.
type buildFlags struct {
	network
	remoteFlags
	out                            string
	all, list, plan, explain, svg  bool
	noSandbox, hostTools, paranoid bool
	cpu                            string
	runner                         string
	close                          []func() error // what the runner holds
}

func newBuild() *cobra.Command {
	var f buildFlags
	cmd := &cobra.Command{
		Use:   "build [COMPONENT...]",
		Short: "Build components from pinned inputs",
		Long: `Build components; without a name the program 1bit, packed with its licence and
a manifest of everything that went in.

Each step runs in a sandbox that shows it the pinned toolchain, the pinned
sources and nothing else: no network, no file of yours. The bytes depend on
these inputs alone. What is built lies in the store under the digest of its
inputs, and as a folder of links in the output folder; when nothing changed
since the last build, nothing is done.

With --runner dagger the steps run in containers of the Dagger engine that the
dagger command finds (_EXPERIMENTAL_DAGGER_RUNNER_HOST names another), on this
machine or a remote one. Inputs, bytes and keys are the same.

The cache is the folder that DIST_CACHE names, else 1bit-dist in the user's
cache folder. It may be deleted at any time.`,
		Example: `  dist build                          # dist/1bit-<version>-linux-x86_64.tar.zst
  dist build llama-vulkan             # dist/llama-vulkan/
  dist build --list                   # what can be built
  dist build --plan llama-vulkan      # from what, with digests
  dist build --explain llama-vulkan   # why it would be built again
  dist build --all                    # everything that can be built here
  dist build --runner dagger          # the same bytes, made by a Dagger engine
  dist build --json                   # the result for a program
  dist build llama-vulkan --remote-cache oci://registry.example.com/1bit/outputs`,
		ValidArgsFunction: completeRecipes,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.out == "" {
				repo, err := repository(cmd)
				if err != nil {
					return err
				}
				f.out = filepath.Join(repo, "dist")
			}
			return f.run(cmd, args)
		},
	}
	f.network.flags(cmd)
	f.remoteFlags.flags(cmd)
	flags := cmd.Flags()
	flags.StringVarP(&f.out, "out", "o", "", "output folder (default: dist in the repository)")
	flags.BoolVar(&f.all, "all", false, "build every component that can be built here")
	flags.BoolVar(&f.list, "list", false, "only list the components")
	flags.BoolVar(&f.plan, "plan", false, "only show what would be built from what")
	flags.BoolVar(&f.svg, "svg", false, "with --plan: draw it")
	flags.BoolVar(&f.explain, "explain", false, "only say why it would be built")
	flags.StringVar(&f.cpu, "cpu", "", "the oldest processor it must run on (default: the recipe's first)")
	flags.BoolVar(&f.noSandbox, "no-sandbox", false, "run the steps in sight of the whole machine, with its tools; marked, never released")
	flags.BoolVar(&f.hostTools, "host-tools", false, "use the machine's tools; marked, never released")
	flags.StringVar(&f.runner, "runner", "host", "what executes the steps: host, or dagger for a Dagger engine")
	flags.BoolVar(&f.paranoid, "paranoid", false, "read again what is taken from the store")
	cmd.MarkFlagsMutuallyExclusive("list", "plan", "explain")
	cmd.MarkFlagsMutuallyExclusive("no-sandbox", "host-tools")
	cmd.RegisterFlagCompletionFunc("runner", cobra.FixedCompletions([]cobra.Completion{"host", "dagger"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// completeRecipes offers the components to the shell.
func completeRecipes(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var names []cobra.Completion
	for _, r := range build.Recipes() {
		if !slices.Contains(args, r.Name) {
			names = append(names, cobra.CompletionWithDesc(r.Name, r.What))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func (f *buildFlags) run(cmd *cobra.Command, args []string) error {
	env := cli.From(cmd)
	if f.list {
		return listRecipes(env)
	}
	if f.svg && !f.plan {
		return verdict.Usagef("--svg goes with --plan")
	}
	if f.all && len(args) > 0 {
		return verdict.Usagef("--all names every component: give no other")
	}
	if err := known(args); err != nil {
		return err
	}
	if err := f.checkRunner(); err != nil {
		return err
	}
	defer f.closeRunner()
	switch {
	case f.plan, f.explain:
		w, err := f.workshop(cmd)
		if err != nil {
			return err
		}
		defer w.Close()
		if len(args) == 0 {
			args = w.Names()
		}
		if f.explain {
			return explainBuilds(cmd, env, w, args)
		}
		return showPlan(cmd, env, w, args, f.svg)
	case f.all || len(args) > 1 || len(args) == 1 && args[0] != "serve":
		w, err := f.workshop(cmd)
		if err != nil {
			return err
		}
		defer w.Close()
		if f.all {
			args = w.Names()
		}
		return buildComponents(cmd, env, w, args, f.all)
	}
	return f.serve(cmd, env)
}

func known(names []string) error {
	for _, name := range names {
		if _, err := build.FindRecipe(name); err != nil {
			return err
		}
	}
	return nil
}

// serve builds and packs the program 1bit alone, which needs no other pin.
func (f *buildFlags) serve(cmd *cobra.Command, env *cli.Env) error {
	if f.hostTools {
		return verdict.Usagef("serve is built with the pinned Go: --host-tools does not go with it")
	}
	o, err := f.options(cmd)
	if err != nil {
		return err
	}
	r, err := build.Serve(cmd.Context(), o)
	if err != nil {
		return err
	}
	if env.JSON {
		return env.PrintJSON(r)
	}
	return show(env, r)
}

// options are those of the program 1bit.
func (f *buildFlags) options(cmd *cobra.Command) (build.Options, error) {
	repo, err := repository(cmd)
	if err != nil {
		return build.Options{}, err
	}
	cache, err := build.DefaultCache()
	if err != nil {
		return build.Options{}, err
	}
	g, err := goPin(repo)
	if err != nil {
		return build.Options{}, err
	}
	env := cli.From(cmd)
	o := build.Options{
		Repo: repo, Out: f.out, Cache: cache, Go: g, Offline: f.offline, NoSandbox: f.noSandbox, Paranoid: f.paranoid,
		Progress: progress.New(env.Err, env.Terminal),
	}
	if f.runner == "dagger" {
		o.Runner = f.dagger(o)
	}
	o.Remote, err = f.remote(cmd, &o)
	return o, err
}

func show(env *cli.Env, r *build.Result) error {
	what := "built"
	switch {
	case r.UpToDate:
		what = "nothing changed:"
	case r.Hit:
		what = "packed from the store:"
	case r.From != "":
		what = "packed from the remote cache:"
	}
	_, err := fmt.Fprintf(env.Out, "%s %s\n  size       %s\n  sha256     %s\n  component  %s\n  source     %s\n",
		what, shorten(r.Archive), megabytes(r.Size), r.SHA256, r.Component, r.Source)
	return err
}

func listRecipes(env *cli.Env) error {
	all := build.Recipes()
	if env.JSON {
		return env.PrintJSON(all)
	}
	t := cli.Table{Head: []string{"COMPONENT", "TOOLCHAIN", "WHAT"}}
	for _, r := range all {
		t.Add(r.Name, r.Toolchain, r.What)
	}
	if err := t.Write(env.Out, env.Color); err != nil {
		return err
	}
	for _, r := range all {
		if r.Unavailable != "" {
			env.Notef("%s cannot be built yet: %s", r.Name, r.Unavailable)
		}
	}
	return nil
}
