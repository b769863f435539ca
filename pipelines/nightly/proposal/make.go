// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package proposal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/1bit-MONSTER/engine/internal/atomicfile"
	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/round"
	"github.com/1bit-MONSTER/engine/pipelines/round/gate"
)

// Schema is the version of what a Proposal looks like.
const Schema = 1

// BranchPrefix begins the branch of every proposal; a group has one.
const BranchPrefix = "bump/"

// Branch is the short name of a group's branch.
func Branch(group string) string { return BranchPrefix + group }

// A Proposal is what a round came to: proposal.json.
type Proposal struct {
	Schema int    `json:"schema"`
	Round  string `json:"round"`  // its id
	Digest string `json:"digest"` // of round.json, see RoundDigest
	Group  string `json:"group"`
	Title  string `json:"title"`
	Branch string `json:"branch"`
	Base   git.ID `json:"base"`
	Commit git.ID `json:"commit,omitempty"` // none: nothing is proposed
	Decision
	Report *Report `json:"report,omitempty"`
}

// MakeOptions say what a proposal is made of.
type MakeOptions struct {
	Repo     *git.Repo
	Prepared *Prepared
	Results  []gate.Result // of all gates
	Folder   round.Folder  // its round.json is the round's
}

// Make decides over a prepared round and writes verdicts, proposal, text and,
// where it is proposed, the bundle into the round's folder.
func Make(ctx context.Context, o MakeOptions) (*Proposal, error) {
	r := o.Prepared.Round
	data, err := os.ReadFile(o.Folder.Round())
	if err != nil {
		return nil, err
	}
	p := &Proposal{Schema: Schema, Round: r.ID, Digest: RoundDigest(data), Group: r.Group, Title: Title(r), Branch: Branch(r.Group), Base: r.Base,
		Decision: Decide(r, o.Prepared.Report, o.Results), Report: o.Prepared.Report}
	// What an earlier try left is not this one's.
	for _, name := range []string{o.Folder.Proposal(), o.Folder.Body(), o.Folder.Bundle()} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if p.Verdict == verdict.Pass {
		if p.Commit, err = Commit(ctx, o.Repo, o.Prepared); err != nil {
			return nil, err
		}
		if err := WriteBundle(ctx, o.Repo, p.Commit, p.Base, p.Branch, o.Folder.Bundle()); err != nil {
			return nil, err
		}
	}
	text := p.body(&Account{Round: r, Base: o.Prepared.Base, Report: p.Report, Results: o.Results, Decision: p.Decision})
	if err := atomicfile.Write(o.Folder.Body(), []byte(text), 0o644); err != nil {
		return nil, err
	}
	if err := round.WriteJSON(o.Folder.Verdicts(), o.Results); err != nil {
		return nil, err
	}
	return p, round.WriteJSON(o.Folder.Proposal(), p)
}

// body is the text that goes with a proposal, or with the lack of one.
func (p *Proposal) body(a *Account) string {
	if p.Verdict == verdict.Pass {
		return Body(a)
	}
	return FailureBody(a)
}

// Leave copies a proposal's files into a folder, for a person.
func Leave(f round.Folder, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	in, err := openFolder(f)
	if err != nil {
		return err
	}
	defer in.Close()
	for _, from := range []string{f.Body(), f.Proposal(), f.Bundle()} {
		name := filepath.Base(from)
		data, err := in.read(name, maxBundle)
		if errors.Is(err, fs.ErrNotExist) {
			continue // there is no bundle of what is not proposed
		}
		if err == nil {
			err = atomicfile.Write(filepath.Join(dir, name), data, 0o644)
		}
		if err != nil {
			return fmt.Errorf("leave %s: %w", name, err)
		}
	}
	return nil
}
