// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package proposal

import (
	"context"
	"maps"
	"path/filepath"
	"slices"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/patches"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

// A Report is what a description tells that cannot be seen in round and gates,
// as data: whoever shows it makes it inert, again. Its order is fixed.
type Report struct {
	Histories []History `json:"histories,omitempty"` // a pin that moves each, where it has commits
	Stacks    []Stack   `json:"stacks,omitempty"`    // by name
}

// A History is what an upstream did between two versions.
type History struct {
	Pin     string           `json:"pin"`
	Commits []UpstreamCommit `json:"commits,omitempty"` // the newest, at most 80
	Count   int              `json:"count"`             // of all
	Why     string           `json:"why,omitempty"`     // it is not known
}

// An UpstreamCommit is one commit of an upstream. Its subject is one clean line
// and otherwise what somebody wrote.
type UpstreamCommit struct {
	ID      git.ID `json:"id"`
	Subject string `json:"subject"`
}

// A Stack is how our patches on a pin did.
type Stack struct {
	Name      string          `json:"name"`
	Result    *patches.Result `json:"result,omitempty"`
	RangeDiff string          `json:"range-diff,omitempty"`
	Error     string          `json:"error,omitempty"` // it could not be tried
}

// What a report keeps of long texts; what is shown is less.
const (
	mostCommits  = 80
	mostSubject  = 200 // characters
	mostTextRows = 1000
	mostColumns  = 200
)

func (p *Prepared) report(ctx context.Context, sessions map[string]*patches.Session) (*Report, error) {
	r := &Report{}
	for _, m := range p.Round.Moves() {
		if h := p.history(ctx, m); h != nil {
			r.Histories = append(r.Histories, *h)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Stacks)) {
		diff, err := sessions[name].RangeDiff(ctx, p.Stacks[name])
		if err != nil {
			return nil, err
		}
		r.Stacks = append(r.Stacks, Stack{Name: name, Result: shortened(p.Stacks[name]), RangeDiff: shortText(diff)})
	}
	for _, name := range slices.Sorted(maps.Keys(p.StackErrors)) {
		r.Stacks = append(r.Stacks, Stack{Name: name, Error: inert.Line(p.StackErrors[name].Error(), 2*mostColumns)})
	}
	slices.SortFunc(r.Stacks, func(a, b Stack) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return r, nil
}

func shortText(s string) string {
	if s == "" {
		return ""
	}
	return inert.Text(s, mostTextRows, mostColumns)
}

// shortened is a result whose texts are no longer than a person reads.
func shortened(r *patches.Result) *patches.Result {
	short := *r
	short.Patches = slices.Clone(r.Patches)
	for i := range short.Patches {
		x := &short.Patches[i]
		x.Hunks, x.SideBySide = shortText(x.Hunks), shortText(x.SideBySide)
		if x.Guilty != nil {
			g := *x.Guilty
			g.Hunks = shortText(g.Hunks)
			x.Guilty = &g
		}
	}
	return &short
}

// history lists what an upstream did; nil for a pin without commits. What is
// not here is said and is no error: the versions are verified without it.
func (p *Prepared) history(ctx context.Context, m *round.Member) *History {
	pin := p.Base.Pin(m.Pin)
	switch pin.Track.Kind {
	case pins.GitBranch, pins.GitTag, pins.Gitlink, pins.GithubRelease:
	default:
		return nil
	}
	h := &History{Pin: m.Pin, Why: "its history is not here"}
	from, err := git.ParseID(m.From.ID)
	if err != nil {
		h.Why = "it had no commit before"
		return h
	}
	to, err := git.ParseID(m.To.ID)
	if err != nil {
		return nil
	}
	// Pins with patches have their history beside their files; of the others
	// there may be one that was fetched to see which way they move.
	for _, name := range []string{m.Pin + ".git", m.Pin + ".history.git"} {
		repo, err := git.Open(ctx, filepath.Join(p.Engine.CacheDir, "git", name))
		if err != nil {
			continue
		}
		ids, ok := commitsBetween(ctx, repo, from, to)
		if !ok {
			continue
		}
		list, err := subjects(ctx, repo, ids[:min(len(ids), mostCommits)])
		if err != nil {
			continue
		}
		h.Commits, h.Count, h.Why = list, len(ids), ""
		break
	}
	return h
}

// commitsBetween lists what to has and from has not, the newest first; ok is
// false where the repository cannot tell.
func commitsBetween(ctx context.Context, repo *git.Repo, from, to git.ID) (ids []git.ID, ok bool) {
	for _, id := range []git.ID{from, to} {
		if have, err := repo.HasCommit(ctx, id); err != nil || !have {
			return nil, false
		}
	}
	// Where a history is cut off, what is not reached may only be missing.
	if repo.Shallow() {
		if is, err := repo.IsAncestor(ctx, from, to); err != nil || !is {
			return nil, false
		}
	}
	ids, err := repo.RevList(ctx, git.Range{From: []git.ID{from}, To: to})
	return ids, err == nil
}

func subjects(ctx context.Context, repo *git.Repo, ids []git.ID) ([]UpstreamCommit, error) {
	c, err := repo.CatFile(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	var list []UpstreamCommit
	for _, id := range ids {
		commit, err := c.Commit(id)
		if err != nil {
			return nil, err
		}
		list = append(list, UpstreamCommit{id, inert.Line(commit.Subject(), mostSubject)})
	}
	return list, nil
}

// applies says whether every stack that was tried passed.
func (r *Report) applies() bool {
	if r == nil {
		return true
	}
	for _, s := range r.Stacks {
		if s.Result == nil || s.Result.Verdict() != verdict.Pass {
			return false
		}
	}
	return true
}
