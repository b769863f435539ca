// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package proposal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/strictjson"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/round"
	"github.com/1bit-MONSTER/engine/pipelines/round/gate"
)

// VerifyOptions say what is verified, and against what.
type VerifyOptions struct {
	Repo   *git.Repo    // our own, with the objects of Round.Base
	Folder round.Folder // came through machines that ran upstream code
	Digest string       // of the round, as the resolving phase wrote it down; see RoundDigest
	Gates  []string     // names of all gates that must have looked
}

// A Verified is a folder that is what its round makes.
type Verified struct {
	Proposal *Proposal
	Round    *round.Round // what is proposed of it: the half that moves, where only that goes on
	Results  []gate.Result
	Body     string // rendered here
}

// Verify reads a round's folder as if somebody else had written it, and makes
// again what can be made: the decision, the title, the text, the commit's
// message, the pin files, NOTICE. Only when all of it is the same, the commit's
// objects are stored in Repo, without a ref.
//
// A round that is not proposed is verified too, so that its text can be used.
// The error is a *Tampered where the folder is at fault, and a *Missing where
// the gates did not come to an end. Nothing is executed,
// and nothing asked for.
func Verify(ctx context.Context, o VerifyOptions) (*Verified, error) {
	in, err := openFolder(o.Folder)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	v := &Verified{Proposal: &Proposal{}}
	if v.Round, err = in.round(o.Digest); err != nil {
		return nil, err
	}
	if v.Round, err = in.split(v.Round); err != nil {
		return nil, err
	}
	// What needs no git comes first.
	if v.Results, err = in.verdicts(o.Gates); err != nil {
		return nil, err
	}
	data, err := in.read("proposal.json", maxProposal)
	if err != nil {
		return nil, absent("proposal.json", err)
	}
	p := v.Proposal
	if err := decode("proposal.json", data, p); err != nil {
		return nil, err
	}
	if err := sameProposal(p, data, v, o.Digest); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "dist-verify-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	x := &verifier{round: v.Round, repo: o.Repo, baseDir: filepath.Join(dir, "base"), nextDir: filepath.Join(dir, "next")}
	if err := x.readBase(ctx); err != nil {
		return nil, err
	}
	v.Body = p.body(&Account{Round: v.Round, Base: x.base, Report: p.Report, Results: v.Results, Decision: p.Decision})
	text, err := in.read("proposal.md", maxProposal)
	if err != nil {
		return nil, absent("proposal.md", err)
	}
	if v.Body != string(text) {
		return nil, tampered("proposal.md", "the text is another one")
	}
	if p.Verdict != verdict.Pass {
		if _, err := in.Lstat("proposal.bundle"); err == nil {
			return nil, tampered("proposal.bundle", "nothing is proposed, and there is one")
		}
		return v, nil
	}
	bundle, err := in.read("proposal.bundle", maxBundle)
	if err != nil {
		return nil, absent("proposal.bundle", err)
	}
	return v, x.bundle(ctx, p, bundle)
}

// round reads the round, which must be the one that was written down.
func (h handed) round(want string) (*round.Round, error) {
	data, err := h.read("round.json", maxRound)
	if err != nil {
		return nil, absent("round.json", err)
	}
	if want == "" {
		return nil, errors.New("verify: the round's digest was not given")
	}
	if got := RoundDigest(data); got != want {
		return nil, tampered("round.json", "its digest is %s, the one written down when it was resolved is %s", got, inert.Line(want, 64))
	}
	r := &round.Round{}
	return r, decode("round.json", data, r)
}

// split reads which pins stay, where only half of the round went on. Whether
// the group allows that is in main's groups.
func (h handed) split(r *round.Round) (*round.Round, error) {
	const name = "split.json"
	data, err := h.read(name, maxSplit)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	var stay []string
	if err := decode(name, data, &stay); err != nil {
		return nil, err
	}
	if len(stay) == 0 {
		return nil, tampered(name, "it names no pin")
	}
	half, err := r.Without(stay...)
	if err != nil {
		return nil, tampered(name, "%s", err)
	}
	return half, nil
}

// verdicts reads what the gates found. Every gate must have looked, once.
func (h handed) verdicts(gates []string) ([]gate.Result, error) {
	const name = "verdicts.json"
	data, err := h.read(name, maxVerdicts)
	if err != nil {
		return nil, absent(name, err)
	}
	var list []gate.Result
	if err := decode(name, data, &list); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, r := range list {
		switch {
		case !slices.Contains(gates, r.Gate):
			return nil, tampered(name, "there is no gate %q", r.Gate)
		case seen[r.Gate]:
			return nil, tampered(name, "the gate %s is there twice", r.Gate)
		case !r.Verdict.Known():
			return nil, tampered(name, "the gate %s has the verdict %q", r.Gate, r.Verdict)
		case r.Seconds < 0 || r.Seconds > 1e7 || math.IsNaN(r.Seconds):
			return nil, tampered(name, "the gate %s took %g seconds", r.Gate, r.Seconds)
		case r.Log != "" && r.Log != "logs/"+r.Gate+".txt":
			return nil, tampered(name, "the log of the gate %s is %q", r.Gate, r.Log)
		case len(r.Details) > maxVerdicts/8:
			return nil, tampered(name, "the gate %s found %d bytes", r.Gate, len(r.Details))
		}
		seen[r.Gate] = true
	}
	for _, g := range gates {
		if !seen[g] {
			return nil, tampered(name, "the gate %s has no result", g)
		}
	}
	return list, nil
}

