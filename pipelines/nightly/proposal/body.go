// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package proposal

import (
	"fmt"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/round"
	"github.com/1bit-MONSTER/engine/pipelines/round/gate"
)

// An Account is all that is told of a round. Everything in it but round and
// pins may be somebody else's words: it is made inert when it is shown.
type Account struct {
	Round    *round.Round
	Base     *pins.Set // as on main, at Round.Base; nil where it could not be read
	Report   *Report   // nil where it did not come so far
	Results  []gate.Result
	Decision Decision
}

// Body describes a round for a pull request, as Markdown. The same account
// gives the same bytes.
func Body(a *Account) string {
	return assemble(append([]section{
		whole("title", 0, "# "+Title(a.Round)+"\n\n"),
		whole("why it is a draft", 2, a.drafts()),
	}, a.rest()...)...)
}

// FailureBody describes a round that is not proposed, for an issue: what
// failed first, then what is behind it. The same account gives the same bytes.
func FailureBody(a *Account) string {
	head := fmt.Sprintf("# %s: %s\n\n%s\n\n", inert.Markdown(a.Round.Group, 80), a.Decision.Verdict, inert.Prose(a.Decision.Why, mostWhy))
	first := ""
	for _, r := range a.Results {
		if r.Verdict == a.Decision.Verdict && r.Details != "" {
			first = "The first lines of what " + inert.Code(r.Gate, 60) + " found:\n\n" + inert.Block(r.Details, 12, 160) + "\n"
			break
		}
	}
	return assemble(append([]section{whole("what failed", 0, head), whole("its first lines", 2, first)}, a.rest()...)...)
}

func (a *Account) rest() []section {
	return []section{
		whole("the versions", 1, a.table()),
		whole("notes", 4, a.notes()),
		{"the stacks", 5, a.stacks()},
		{"what gates found", 6, a.findings()},
		{"the upstreams' commits", 7, a.histories()},
		whole("the gates", 3, a.gates()),
		whole("how to see it yourself", 1, a.reproduce()),
	}
}

func (a *Account) drafts() string {
	if len(a.Decision.Draft) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Only a draft, because:\n\n")
	for i, text := range a.Decision.Draft {
		if i == 20 {
			fmt.Fprintf(&b, "- and %d more reasons\n", len(a.Decision.Draft)-i)
			break
		}
		fmt.Fprintf(&b, "- %s\n", inert.Prose(text, mostWhy))
	}
	return b.String() + "\n"
}

func cell(v round.Version) string {
	if v.ID == "" {
		return "nothing"
	}
	if v.Name == "" || v.Name == v.ID {
		return inert.Code(v.ID, 80)
	}
	return inert.Code(v.Name, 60) + " " + inert.Code(v.ID, 80)
}

// gates is the table of all gates, always whole.
func (a *Account) gates() string {
	if len(a.Results) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("## Gates\n\n| gate | verdict | seconds | why |\n|---|---|---:|---|\n")
	for i, r := range a.Results {
		if i == 40 {
			fmt.Fprintf(&b, "| and %d more | | | |\n", len(a.Results)-i)
			break
		}
		word := r.Verdict
		if !word.Known() {
			word = verdict.Fail // no word of ours
		}
		fmt.Fprintf(&b, "| %s | %s | %.1f | %s |\n", inert.Code(r.Gate, 60), word, r.Seconds, inert.Prose(r.Why, 300))
	}
	return b.String() + "\n"
}

func (a *Account) reproduce() string {
	var b strings.Builder
	b.WriteString("## To see the same on your machine\n\n```sh\n")
	if a.Decision.Verdict == verdict.Pass && a.Round.Mode == round.Live {
		branch := BranchPrefix + inert.FileName(a.Round.Group)
		fmt.Fprintf(&b, "# what would be merged: pins, patches and NOTICE\ngit fetch origin %s\ngit diff %s FETCH_HEAD\n", branch, a.Round.Base)
		b.WriteString("# how it came about\n")
	}
	fmt.Fprintf(&b, "git checkout %s\n# FOLDER is what the night handed on for this group\ndist nightly gate --round FOLDER\n", a.Round.Base)
	for _, r := range a.Results {
		if r.Verdict != verdict.Pass && r.Verdict != verdict.Skipped && gateName.MatchString(r.Gate) {
			fmt.Fprintf(&b, "dist gate run %s --round FOLDER\n", r.Gate)
			break
		}
	}
	fmt.Fprintf(&b, "# or with what the upstreams have now:\ndist nightly run --mode dry-run %s\n", inert.FileName(a.Round.Group))
	fmt.Fprintf(&b, "```\n\nRound %s, of the night %s, try %d.\n", inert.Code(a.Round.ID, 16), inert.Code(a.Round.Night, 60), a.Round.Try)
	return b.String()
}

func (a *Account) table() string {
	var b strings.Builder
	b.WriteString("| pin | old | new | |\n|---|---|---|---|\n")
	for i, m := range a.Round.Members {
		if i == 30 {
			fmt.Fprintf(&b, "| and %d more | | | |\n", len(a.Round.Members)-i)
			break
		}
		if !m.Moves() {
			fmt.Fprintf(&b, "| %s | %s | stays | |\n", m.Pin, cell(m.From))
			continue
		}
		link := ""
		if p := a.pin(m.Pin); p != nil {
			if address := compareLink(p.Upstream, m.From.ID, m.To.ID); address != "" {
				link = "[compare](" + address + ")"
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", m.Pin, cell(m.From), cell(m.To), link)
	}
	return b.String() + "\n"
}

func (a *Account) notes() string {
	var b strings.Builder
	n := 0
	for _, m := range a.Round.Members {
		for _, text := range m.Notes {
			if n++; n <= 20 {
				fmt.Fprintf(&b, "- %s: %s\n", m.Pin, inert.Prose(text, mostWhy))
			}
		}
	}
	if n > 20 {
		fmt.Fprintf(&b, "- and %d more notes\n", n-20)
	}
	if n > 0 {
		b.WriteString("\n")
	}
	return b.String()
}

func (a *Account) pin(name string) *pins.Pin {
	if a.Base == nil {
		return nil
	}
	return a.Base.Pin(name)
}
