// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/clock"
	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/progress"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/build"
	"github.com/1bit-MONSTER/engine/pipelines/nightly/proposal"
	"github.com/1bit-MONSTER/engine/pipelines/round"
	"github.com/1bit-MONSTER/engine/pipelines/round/gate"
)

// gateFlags are the flags of dist gate run.
type gateFlags struct {
	network
	groups []string
	logs   string
	round  string
}

// A gated group is what the gates found.
type gated struct {
	Group   string          `json:"group"`
	Verdict verdict.Verdict `json:"verdict"`
	Draft   []string        `json:"draft,omitempty"` // why a proposal could only be a draft
	Logs    string          `json:"logs"`            // the folder that the logs of results are below
	Gates   []gate.Result   `json:"gates"`
}

func newGateRun() *cobra.Command {
	var f gateFlags
	cmd := &cobra.Command{
		Use:   "run [GATE...]",
		Short: "Run gates on the pins as they are in the work tree",
		Long: `Run the named gates, or all, on what moved between the last commit and the work
tree: before a bump that was made by hand is committed. Each group that moved is
looked at by itself; --group names one, also where nothing moved.

With --round it is the round of a folder that 'dist nightly resolve' handed on,
on the commit that it was made for, offline and with nothing but that folder.

A component is built when no cheaper gate stops the group. Without names of
gates the exit code is what the nightly job would make of the group: pass also
where its proposal could only be a draft, for the reasons that are shown. With
names it is that of the worst verdict.`,
		Example: `  dist gate run
  dist gate run contracts downloads
  dist gate run contracts --group hrx
  dist gate run --offline --json
  dist gate run --round night/zinc build`,
		Args:              cli.Args(cobra.ArbitraryArgs),
		ValidArgsFunction: completeGates,
		RunE:              f.run,
	}
	f.network.flags(cmd)
	cmd.Flags().StringArrayVar(&f.groups, "group", nil, "only this group, by its name or a member's; repeatable")
	cmd.Flags().StringVar(&f.round, "round", "", "the folder of a round that was handed on, instead of the work tree")
	cmd.Flags().StringVar(&f.logs, "logs", "", "folder for the logs (default: gates in the cache)")
	return cmd
}

func (f *gateFlags) run(cmd *cobra.Command, args []string) error {
	if f.round != "" && len(f.groups) > 0 {
		return verdict.Usagef("--round is one group's: --group does not go with it")
	}
	gates := gate.All()
	if len(args) > 0 {
		gates = nil
		for _, name := range args {
			g, err := gate.Find(name)
			if err != nil {
				return err
			}
			gates = append(gates, g)
		}
	}
	repo, err := repository(cmd)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "dist-gate-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	if f.logs == "" {
		cache, err := build.DefaultCache()
		if err != nil {
			return err
		}
		f.logs = filepath.Join(cache.Dir, "gates")
	}
	subjects, err := f.subjects(cmd, repo, scratch)
	if err != nil {
		return err
	}
	all := []gated{}
	for _, s := range subjects {
		logs := filepath.Join(f.logs, s.Round.Group)
		s.Workshop = func() (*build.Workshop, error) { return f.workshop(cmd, s, filepath.Join(logs, "out")) }
		g := gated{Group: s.Round.Group, Logs: f.logs, Gates: gate.Run(cmd.Context(), s, gates, logs)}
		g.Verdict, g.Draft = gate.Decision(g.Gates)
		if len(args) > 0 {
			g.Verdict = gate.Worst(g.Gates)
		}
		all = append(all, g)
	}
	return showRows(cli.From(cmd), all, printGated, func(g gated) verdict.Verdict { return g.Verdict })
}

// subjects returns what the gates look at.
func (f *gateFlags) subjects(cmd *cobra.Command, repo, scratch string) ([]*gate.Subject, error) {
	if f.round != "" {
		s, err := handedOn(cmd, repo, round.Folder(f.round), scratch)
		return []*gate.Subject{s}, err
	}
	engine, _, err := f.network.engine(cmd)
	if err != nil {
		return nil, err
	}
	if _, err := gate.Checkout(cmd.Context(), repo, "HEAD", scratch); err != nil {
		return nil, err
	}
	present := gate.Present{Repo: repo, Base: scratch, Engine: engine, Now: clock.System(), Groups: f.groups}
	return present.Subjects(cmd.Context())
}

// handedOn prepares the round of a folder, as the nightly job does.
func handedOn(cmd *cobra.Command, repo string, folder round.Folder, scratch string) (*gate.Subject, error) {
	ctx := cmd.Context()
	if err := needFolderThere(string(folder), "round"); err != nil {
		return nil, err
	}
	r, err := round.Read(folder.Round())
	if err != nil {
		return nil, err
	}
	main := filepath.Join(scratch, "main")
	if err := os.Mkdir(main, 0o777); err != nil {
		return nil, err
	}
	if _, err := gate.Checkout(ctx, repo, string(r.Base), main); err != nil {
		return nil, err
	}
	base, err := pins.Load(filepath.Join(main, "pins"))
	if err != nil {
		return nil, err
	}
	opened, err := folder.Open(ctx, base)
	if err != nil {
		return nil, err
	}
	own, err := git.Open(ctx, repo)
	if err != nil {
		return nil, err
	}
	p, err := proposal.Prepare(ctx, proposal.PrepareOptions{Repo: own, Round: opened.Round, Engine: opened.Engine, Scratch: scratch})
	if err != nil {
		return nil, err
	}
	return p.Subject(opened.Receipts, clock.System()), nil
}

// workshop builds in the sandbox with the pinned toolchains, as a night does.
func (f *gateFlags) workshop(cmd *cobra.Command, s *gate.Subject, out string) (*build.Workshop, error) {
	g, err := build.GoPinOf(s.Next.Pin("go"))
	if err != nil {
		return nil, err
	}
	env := cli.From(cmd)
	return build.NewWorkshop(build.WorkshopOptions{Engine: s.Engine, Serve: build.Options{
		Repo: s.NextDir, Out: out, Cache: build.Cache{Dir: s.Engine.CacheDir}, Go: g, Progress: progress.New(env.Err, env.Terminal),
	}}), nil
}

func printGated(env *cli.Env, all []gated) error {
	if len(all) == 0 {
		env.Notef("dist: no pin moved since the last commit: there is nothing to look at; --group looks at a group all the same")
		return nil
	}
	table := cli.Table{Head: []string{"GROUP", "GATE", "VERDICT", "TIME"}}
	for _, g := range all {
		for _, r := range g.Gates {
			table.Add(g.Group, r.Gate, string(r.Verdict), seconds(r.Seconds))
		}
	}
	if err := table.Write(env.Out, env.Color); err != nil {
		return err
	}
	for _, g := range all {
		for _, r := range g.Gates {
			if r.Why != "" {
				env.Notef("dist: %s: %s: %s", g.Group, r.Gate, r.Why)
			}
			if r.Details != "" && (r.Person || r.Verdict != verdict.Pass) {
				for line := range strings.Lines(inert.Text(r.Details, 200, 200)) {
					env.Notef("  %s", strings.TrimSuffix(line, "\n"))
				}
			}
		}
		if len(g.Draft) > 0 && g.Verdict == verdict.Pass {
			env.Notef("dist: %s: it could be proposed as a draft only", g.Group)
		}
		env.Notef("dist: %s: the logs are in %s", g.Group, shorten(filepath.Join(g.Logs, g.Group)))
	}
	return nil
}
