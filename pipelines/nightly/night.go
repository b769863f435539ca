// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package nightly is a night: for each group of pins it finds what is newest,
// decides whether it may move, tries whether it still fits and builds, and
// proposes it, or says for what one reason it does not. It is for the nightly
// job ('dist nightly') and for whoever wants to see on one machine what that
// job would do.
//
// A night has three phases with different rights, so that secrets and upstream
// code never meet (see Resolve, Gate and Propose). What a group goes through is
// the list Transitions. What nights remember is in package ledger; the forge
// behind the proposal's branch is not known here.
package nightly

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/clock"
	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/build"
	"github.com/1bit-MONSTER/engine/pipelines/fetch"
	"github.com/1bit-MONSTER/engine/pipelines/nightly/ledger"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

// Options say what a night is about.
type Options struct {
	Repo   string     // folder of our repository's work tree
	Mode   round.Mode // round.DryRun when empty
	Groups []string   // names of groups or of their pins; none: all

	// Engine is the template of what asks the upstreams; its Set is filled in.
	Engine  fetch.Engine
	Cache   build.Cache
	Recipes []*build.Recipe // nil: build.Recipes()
	Space   build.Space     // where steps run; a live night has the sandbox only

	State    string // remote of the state branch: a name or an address; empty: origin
	Push     string // remote of the proposals' branches; empty: origin
	TokenEnv string // the variable that holds the password for both; empty: none

	Out     string   // gets proposals/<group>/; empty: nothing is left
	Without []string // gates that are left out; never in a live night

	// After is called after each transition; tests end the process there.
	After func(group string, t Transition)
}

// A Night is one run over the groups. It must be closed.
type Night struct {
	o      Options
	id     string
	repo   *git.Repo
	base   git.ID
	set    *pins.Set
	groups []Group // those that are asked for
	all    []Group
	policy *Policy
	engine *fetch.Engine
	ledger *ledger.Ledger // opened by the phases that may
}

// New looks at the repository. It touches no network.
func New(ctx context.Context, o Options) (*Night, error) {
	if o.Mode == "" {
		o.Mode = round.DryRun
	}
	if o.Mode != round.DryRun && o.Mode != round.Live {
		return nil, verdict.Usagef("--mode is %s or %s", round.DryRun, round.Live)
	}
	if o.Mode == round.Live && len(o.Without) > 0 {
		return nil, verdict.Usagef("a live night leaves out no gate")
	}
	if o.Space == "" {
		o.Space = build.Sandboxed
	}
	if o.Mode == round.Live && o.Space != build.Sandboxed {
		return nil, verdict.Usagef("a live night runs upstream code in the sandbox only, with pinned tools")
	}
	if o.Engine.Clock == nil {
		o.Engine.Clock = clock.System
	}
	n := &Night{o: o}
	var err error
	if n.repo, err = git.Open(ctx, o.Repo); err != nil {
		return nil, verdict.Usagef("%s", err)
	}
	if n.base, err = n.repo.RevParse(ctx, "HEAD"); err != nil {
		return nil, verdict.Usagef("%s has no commit yet", o.Repo)
	}
	if n.set, err = pins.Load(filepath.Join(o.Repo, "pins")); err != nil {
		return nil, err
	}
	n.all = Groups(n.set)
	if n.policy, err = LoadPolicy(o.Repo, groupNames(n.all)); err != nil {
		return nil, err
	}
	if n.groups, err = groupsNamed(n.all, o.Groups); err != nil {
		return nil, err
	}
	engine := o.Engine
	engine.Set = n.set
	n.engine = &engine
	n.id = nightID(n.now())
	return n, nil
}

// Close lets go of what the night holds.
func (n *Night) Close() error {
	if n.ledger != nil {
		return n.ledger.Close()
	}
	return nil
}

func (n *Night) now() time.Time { return n.o.Engine.Clock().UTC() }

