// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/inert"
)

const (
	mostReported  = 200 // patches in the table of a report
	mostDiffLines = 400 // lines of the range-diff
)

// Report writes a result as Markdown for a pull request: the verdicts, what is
// behind each that needs a look, and the range-diff of the stack. Everything
// that upstream wrote is inert in it.
func (x *Session) Report(ctx context.Context, r *Result) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "## Stack %s: %s\n\n", inert.Markdown(r.Stack, 80), r.Verdict())
	fmt.Fprintf(&b, "From %s to %s. %s.\n\n", inert.Code(r.OldBase.Short(), 12), inert.Code(r.NewBase.Short(), 12), r.summary())
	if r.RewrittenCount > 0 {
		fmt.Fprintf(&b, "Upstream rewrote its history: %d commits of the old base are not in the new one.\n\n", r.RewrittenCount)
		for _, u := range r.Rewritten {
			fmt.Fprintf(&b, "- %s\n", u.markdown())
		}
		b.WriteString("\n")
	}
	b.WriteString("| patch | verdict | behind it |\n|---|---|---|\n")
	for i, p := range r.Patches {
		if i == mostReported {
			fmt.Fprintf(&b, "| … | | %d more |\n", len(r.Patches)-i)
			break
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", inert.Code(p.File, 80), p.word(), p.behind())
	}
	for _, p := range r.Patches {
		p.details(&b)
	}
	diff, err := x.rangeDiff(ctx, r)
	if err != nil {
		return "", err
	}
	if diff != "" {
		b.WriteString("\n<details><summary>Range-diff of the stack</summary>\n\n")
		b.WriteString(inert.Block(diff, mostDiffLines, 160))
		b.WriteString("\n</details>\n")
	}
	return b.String(), nil
}

// summary counts the outcomes in a sentence's order.
func (r *Result) summary() string {
	var parts []string
	for _, o := range []Outcome{Unchanged, Moved, Upstreamed, Empty, ProbablyUpstream, WrongPlace, LostLines, Conflicting, NeedsConflicting} {
		if n := r.Count(o); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, o))
		}
	}
	if len(parts) == 0 {
		return "No patches"
	}
	patches := "patches"
	if len(r.Patches) == 1 {
		patches = "patch"
	}
	return fmt.Sprintf("%d %s: %s", len(r.Patches), patches, strings.Join(parts, ", "))
}

// Summary is one line about the whole.
func (r *Result) Summary() string { return r.summary() }

func (p *PatchResult) word() string {
	if p.Accepted != "" {
		return string(p.Outcome) + ", accepted"
	}
	return string(p.Outcome)
}

// behind is what a table has room for.
func (p *PatchResult) behind() string {
	switch {
	case p.Guilty != nil && p.Guilty.Commit != nil:
		return "broken by " + p.Guilty.Commit.markdown()
	case len(p.Needs) > 0:
		return "needs " + inert.Code(p.Needs[len(p.Needs)-1], 80)
	case p.Upstream != nil:
		return p.Upstream.markdown()
	case p.Reverted != nil:
		return "taken back by " + p.Reverted.markdown()
	case len(p.Followed) > 0:
		return "followed to " + inert.Code(p.Followed[0].To, 80)
	}
	return ""
}

// markdown shows an upstream commit. The number of a pull request is not
// linked: it is another repository's.
func (u *UpstreamCommit) markdown() string {
	s := fmt.Sprintf("%s %s (%s, %s", inert.Code(u.ID.Short(), 12), inert.Markdown(u.Subject, 100), inert.Markdown(u.Author, 40), u.Date.Format(time.DateOnly))
	if u.PullRequest != "" {
		s += ", pull request " + u.PullRequest
	}
	return s + ")"
}

// details has what a person needs to settle one patch.
func (p *PatchResult) details(b *strings.Builder) {
	if p.Hunks == "" && p.SideBySide == "" && len(p.Duplicates) == 0 && len(p.Misplaced) == 0 && len(p.Lost) == 0 && (p.Guilty == nil || p.Guilty.Commit != nil) {
		return
	}
	fmt.Fprintf(b, "\n### %s: %s\n\n", inert.Markdown(p.File, 80), p.word())
	for _, f := range p.Files {
		fmt.Fprintf(b, "- in conflict: %s\n", inert.Code(f, 160))
	}
	if g := p.Guilty; g != nil {
		if g.Commit != nil {
			fmt.Fprintf(b, "- a commit that breaks it: %s, of %d\n", g.Commit.markdown(), g.Searched)
		} else {
			fmt.Fprintf(b, "- no commit can be named: %s\n", inert.Markdown(g.Why, 300))
		}
	}
	for _, s := range p.Settlements {
		fmt.Fprintf(b, "- settled by %s (%s): %s\n", s.By, inert.Code(s.Detail, 120), inert.Code(s.Path, 160))
	}
	for _, m := range p.Misplaced {
		fmt.Fprintf(b, "- %s line %d: was in %s, came to be in %s\n", inert.Code(m.Path, 160), m.Line, orTopCode(m.Before), orTopCode(m.After))
	}
	for i, d := range p.Duplicates {
		if i == 10 {
			fmt.Fprintf(b, "- and %d more lines that are there twice\n", len(p.Duplicates)-i)
			break
		}
		fmt.Fprintf(b, "- twice: %s at %s line %d and %s line %d\n", inert.Code(d.Text, 100), inert.Code(d.Path, 160), d.Line, inert.Code(d.Other, 160), d.OtherRow)
	}
	for i, l := range p.Lost {
		if i == 20 {
			fmt.Fprintf(b, "- and %d more lost lines\n", len(p.Lost)-i)
			break
		}
		fmt.Fprintf(b, "- lost: %s of %s line %d\n", inert.Code(l.Text, 100), inert.Code(l.Path, 160), l.Line)
	}
	for _, text := range []string{p.Hunks, p.SideBySide} {
		if text != "" {
			b.WriteString("\n" + inert.Block(text, 80, 160))
		}
	}
}

func orTopCode(heading string) string {
	if heading == "" {
		return "no function"
	}
	return inert.Code(heading, 120)
}

// rangeDiff compares the old stack with the new one.
func (x *Session) rangeDiff(ctx context.Context, r *Result) (string, error) {
	if len(x.Commits.Patches) == 0 {
		return "", nil
	}
	old := x.Commits.Patches[len(x.Commits.Patches)-1].Commit
	if r.Tip == r.NewBase {
		return "", nil // nothing is left to compare, and git takes no empty range
	}
	out, err := x.Engine.git(ctx, "", "range-diff", "--no-color", "--no-notes", "--creation-factor=80",
		revisions(r.OldBase, old), revisions(r.NewBase, r.Tip))
	if err != nil {
		return "", fmt.Errorf("range-diff of %s: %w", r.Stack, err)
	}
	return string(out), nil
}

func revisions(from, to git.ID) string { return string(from) + ".." + string(to) }