// sameProposal makes a proposal of the round and the verdicts and compares it
// with the one that was handed on. Only what happened upstream and to the
// patches is taken as it is told, as text.
func sameProposal(p *Proposal, data []byte, v *Verified, digest string) error {
	r := v.Round
	if p.Report == nil {
		return tampered("proposal.json", "it has no report")
	}
	want := &Proposal{Schema: Schema, Round: r.ID, Digest: digest, Group: r.Group, Title: Title(r), Branch: Branch(r.Group), Base: r.Base,
		Commit: p.Commit, Decision: Decide(r, p.Report, v.Results), Report: p.Report}
	proposed := want.Verdict == verdict.Pass
	if _, err := git.ParseID(string(p.Commit)); proposed && err != nil || !proposed && p.Commit != "" {
		return tampered("proposal.json", "its verdict is %s and its commit %q", want.Verdict, p.Commit)
	}
	if err := checkReport(r, p.Report, proposed); err != nil {
		return err
	}
	expected, err := strictjson.Encode(want)
	if err != nil {
		return err
	}
	if bytes.Equal(expected, data) {
		return nil
	}
	return tampered("proposal.json", "%s", firstDifference(want, p))
}

// firstDifference names the field in which two proposals differ.
func firstDifference(want, have *Proposal) string {
	a, _ := json.Marshal(want)
	b, _ := json.Marshal(have)
	var x, y map[string]json.RawMessage
	json.Unmarshal(a, &x)
	json.Unmarshal(b, &y)
	for _, name := range []string{"schema", "round", "digest", "group", "title", "branch", "base", "commit", "verdict", "why", "draft"} {
		if !bytes.Equal(x[name], y[name]) {
			return fmt.Sprintf("its %s is %s, the round makes %s", name, inert.Quote(string(y[name]), 120), inert.Quote(string(x[name]), 120))
		}
	}
	return "it is not written as this program writes it"
}

// checkReport holds what is told of the stacks against what moves.
func checkReport(r *round.Round, report *Report, proposed bool) error {
	const name = "proposal.json"
	moves := map[string]*round.Member{}
	byStack := map[string]*round.Member{}
	for _, m := range r.Moves() {
		moves[m.Pin] = m
		if m.Stack != "" {
			byStack[m.Stack] = m
		}
	}
	for _, h := range report.Histories {
		if moves[h.Pin] == nil || len(h.Commits) > mostCommits || h.Count < len(h.Commits) {
			return tampered(name, "its history of %q cannot be", h.Pin)
		}
		delete(moves, h.Pin)
		for _, c := range h.Commits {
			if _, err := git.ParseID(string(c.ID)); err != nil {
				return tampered(name, "%s", err)
			}
		}
	}
	for _, s := range report.Stacks {
		m := byStack[s.Name]
		if m == nil {
			return tampered(name, "its stack %q does not move", s.Name)
		}
		delete(byStack, s.Name)
		switch {
		case s.Result == nil && s.Error == "":
			return tampered(name, "it does not say what became of the stack %s", s.Name)
		case s.Result == nil:
		case s.Result.Stack != s.Name || string(s.Result.NewBase) != m.To.ID:
			return tampered(name, "its stack %s was moved to %q", s.Name, s.Result.NewBase)
		case proposed && s.Result.Verdict() != verdict.Pass:
			return tampered(name, "its stack %s is %s", s.Name, s.Result.Verdict())
		}
	}
	return nil
}

// A verifier holds a commit against the round that it is of.
type verifier struct {
	round            *round.Round
	repo             *git.Repo
	baseDir, nextDir string // pins, patches and NOTICE
	entries          []git.Entry
	base             *pins.Set
}

// ours are the files that a round's commit is made of.
func ours(name string) bool {
	return name == Notice || strings.HasPrefix(name, "pins/") && strings.HasSuffix(name, ".yaml") || strings.HasPrefix(name, "patches/")
}

func (x *verifier) readBase(ctx context.Context) (err error) {
	if _, x.entries, err = baseTree(ctx, x.repo, x.round.Base); err != nil {
		return err
	}
	if err := writeTree(ctx, x.repo, x.entries, x.baseDir, ours); err != nil {
		return err
	}
	if x.base, err = pins.Load(filepath.Join(x.baseDir, "pins")); err != nil {
		return err
	}
	return checkRound(x.round, x.base)
}