// nightID is readable, sorts by time, and differs between two runs of one
// second.
func nightID(now time.Time) string {
	var b [3]byte
	rand.Read(b[:])
	return now.UTC().Format("20060102-150405-") + hex.EncodeToString(b[:])
}

// committed refuses a work tree whose pins, patches or rules are not those of
// HEAD: a round stands on a commit.
func (n *Night) committed(ctx context.Context) error {
	c := git.Command("", "status", "--porcelain", "-z", "--untracked-files=all", "--ignore-submodules=none", "--", "pins", "patches", "ci", "NOTICE")
	c.Dir = n.o.Repo
	r, err := c.Run(ctx)
	if err != nil {
		return fmt.Errorf("look at the work tree: %w", err)
	}
	entries := strings.Split(strings.Trim(string(r.Stdout), "\x00"), "\x00")
	if entries[0] == "" {
		return nil
	}
	return verdict.Usagef("%s is not as committed: a night stands on a commit; commit or stash it first", inert.Quote(entries[0][min(3, len(entries[0])):], 200))
}

// openLedger opens what nights remember.
func (n *Night) openLedger(ctx context.Context) error {
	if n.ledger != nil {
		return nil
	}
	remote, err := n.remote(ctx, "state-remote", n.o.State)
	if err != nil && (n.o.State != "" || n.o.Mode == round.Live) {
		return err
	}
	// A clone without an origin has no state branch to read; the ledger says so.
	n.ledger, err = ledger.Open(ctx, ledger.Options{
		Repo: n.repo, Remote: remote, TokenEnv: n.o.TokenEnv, Mode: n.o.Mode,
		CacheDir: n.o.Cache.Dir, Clock: n.now, Lease: n.policy.Lease,
	})
	return err
}

// broken writes down, for what a run began and will not end because it is being
// stopped, that it ended for no reason of theirs. It has its own time for that;
// where it does not succeed, the next run goes on as after a kill.
func (n *Night) broken(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancel()
	var events []ledger.Event
	for _, g := range n.groups {
		m, err := n.ledger.Memory(ctx, g.Name)
		if err != nil {
			return
		}
		if m.Claim == nil || m.Claim.Night != n.id {
			continue
		}
		e := ledger.Event{Kind: ledger.Ended, Night: n.id, Group: g.Name, State: string(Newest), Verdict: verdict.Infra, Why: "the run was stopped by a signal"}
		for _, x := range m.Nights {
			if x.ID == n.id && x.RoundID != "" {
				e.RoundID, e.Try, e.State = x.RoundID, x.Try, string(Fetch)
			}
		}
		if m.Handed != nil && m.Handed.Night == n.id {
			e.State = string(Gates)
		}
		events = append(events, e)
	}
	_ = n.ledger.Append(ctx, events...) // see above
}

// remote is the repository that a flag names; where it names none, origin.
func (n *Night) remote(ctx context.Context, flag, name string) (git.Remote, error) {
	r, err := ledger.RemoteOf(ctx, n.repo, cmp.Or(name, "origin"), n.credential())
	if err != nil {
		err = fmt.Errorf("--%s: %w", flag, err)
	}
	return r, err
}

// stopped says why a group is not begun, if so.
func (n *Night) stopped(group string) string {
	if s := n.policy.StoppedFor(group); s != nil {
		return "it is stopped in " + PolicyFile + ": " + inert.Line(s.Reason, 200)
	}
	return ""
}

// report begins the report of a night.
func (n *Night) report() *Report {
	return &Report{Schema: round.Schema, Night: n.id, Mode: n.o.Mode, Base: n.base}
}

func (n *Night) group(name string) (*Group, error) {
	i := slices.IndexFunc(n.all, func(g Group) bool { return g.Name == name })
	if i < 0 {
		return nil, verdict.Usagef("there is no group %q that a night works on", name)
	}
	return &n.all[i], nil
}
