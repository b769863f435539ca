// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package nightly

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/patches"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
	"github.com/1bit-MONSTER/engine/pipelines/nightly/ledger"
	"github.com/1bit-MONSTER/engine/pipelines/nightly/proposal"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

// reportFile is where the resolving phase leaves its report for the others.
const reportFile = "night.json"

// Resolve is the first phase. It has the network, and may push the state branch
// and the archive's refs, nothing else; it runs nothing that was fetched. For
// each group that may move it leaves a round.Folder below dir, and night.json.
func (n *Night) Resolve(ctx context.Context, dir string) (*Report, error) {
	if err := n.committed(ctx); err != nil {
		return nil, err
	}
	rep := n.report()
	if err := emptyFolder(dir); err != nil {
		return nil, err
	}
	if n.o.Mode == round.Live { // before hours of work
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
	remotes, err := fetch.LoadArchive(n.o.Repo)
	if err != nil {
		return nil, err
	}
	stacks, err := patches.Open(ctx, n.o.Repo)
	if err != nil {
		return nil, err
	}
	defer stacks.Close()
	if err := n.ledger.Unknown(); err != nil {
		rep.note("state unknown: " + inert.Line(err.Error(), 300))
	}
	for i := range n.groups {
		r := &resolving{Night: n, group: &n.groups[i], folder: round.Folder(filepath.Join(dir, n.groups[i].Name)), stacks: stacks, remotes: remotes}
		g, err := r.run(ctx)
		if ctx.Err() != nil {
			n.broken(ctx)
		}
		if err != nil {
			return nil, err
		}
		rep.Groups = append(rep.Groups, *g)
		rep.note(r.left...)
	}
	rep.note(n.ledger.Notes()...)
	return rep, round.WriteJSON(filepath.Join(dir, reportFile), rep)
}

func emptyFolder(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case os.IsNotExist(err):
		return os.MkdirAll(dir, 0o777)
	case errors.Is(err, syscall.ENOTDIR):
		return verdict.Usagef("%s is no folder: a night hands on in a folder of its own", dir)
	case err == nil && len(entries) > 0:
		return verdict.Usagef("%s is not empty: a night hands on in a folder of its own", dir)
	}
	return err
}

// A resolving is one group on its way through the first phase.
type resolving struct {
	*Night
	group   *Group
	folder  round.Folder
	stacks  *patches.Repository
	remotes []fetch.ArchiveRemote

	memory *ledger.Memory
	found  *round.Found
	left   []string // what could not be handed on to its gates, a sentence each
	report GroupReport
}

func (r *resolving) run(ctx context.Context) (*GroupReport, error) {
	g := &r.report
	g.Group = r.group.Name
	if why := r.stopped(g.Group); why != "" {
		g.State, g.Verdict, g.Why = Newest, verdict.Held, why
		return g, r.end(ctx)
	}
	if err := r.ledger.Claim(ctx, g.Group, r.id); err != nil {
		if verdict.Of(err) != verdict.Held {
			return nil, err
		}
		// Another run tells what becomes of it.
		g.State, g.Verdict, g.Why = Newest, verdict.Held, inert.Line(err.Error(), 300)
		return g, nil
	}
	more, err := r.walk(ctx, PhaseResolve, Newest, g, map[State]work{
		Newest: r.newest, Cooldown: r.cooldown, Schedule: r.schedule, Hold: r.hold, Reject: r.reject,
		Throttle: r.throttle, Fetch: r.fetch, Archive: r.archive, Wait: r.wait, Done: r.done,
	})
	if err != nil {
		return nil, err
	}
	g.Handed = more
	if more {
		return g, nil
	}
	return g, r.end(ctx)
}

// end records what the night came to for the group.
func (r *resolving) end(ctx context.Context) error {
	return r.Night.end(ctx, &r.report)
}

// end records what a night came to for a group.
func (n *Night) end(ctx context.Context, g *GroupReport) error {
	return n.ledger.Append(ctx, ledger.Event{
		Kind: ledger.Ended, Night: n.id, Group: g.Group, State: string(g.State), Verdict: g.Verdict, Why: g.Why,
		RoundID: g.Round, Try: g.Try, Gates: g.Gates,
	})
}

