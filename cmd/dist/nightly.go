// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/build"
	"github.com/1bit-MONSTER/engine/pipelines/nightly"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

func newNightly() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "nightly",
		Short: "Find, try and propose newer versions",
		Long: `Find what is newest for every group of pins, decide whether it may move, try
whether it fits and builds, and propose it, or say for what one reason it does
not move.

'run' does all of that on one machine. The nightly job does it in three steps
with different rights: 'resolve' has the network, 'gate' runs upstream code with
neither network nor secrets, 'propose' may push and runs nothing that was
fetched. Without --mode run nothing is touched but the cache.`,
	}
	return cli.Group(cmd, newNightlyRun(), newNightlyResolve(), newNightlyGate(), newNightlyPropose(), newNightlyStatus(), newNightlyExplain(), newNightlyRetry())
}

// nightFlags are what the commands of a night share.
type nightFlags struct {
	network
	mode, state, push, tokenEnv, out string
	noSandbox, hostTools             bool
}

func (f *nightFlags) modes(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.mode, "mode", string(round.DryRun), "dry-run, which touches nothing but the cache, or run")
}

func (f *nightFlags) remotes(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.state, "state-remote", "", "remote with the branch nightly-state: a name or an address (default: origin)")
	flags.StringVar(&f.tokenEnv, "token-env", "DIST_TOKEN", "variable that holds the token for the remotes, if they need one")
}

func (f *nightFlags) proposals(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.push, "push-remote", "", "remote that gets the branches of proposals: a name or an address (default: origin)")
}

func (f *nightFlags) leaves(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.out, "out", "", "folder that gets the page and the proposals")
}

func (f *nightFlags) tools(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.noSandbox, "no-sandbox", false, "run the builds' steps in sight of the whole machine; for a dry run only")
	cmd.Flags().BoolVar(&f.hostTools, "host-tools", false, "build with the machine's tools; for a dry run only")
	cmd.MarkFlagsMutuallyExclusive("no-sandbox", "host-tools")
}

// night opens a night over groups.
func (f *nightFlags) night(cmd *cobra.Command, groups []string) (*nightly.Night, error) {
	if err := f.check(cmd); err != nil {
		return nil, err
	}
	repo, err := repository(cmd)
	if err != nil {
		return nil, err
	}
	engine, _, err := f.network.engine(cmd)
	if err != nil {
		return nil, err
	}
	cache, err := build.DefaultCache()
	if err != nil {
		return nil, err
	}
	return nightly.New(cmd.Context(), nightly.Options{
		Repo: repo, Mode: round.Mode(f.mode), Groups: groups, Engine: *engine, Cache: cache, Space: f.spaceOf(),
		State: f.state, Push: f.push, TokenEnv: f.tokenEnv, Out: f.out,
	})
}

// variable is how the name of an environment variable is written. What is
// given as one and is not may be the token itself, so that it is not repeated.
var variable = regexp.MustCompile(`^[A-Z_][A-Z0-9_]{0,99}$`)

// check refuses flags that would come out only after hours of work.
func (f *nightFlags) check(cmd *cobra.Command) error {
	if f.tokenEnv != "" && !variable.MatchString(f.tokenEnv) {
		return verdict.Usagef("--token-env is the name of a variable, in capitals, such as DIST_TOKEN; the token itself is never an argument")
	}
	if cmd.Flags().Changed("offline") && f.offline && f.mode == string(round.Live) {
		return verdict.Usagef("--offline is for a dry run: a live night has to ask what is newest")
	}
	if f.out == "" {
		return nil
	}
	if err := os.MkdirAll(f.out, 0o777); err != nil {
		return verdict.Usagef("--out: the folder %s cannot be made: %s", f.out, reasonOf(err))
	}
	return nil
}

// reasonOf is what the system says, without the names around it.
func reasonOf(err error) string {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err.Error()
	}
	return err.Error()
}

// completeGroups completes names of groups.
func completeGroups(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	set, _, err := loadPins(cmd)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var names []cobra.Completion
	for _, g := range nightly.Groups(set) {
		names = append(names, g.Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// finish shows a night's report, leaves its page, and returns the error that
// sets the exit code.
func (f *nightFlags) finish(cmd *cobra.Command, n *nightly.Night, rep *nightly.Report) error {
	env := cli.From(cmd)
	if f.out != "" {
		if err := leavePage(cmd.Context(), n, f.out); err != nil {
			return err
		}
		env.Notef("the page and the proposals are in %s", shorten(f.out))
	}
	if err := showNight(env, rep); err != nil {
		return err
	}
	return cli.Done(rep.Verdict())
}

func leavePage(ctx context.Context, n *nightly.Night, dir string) error {
	p, err := n.Status(ctx)
	if err != nil {
		return err
	}
	return p.Write(dir)
}

func showNight(env *cli.Env, rep *nightly.Report) error {
	if env.JSON {
		return env.PrintJSON(rep)
	}
	t := cli.Table{Head: []string{"GROUP", "VERDICT", "STATE", "MOVES", "WHY"}}
	for _, g := range rep.Groups {
		t.Add(g.Group, string(g.Verdict), string(g.State), orDash(first(g.Moves)), orDash(inert.Line(g.Why, wide)))
		for _, more := range rest(g.Moves) {
			t.Add("", "", "", more, "")
		}
	}
	if err := t.Write(env.Out, env.Color); err != nil {
		return err
	}
	for _, g := range rep.Groups {
		for _, why := range g.Draft {
			env.Notef("%s: only a draft: %s", g.Group, why)
		}
	}
	for _, note := range rep.Notes {
		env.Notef("note: %s", note)
	}
	return nil
}

// wide is the longest reason in a table; JSON and the page have all of it.
const wide = 160

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

func rest(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	return list[1:]
}

// needFolder wants a flag that names the folder in which phases hand on.
func needFolder(dir, flag string) error {
	if dir == "" {
		return verdict.Usagef("say with --%s in which folder the phases hand on", flag)
	}
	return nil
}

func needFolderThere(dir, flag string) error {
	if err := needFolder(dir, flag); err != nil {
		return err
	}
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return verdict.Usagef("--%s: there is no folder %s: 'dist nightly resolve' makes it", flag, dir)
	}
	return nil
}
