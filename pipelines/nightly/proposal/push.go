// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package proposal

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

// A Pushed is where a proposal is now.
type Pushed struct {
	Branch  string `json:"branch"`
	Commit  git.ID `json:"commit"`
	Old     git.ID `json:"old,omitempty"` // where the branch was
	Changed bool   `json:"changed"`       // false: it was there already
}

// An Occupied branch has a commit that we did not propose: somebody works on
// it, and it stays as it is.
type Occupied struct {
	Branch string
	Head   git.ID
}

func (e *Occupied) Error() string {
	return fmt.Sprintf("the branch %s is at %s, which is not a proposal of ours: somebody works on it, so it stays; merge it, or delete the branch", e.Branch, e.Head)
}

// Verdict is Held.
func (e *Occupied) Verdict() verdict.Verdict { return verdict.Held }

// tries is how often a branch that moves meanwhile is looked at again.
const tries = 3

// Push brings a verified proposal to its branch, and touches nothing else:
// one branch a group. It replaces only a commit that we proposed there earlier,
// known, and only while it is still there. It uses the network; the credential
// goes no other way than in remote.
//
// Errors: *Occupied, *git.RefMoved when others keep moving the branch, and
// those of git.Repo.Push.
func Push(ctx context.Context, repo *git.Repo, remote git.Remote, p *Proposal, known []git.ID) (*Pushed, error) {
	if p.Verdict != verdict.Pass || p.Commit == "" {
		return nil, fmt.Errorf("round %s is not proposed: there is nothing to push", p.Round)
	}
	if p.Branch != Branch(p.Group) || !groupName.MatchString(p.Group) {
		return nil, fmt.Errorf("a proposal of group %s does not go to the branch %s", p.Group, p.Branch)
	}
	ref := "refs/heads/" + p.Branch
	var moved *git.RefMoved
	for try := 1; ; try++ {
		refs, err := git.LsRemote(ctx, remote, ref)
		if err != nil {
			return nil, err
		}
		have, _ := refs.Find(ref)
		out := &Pushed{Branch: p.Branch, Commit: p.Commit, Old: have.ID}
		switch {
		case have.ID == p.Commit:
			return out, nil
		case have.ID != "" && !slices.Contains(known, have.ID):
			return nil, &Occupied{p.Branch, have.ID}
		}
		err = repo.Push(ctx, remote, git.PushRef{Ref: ref, ID: p.Commit, Expect: have.ID})
		if err == nil {
			out.Changed = true
			return out, nil
		}
		if !errors.As(err, &moved) || try == tries {
			return nil, err
		}
	}
}