// newest asks the upstreams, once and at one moment, and writes down what they
// have.
func (r *resolving) newest(ctx context.Context) (Outcome, error) {
	if err := r.merged(ctx); err != nil {
		return "", err
	}
	found, err := round.Resolve(ctx, r.engine, r.o.Repo, r.group.Name, r.group.Members, nil)
	if err != nil {
		return "", err
	}
	r.found = found
	sighted := ledger.Event{Kind: ledger.Sighted, Night: r.id, Group: r.group.Name}
	for _, m := range found.Round.Members {
		// Of a member that could not be asked nothing is known, least of all that
		// it is where it was: that would end the time for which it has been behind.
		if m.To.ID == "" || found.Errors[m.Pin] != nil && !m.Moves() {
			return "", found.Err()
		}
		sighted.Members = append(sighted.Members, ledger.Sight{Pin: m.Pin, Locked: m.From, Newest: m.To, Behind: found.Behind[m.Pin]})
	}
	if err := r.ledger.Append(ctx, sighted); err != nil {
		return "", err
	}
	if r.memory, err = r.ledger.Memory(ctx, r.group.Name); err != nil {
		return "", err
	}
	if err := found.Err(); err != nil {
		return "", err
	}
	r.settle()
	if len(found.Round.Moves()) == 0 {
		r.report.Why = "it is up to date"
		return Nothing, nil
	}
	return Go, nil
}

// merged writes down that what was proposed earlier is on main by now.
func (r *resolving) merged(ctx context.Context) error {
	memory, err := r.ledger.Memory(ctx, r.group.Name)
	if err != nil {
		return err
	}
	r.memory = memory
	p := memory.Proposal
	if p == nil || p.Round == nil {
		return nil
	}
	standing, err := proposal.StandingOf(ctx, r.repo, r.base, p.Round)
	if err != nil || standing != proposal.Merged {
		return err
	}
	return r.ledger.Append(ctx, ledger.Event{Kind: ledger.Done, Night: r.id, Group: r.group.Name, RoundID: p.RoundID, Branch: p.Branch, Commit: p.Commit})
}

// settle fills in what the night and the ledger know of the round.
func (r *resolving) settle() {
	x := r.found.Round
	x.Night, x.Mode, x.Base = r.id, r.o.Mode, r.base
	x.ID = x.Identify()
	for i := range x.Members {
		x.Members[i].Seen = r.firstSeen(&x.Members[i])
	}
	x.Try = r.memory.Tries(x.ID) + 1
	if tried := r.memory.Round(x.ID); tried != nil {
		x.At = tried.At
	}
	r.report.Round, r.report.Moves, r.report.Try = x.ID, moves(x), x.Try
}

// firstSeen is when a member's new version was first seen. What nobody wrote
// down was seen now: only a version that is known to be old enough moves.
func (r *resolving) firstSeen(m *round.Member) time.Time {
	if at, ok := r.memory.FirstSeen(m.Pin, m.To); ok {
		return at
	}
	return r.now()
}

// moves says what moves, in words.
func moves(x *round.Round) []string {
	var list []string
	for _, m := range x.Moves() {
		list = append(list, fmt.Sprintf("%s: %s -> %s", m.Pin, m.From, m.To))
	}
	return list
}

// grace is what a version may lack of its minimum age: a night begins some
// minutes earlier or later than the one before.
const grace = time.Hour

// cooldown finds the newest versions of the group that were known for long
// enough. Where the very newest are too young, those that an earlier night saw
// are taken, as they were seen together: an upstream that moves every day would
// never move otherwise.
func (r *resolving) cooldown(ctx context.Context) (Outcome, error) {
	wait := r.young(r.found.Round)
	if wait == "" {
		return Go, nil
	}
	for _, s := range r.memory.Since() {
		at := round.Round{}
		for _, m := range s.Members {
			at.Members = append(at.Members, round.Member{Pin: m.Pin, From: m.Locked, To: m.Newest})
		}
		if len(at.Members) != len(r.group.Members) || len(at.Moves()) == 0 {
			continue
		}
		for i := range at.Members {
			at.Members[i].Seen = r.firstSeen(&at.Members[i])
		}
		if r.young(&at) != "" {
			continue
		}
		found, err := round.Resolve(ctx, r.engine, r.o.Repo, r.group.Name, r.group.Members, at.Members)
		if err != nil {
			return "", err
		}
		if err := found.Err(); verdict.Of(err) == verdict.Infra {
			return "", err
		} else if err != nil || len(found.Round.Moves()) == 0 {
			continue // it is not to be had any more
		}
		r.found = found
		r.settle()
		return Go, nil
	}
	return "", verdict.Heldf("%s", wait)
}

// young says which member of a round is too young, and until when.
func (r *resolving) young(x *round.Round) string {
	for _, m := range x.Moves() {
		age := r.policy.MinAge
		if p := r.set.Pin(m.Pin); p != nil && p.Track.MinAge > 0 {
			age = p.Track.MinAge
		}
		if r.now().Sub(m.Seen) < age-grace {
			return fmt.Sprintf("%s %s was first seen on %s: it may move after %s", m.Pin, m.To, moment(m.Seen), moment(m.Seen.Add(age)))
		}
	}
	return ""
}

