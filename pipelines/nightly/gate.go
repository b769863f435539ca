// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package nightly

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/build"
	"github.com/1bit-MONSTER/engine/pipelines/nightly/proposal"
	"github.com/1bit-MONSTER/engine/pipelines/round"
	"github.com/1bit-MONSTER/engine/pipelines/round/gate"
)

// Gate is the second phase, for one group: it runs upstream code, with no
// network and no secrets, on the folder that the first phase left and on the
// repository that it runs in, and leaves verdicts and a proposal in the folder.
// It knows no remote and writes to none.
func (n *Night) Gate(ctx context.Context, folder round.Folder) (*GroupReport, error) {
	if err := n.committed(ctx); err != nil {
		return nil, err
	}
	opened, err := folder.Open(ctx, n.set)
	if err != nil {
		return nil, err
	}
	x := opened.Round
	if x.Base != n.base {
		return nil, verdict.Usagef("this round stands on commit %s, and %s is at %s: check that commit out", x.Base.Short(), n.o.Repo, n.base.Short())
	}
	if x.Mode == round.Live && (n.o.Space != build.Sandboxed || len(n.o.Without) > 0) {
		return nil, verdict.Usagef("this round is a live one: its gates all run, in the sandbox, with pinned tools")
	}
	group, err := n.group(x.Group)
	if err != nil {
		return nil, err
	}
	opened.Engine.Clock, opened.Engine.Progress = n.o.Engine.Clock, n.o.Engine.Progress
	g := &gating{Night: n, group: group, folder: folder, opened: opened, round: x}
	defer g.close()
	if err := g.clean(); err != nil {
		return nil, err
	}
	g.report = GroupReport{Group: x.Group, Round: x.ID, Moves: moves(x), Try: x.Try, Handed: true}
	_, err = n.walk(ctx, PhaseGate, Rebase, &g.report, map[State]work{Rebase: g.rebase, Gates: g.gates, Commit: g.commit})
	if err != nil {
		return nil, err
	}
	return &g.report, round.WriteJSON(outcomeFile(folder), &g.report)
}

// outcomeFile is where the gates leave their report.
func outcomeFile(f round.Folder) string { return filepath.Join(string(f), "outcome.json") }

// A gating is one group on its way through the second phase.
type gating struct {
	*Night
	group  *Group
	folder round.Folder
	opened *round.Opened
	round  *round.Round

	prepared *proposal.Prepared
	results  []gate.Result
	report   GroupReport
}

func (g *gating) close() {
	if g.prepared != nil {
		g.prepared.Close()
	}
}

// clean removes what a killed run of these gates left.
func (g *gating) clean() error {
	for _, path := range []string{g.folder.Verdicts(), g.folder.Logs(), g.folder.Proposal(), g.folder.Body(), g.folder.Bundle(), outcomeFile(g.folder), g.folder.Split(), g.scratch()} {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return os.MkdirAll(g.scratch(), 0o777)
}

func (g *gating) scratch() string { return filepath.Join(string(g.folder), "scratch") }

// rebase reads again what was handed on, which may have lain anywhere, and makes
// the work trees that the gates look at: main as it is, and with
// the round's pins and its patches rebased.
func (g *gating) rebase(ctx context.Context) (Outcome, error) {
	if g.prepared == nil { // not again for half of the round
		if err := g.folder.Verify(ctx, g.set); err != nil {
			return "", err
		}
	}
	g.close()
	prepared, err := proposal.Prepare(ctx, proposal.PrepareOptions{Repo: g.repo, Round: g.round, Engine: g.opened.Engine, Scratch: g.scratch()})
	g.prepared = prepared
	return Go, err
}

// gates runs all gates. A stack that does not apply is a gate's verdict too, so
// that one night has all the news.
func (g *gating) gates(ctx context.Context) (Outcome, error) {
	p := g.prepared
	s := p.Subject(g.opened.Receipts, g.now())
	s.Recipes = g.o.Recipes
	s.Workshop = func() (*build.Workshop, error) { return g.workshop(), nil }
	g.results = gate.Run(ctx, s, g.allGates(), g.folder.Logs())
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if stay := g.half(); len(stay) > 0 {
		return Mixed, g.split(stay)
	}
	g.report.gated(g.results)
	made, err := proposal.Make(ctx, proposal.MakeOptions{Repo: g.repo, Prepared: p, Results: g.results, Folder: g.folder})
	if err != nil {
		return "", err
	}
	if made.Verdict != verdict.Pass {
		return "", verdict.New(made.Verdict, made.Why)
	}
	g.report.Draft, g.report.Commit, g.report.Branch = made.Draft, made.Commit, made.Branch
	return Go, nil
}

// workshop builds with the round in it, from what the folder has.
func (g *gating) workshop() *build.Workshop {
	toolchain, _ := build.GoPinOf(g.prepared.Next.Pin("go")) // what is built with it says that it is not there
	o := build.Options{
		Offline: true,
		Repo:    g.prepared.NextDir, Out: filepath.Join(g.scratch(), "out"), Cache: build.Cache{Dir: g.folder.Cache()}, Go: toolchain,
		NoSandbox: g.o.Space == build.NoSandbox, Progress: g.o.Engine.Progress,
	}
	return build.NewWorkshop(build.WorkshopOptions{Serve: o, Engine: g.prepared.Engine, Space: g.o.Space, Recipes: g.o.Recipes})
}

// half returns the pins that would have to stay for the rest to go: those that
// no longer provide what others use. It is empty where the group moves whole or
// not at all.
func (g *gating) half() []string {
	if !g.group.Split || g.round.Mixed {
		return nil
	}
	broken := false
	for _, r := range g.results {
		broken = broken || r.Gate == "contracts" && r.Verdict == verdict.Fail
	}
	if !broken {
		return nil
	}
	var stay []string
	contracts := g.set.Group(g.group.Name).Contracts
	for _, m := range g.round.Moves() {
		for _, c := range contracts {
			if c.Provider.Pin == m.Pin && !slices.Contains(stay, m.Pin) {
				stay = append(stay, m.Pin)
			}
		}
	}
	if len(stay) == len(g.round.Moves()) {
		return nil
	}
	return stay
}

// split goes on with half of the round. It is a round of its own, and what it
// leaves out is written down for the phase that proposes.
func (g *gating) split(stay []string) error {
	half, err := g.round.Without(stay...)
	if err != nil {
		return err
	}
	g.round = half
	g.report.Round, g.report.Moves = half.ID, moves(half)
	return round.WriteJSON(g.folder.Split(), stay)
}

// commit is where what the gates passed becomes what is proposed. The commit
// itself was made before, so that the text of the proposal can name it.
func (g *gating) commit(context.Context) (Outcome, error) { return Go, nil }

// allGates are the gates of this night.
func (n *Night) allGates() []gate.Gate {
	return slices.DeleteFunc(gate.All(), func(g gate.Gate) bool { return slices.Contains(n.o.Without, g.Name) })
}
