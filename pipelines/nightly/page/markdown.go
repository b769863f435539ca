// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/inert"
)

// Markdown writes the page for the summary of a workflow's step: GitHub's
// dialect, with letters for the marks. No text of others can make a link, a
// mention or a cell of its own.
func (p *Page) Markdown(w io.Writer) error {
	v := view(p.clean())
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "# %s\n\n%s\n", md(v.Title), strings.Join(nonEmpty(md(v.When), mdAfter("night ", mdCode(v.Night)), md(v.Mode)), " · "))
	for _, n := range v.Notes {
		fmt.Fprintf(b, "\n> %s\n", prose(n))
	}
	if len(v.Alarms) > 0 {
		fmt.Fprintf(b, "\n## %s\n\n", count(len(v.Alarms), "alarm", "alarms"))
		for _, a := range v.Alarms {
			fmt.Fprintf(b, "- **%s**: %s (%s)%s\n", md(a.Name), md(a.Text), a.Since, mdAfter(". ", prose(a.Why)))
		}
	}
	var sums []string
	for _, s := range v.Sums {
		sums = append(sums, fmt.Sprintf("%d %s", s.Count, s.Word))
	}
	if len(sums) == 0 {
		sums = []string{"there are none"}
	}
	fmt.Fprintf(b, "\n## Groups: %s\n", strings.Join(sums, ", "))
	if len(v.Rows) > 0 {
		fmt.Fprintf(b, "\n| Group | In use | Now | %s to %s | What holds it |\n|---|---|---|---|---|\n", v.First, v.Last)
	}
	for _, r := range v.Rows {
		fmt.Fprintf(b, "| %s | %s | %s | `%s` | %s |\n", strong(r.Name), r.mdMembers(), strings.Join(nonEmpty(strong(r.Word), md(r.State)), ", "), r.letters(), r.mdWhy())
	}
	var legend []string
	for _, m := range marks {
		w := string(m.Verdict)
		if m.Verdict == none {
			w = "no run"
		}
		legend = append(legend, "`"+m.Letter+"` "+w)
	}
	fmt.Fprintf(b, "\n%s. The last night is at the right end.\n", strings.Join(legend, ", "))
	return b.Flush()
}

func (r *row) letters() string {
	var b strings.Builder
	for _, n := range r.Strip {
		b.WriteString(markOf(n.Verdict).Letter)
	}
	return b.String()
}

func (r *row) mdMembers() string {
	var list []string
	for _, m := range r.Members {
		list = append(list, strings.Join(nonEmpty(
			strings.Join(nonEmpty(md(m.Pin), md(m.Version), mdCode(m.Commit)), " "), md(m.Age), m.mdNewest()), "<br>"))
	}
	return strings.Join(list, "<br>")
}

func (r *row) mdWhy() string {
	why := prose(r.Why)
	if q := r.Proposal; q != nil {
		title := prose(q.Title)
		if q.URL != "" {
			title = "[" + title + "](" + q.URL + ")"
		}
		if q.Draft {
			title += " (draft)"
		}
		why = strings.Join(nonEmpty(why, title, mdCode(q.Branch)), "<br>")
	}
	return why
}

func (m *shownMember) mdNewest() string {
	if m.Newest == "" {
		return ""
	}
	return strings.Join(nonEmpty("→ "+mdCode(m.Newest), md(m.Behind)), ", ")
}

func md(s string) string { return inert.Markdown(s, maxSentence) }

// prose is md where commits are code, so that they can be copied.
func prose(s string) string { return inert.Prose(s, maxSentence) }

// mdAfter puts something before what is Markdown already, if there is any.
func mdAfter(before, s string) string {
	if s == "" {
		return ""
	}
	return before + s
}

func strong(s string) string {
	if s == "" {
		return ""
	}
	return "**" + md(s) + "**"
}

// mdCode writes what looks like a commit, a version or a branch as code, where
// GitHub links nothing, and anything else as text.
func mdCode(s string) string {
	if !plainCode.MatchString(s) {
		return md(s)
	}
	return inert.Code(s, maxName)
}

var plainCode = regexp.MustCompile(`^[A-Za-z0-9._/+-]+$`)