// schedule keeps a group that moves once a week from moving every night. A
// round that was begun may be tried again.
func (r *resolving) schedule(context.Context) (Outcome, error) {
	due := r.memory.LastBegan.Add(r.group.every())
	if r.memory.LastBegan.IsZero() || !r.now().Before(due) || r.memory.Round(r.found.Round.ID) != nil {
		return Go, nil
	}
	return "", verdict.Heldf("it moves once a %s: the last round began on %s", r.group.often(), r.memory.LastBegan.Format(time.DateOnly))
}

// hold leaves out what a person holds. Without the others' moving alone being
// allowed, the whole group stays.
func (r *resolving) hold(context.Context) (Outcome, error) {
	return r.without(func(m *round.Member) string {
		p := r.set.Pin(m.Pin)
		if !p.Hold.Active(r.now()) {
			return ""
		}
		why := m.Pin + " is held: " + inert.Line(p.Hold.Reason, 200)
		if p.Hold.Until != "" {
			why += ", until " + string(p.Hold.Until)
		}
		return why
	})
}

// reject leaves out versions that a person does not want.
func (r *resolving) reject(context.Context) (Outcome, error) {
	return r.without(func(m *round.Member) string {
		reject, is := r.set.Pin(m.Pin).Rejected(m.To.ID)
		if !is {
			return ""
		}
		why := m.Pin + " " + m.To.String() + " is rejected"
		if reject.Why != "" {
			why += ": " + inert.Line(reject.Why, 200)
		}
		return why
	})
}

// without makes members stay for which stays has a reason.
func (r *resolving) without(stays func(*round.Member) string) (Outcome, error) {
	x := r.found.Round
	var staying []string
	var why string
	for _, m := range x.Moves() {
		if s := stays(m); s != "" {
			staying, why = append(staying, m.Pin), s
		}
	}
	if len(staying) == 0 {
		return Go, nil
	}
	if !r.group.Split || len(staying) == len(x.Moves()) {
		return "", verdict.Heldf("%s", why)
	}
	x.Stay(staying...)
	x.Draft = append(x.Draft, why)
	r.settle()
	return Go, nil
}

// throttle keeps a round that failed often from failing every night.
func (r *resolving) throttle(ctx context.Context) (Outcome, error) {
	x := r.found.Round
	if p := r.memory.Proposal; p != nil && p.RoundID == x.ID {
		open, err := r.open(ctx, p)
		if err != nil || open {
			return Open, err
		}
	}
	if tries := r.memory.Tries(x.ID); tries >= r.policy.Tries {
		r.report.Try = tries
		last := ""
		if why := r.lastTry(x.ID); why != "" {
			last = "; the last time: " + why
		}
		return "", verdict.Heldf("this round was tried %d times: 'dist nightly retry %s' has it tried again%s", tries, x.Group, last)
	}
	if err := r.free(ctx); err != nil {
		return "", err
	}
	return Go, r.ledger.Append(ctx, ledger.Event{Kind: ledger.Began, Night: r.id, Group: x.Group, RoundID: x.ID, Try: x.Try, Round: x})
}

// lastTry is how the last try of a round ended, in words. Nights that did not
// try it have nothing to say.
func (r *resolving) lastTry(id string) string {
	for _, e := range slices.Backward(r.memory.Nights) {
		if e.Ended && e.RoundID == id && State(e.State) != Throttle && e.Why != "" {
			return inert.Line(e.Why, 200)
		}
	}
	return ""
}

// fetch brings the content here, verified.
func (r *resolving) fetch(ctx context.Context) (Outcome, error) {
	return Go, r.found.Fetch(ctx, r.stacks)
}

// archive has the new versions kept by us, and hands on what the gates need.
func (r *resolving) archive(ctx context.Context) (Outcome, error) {
	x := r.found.Round
	var receipts []fetch.Archived
	var err error
	if r.o.Mode == round.DryRun && len(r.remotes) > 0 {
		receipts = x.Unarchived(r.set, "a dry run pushes nothing to the archive")
	} else if receipts, err = x.Archive(ctx, r.engine, r.set, r.remotes); err != nil && verdict.Of(err) != verdict.Skipped {
		return "", err
	}
	handed, err := r.folder.Hand(ctx, x, r.engine, round.HandOptions{Base: r.set, Stacks: r.stacks, Receipts: receipts, Recipes: r.o.Recipes})
	if err != nil {
		return "", err
	}
	r.report.Draft = x.Draft
	for _, text := range handed.Left {
		r.left = append(r.left, x.Group+": "+inert.Line(text, 300))
	}
	data, err := os.ReadFile(r.folder.Round())
	if err != nil {
		return "", err
	}
	return Go, r.ledger.Append(ctx, ledger.Event{Kind: ledger.Handed, Night: r.id, Group: x.Group, RoundID: x.ID, Digest: proposal.RoundDigest(data)})
}

// done is what there is to do for a group that is up to date.
func (r *resolving) done(context.Context) (Outcome, error) { return Nothing, nil }
