// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package nightly

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/nightly/ledger"
	"github.com/1bit-MONSTER/engine/pipelines/nightly/proposal"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

// Propose is the third phase. It has the right to push, executes nothing that
// was fetched, and takes nothing from the folders on trust: the round must be
// the one that the first phase wrote down, and the commit exactly what that
// round makes. It also runs where gates failed or never ended, to record it.
func (n *Night) Propose(ctx context.Context, dir string) (*Report, error) {
	if err := n.committed(ctx); err != nil {
		return nil, err
	}
	rep, err := n.readReport(dir)
	if err != nil {
		return nil, err
	}
	n.id = rep.Night
	if n.o.Mode == round.Live { // before anything is written down
		if _, err := n.pushRemote(ctx); err != nil {
			return nil, err
		}
	}
	if err := n.openLedger(ctx); err != nil {
		return nil, err
	}
	if err := n.ledger.Probe(ctx, n.id); err != nil {
		return nil, err
	}
	if err := n.takeOver(ctx, rep); err != nil {
		return nil, err
	}
	for i := range rep.Groups {
		g := &rep.Groups[i]
		if !g.Handed {
			continue
		}
		p := &proposing{Night: n, folder: round.Folder(filepath.Join(dir, g.Group)), report: g}
		if err := p.run(ctx); err != nil {
			return nil, err
		}
	}
	rep.note(n.ledger.Notes()...)
	return rep, nil
}

// A proposing is one group on its way through the third phase.
type proposing struct {
	*Night
	folder round.Folder
	report *GroupReport

	memory *ledger.Memory
	handed string // id of the round that was handed on; half of it may be proposed
	made   *proposal.Verified
}

func (p *proposing) run(ctx context.Context) error {
	g := p.report
	memory, err := p.ledger.Memory(ctx, g.Group)
	if err != nil {
		return err
	}
	p.memory = memory
	handed := memory.Handed
	if handed == nil || handed.Night != p.id { // another run recorded it just now
		*g = *p.told(g.Group, memory, g)
		return nil
	}
	p.handed = handed.RoundID
	if err := p.gated(ctx, handed.Digest); err != nil {
		g.Verdict, g.Why = verdict.Of(err), inert.Line(err.Error(), 500)
		return p.end(ctx, g)
	}
	if _, err := p.walk(ctx, PhasePropose, Propose, g, map[State]work{Propose: p.propose, Wait: p.wait}); err != nil {
		return err
	}
	return p.end(ctx, g)
}

// gated takes over what the gates found; the error is why there is nothing to
// propose.
func (p *proposing) gated(ctx context.Context, digest string) error {
	g := p.report
	g.State = Gates
	var outcome GroupReport
	err := round.ReadJSON(outcomeFile(p.folder), &outcome)
	if errors.Is(err, fs.ErrNotExist) {
		return verdict.Infraf("its gates did not end: the machine that ran them is gone, or never began")
	}
	if err != nil {
		return err
	}
	if outcome.Verdict == "" {
		return verdict.Failf("what its gates left (%s) has no verdict: it is not theirs", filepath.Base(outcomeFile(p.folder)))
	}
	for _, s := range []State{Rebase, Gates, Commit} { // the others are not for the gates to say
		if outcome.State == s {
			g.State = s
		}
	}
	if len(outcome.Gates) == 0 && outcome.Verdict != verdict.Pass {
		why := inert.Line(outcome.Why, 500)
		if why == "" {
			why = "its gates did not begin, and do not say why"
		}
		return verdict.New(unpassed(outcome.Verdict), why)
	}
	var names []string
	for _, x := range p.allGates() {
		names = append(names, x.Name)
	}
	p.made, err = proposal.Verify(ctx, proposal.VerifyOptions{Repo: p.repo, Folder: p.folder, Digest: digest, Gates: names})
	var missing *proposal.Missing
	if errors.As(err, &missing) && outcome.Verdict != verdict.Pass && outcome.Why != "" {
		return verdict.New(unpassed(outcome.Verdict), inert.Line(outcome.Why, 500)) // they say why
	}
	if err != nil {
		return err
	}
	g.gated(p.made.Results)
	x := p.made.Proposal
	g.Round, g.Moves, g.Draft = p.made.Round.ID, moves(p.made.Round), nil
	if p.o.Out != "" {
		if err := proposal.Leave(p.folder, filepath.Join(p.o.Out, "proposals", g.Group)); err != nil {
			return err
		}
	}
	if x.Verdict != verdict.Pass {
		return verdict.New(x.Verdict, x.Why)
	}
	g.Branch, g.Commit, g.Draft = x.Branch, x.Commit, x.Draft
	return nil
}

// unpassed reads a verdict that upstream code may have written: what is not one
// is a failure, and it cannot say pass.
func unpassed(v verdict.Verdict) verdict.Verdict {
	if !v.Known() || v == verdict.Pass {
		return verdict.Fail
	}
	return v
}

// propose pushes the branch. The commit is written down first, so that a run
// that is killed in between knows its own commit again.
func (p *proposing) propose(ctx context.Context) (Outcome, error) {
	x := p.made.Proposal
	p.report.Why = "it would be proposed as " + x.Branch
	if p.o.Mode != round.Live {
		return Go, nil
	}
	remote, err := p.pushRemote(ctx)
	if err != nil {
		return "", err
	}
	event := ledger.Event{Night: p.id, Group: p.report.Group, RoundID: p.handed, Branch: x.Branch, Commit: string(x.Commit), Draft: len(x.Draft) > 0}
	event.Kind = ledger.Pushing
	if err := p.ledger.Append(ctx, event); err != nil {
		return "", err
	}
	if _, err := proposal.Push(ctx, p.repo, remote, x, append(p.ours(p.memory), x.Commit)); err != nil {
		return "", unpushed(x.Branch, err)
	}
	event.Kind, event.Round = ledger.Proposed, p.made.Round
	p.report.Why = "it is proposed as " + x.Branch + " and waits for a person"
	return Go, p.ledger.Append(ctx, event)
}

// ours are the commits at which the branch of a group may stand without anybody
// losing something: what was proposed, what was about to be, and what is merged.
func (n *Night) ours(m *ledger.Memory) []git.ID {
	list := []git.ID{n.base}
	for _, earlier := range []*ledger.Proposal{m.Proposal, m.Pushing, m.Merged} {
		if earlier != nil && earlier.Commit != "" {
			list = append(list, git.ID(earlier.Commit))
		}
	}
	return list
}

// unpushed is the error of a branch that could not be pushed. Whatever the
// remote has against it, or against us, says nothing about the round.
func unpushed(branch string, err error) error {
	var taken *proposal.Occupied
	if errors.As(err, &taken) {
		return err
	}
	return verdict.Infraf("the branch %s cannot be pushed: %w", branch, err)
}

// pushRemote is where the branches of proposals go.
func (n *Night) pushRemote(ctx context.Context) (git.Remote, error) {
	return n.remote(ctx, "push-remote", n.o.Push)
}

func (p *proposing) wait(context.Context) (Outcome, error) { return Stopped, nil }

// credential is what pushes are allowed by. It is read when it is needed and
// kept nowhere.
func (n *Night) credential() git.Credential {
	if n.o.TokenEnv == "" {
		return git.Credential{}
	}
	token := strings.TrimSpace(os.Getenv(n.o.TokenEnv))
	if token == "" {
		return git.Credential{}
	}
	return git.Credential{User: "x-access-token", Password: token}
}
