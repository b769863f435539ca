// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/inert"
)

// A ReportSize bounds a report. A field that is zero has its default.
type ReportSize struct {
	Patches int // rows of the table; default 200
	Details int // lines of each text that explains a patch; default 80, below 0 none
	Diff    int // lines of the range-diff; default 400, below 0 none
}

func (s ReportSize) orDefault() ReportSize {
	return ReportSize{cmp.Or(s.Patches, 200), cmp.Or(s.Details, 80), cmp.Or(s.Diff, 400)}
}

// Report writes a result as Markdown for a pull request: the verdicts, what is
// behind each that needs a look, and the range-diff of the stack. Everything
// that upstream wrote is inert in it.
func (x *Session) Report(ctx context.Context, r *Result) (string, error) {
	diff, err := x.RangeDiff(ctx, r)
	if err != nil {
		return "", err
	}
	return r.Markdown(diff, ReportSize{}), nil
}

// Markdown is what Session.Report writes, for a result that may have been
// written down meanwhile, also by somebody who is not trusted: every text in it
// and in diff is made inert here. diff is of Session.RangeDiff; it may be empty.
func (r *Result) Markdown(diff string, size ReportSize) string {
	size = size.orDefault()
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
		if i == size.Patches {
			fmt.Fprintf(&b, "| … | | %d more |\n", len(r.Patches)-i)
			break
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", inert.Code(p.File, 80), inert.Markdown(p.word(), 60), p.behind())
	}
	for _, p := range r.Patches {
		p.details(&b, size.Details)
	}
	if diff != "" && size.Diff > 0 {
		b.WriteString("\n<details><summary>Range-diff of the stack</summary>\n\n")
		b.WriteString(inert.Block(diff, size.Diff, 160))
		b.WriteString("\n</details>\n")
	}
	return b.String()
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
		s += ", pull request " + inert.Markdown(u.PullRequest, 20)
	}
	return s + ")"
}

// details has what a person needs to settle one patch.
func (p *PatchResult) details(b *strings.Builder, lines int) {
	if p.Hunks == "" && p.SideBySide == "" && len(p.Duplicates) == 0 && len(p.Misplaced) == 0 && len(p.Lost) == 0 && (p.Guilty == nil || p.Guilty.Commit != nil) {
		return
	}
	fmt.Fprintf(b, "\n### %s: %s\n\n", inert.Markdown(p.File, 80), inert.Markdown(p.word(), 60))
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
		fmt.Fprintf(b, "- settled by %s (%s): %s\n", inert.Markdown(s.By, 20), inert.Code(s.Detail, 120), inert.Code(s.Path, 160))
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
		if text != "" && lines > 0 {
			b.WriteString("\n" + inert.Block(text, lines, 160))
		}
	}
}

func orTopCode(heading string) string {
	if heading == "" {
		return "no function"
	}
	return inert.Code(heading, 120)
}

// RangeDiff compares the old stack with the new one, as git range-diff does. It
// is empty where there is nothing to compare.
func (x *Session) RangeDiff(ctx context.Context, r *Result) (string, error) {
	if len(x.Commits.Patches) == 0 {
		return "", nil
	}
	old := x.Commits.Patches[len(x.Commits.Patches)-1].Commit
	if r.Tip == r.NewBase {
		return "", nil // nothing is left to compare, and git takes no empty range
	}
	// How much git abbreviates by itself depends on what else the store holds.
	out, err := x.Engine.git(ctx, "", "-c", "core.abbrev=12", "range-diff", "--no-color", "--no-notes", "--creation-factor=80",
		revisions(r.OldBase, old), revisions(r.NewBase, r.Tip))
	if err != nil {
		return "", fmt.Errorf("range-diff of %s: %w", r.Stack, err)
	}
	return string(out), nil
}

func revisions(from, to git.ID) string { return string(from) + ".." + string(to) }
