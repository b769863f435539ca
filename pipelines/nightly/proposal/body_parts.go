// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package proposal

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/inert"
	"github.com/1bit-MONSTER/engine/patches"
)

var (
	gateName     = regexp.MustCompile(`^[a-z][a-z0-9-]{0,39}$`)
	hostedAtPath = regexp.MustCompile(`^/[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$`)
)

// compareLink is where GitHub shows what lies between two commits, built from
// parts that cannot be anything else; empty for an upstream that is elsewhere.
func compareLink(upstream, from, to string) string {
	for _, id := range []string{from, to} {
		if _, err := git.ParseID(id); err != nil {
			return ""
		}
	}
	u, err := url.Parse(upstream)
	if err != nil || u.Scheme != "https" || u.Host != "github.com" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.RawPath != "" {
		return ""
	}
	path := strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), ".git")
	if !hostedAtPath.MatchString(path) || strings.Contains(path, "..") {
		return ""
	}
	return "https://github.com" + path + "/compare/" + from + "..." + to
}

// stacks is the range-diff and the verdict on each patch, in three sizes.
func (a *Account) stacks() []string {
	if a.Report == nil || len(a.Report.Stacks) == 0 {
		return nil
	}
	var sizes []string
	for _, size := range []patches.ReportSize{{}, {Patches: 100, Details: 20, Diff: 80}, {Patches: 30, Details: -1, Diff: -1}} {
		var b strings.Builder
		for _, s := range a.Report.Stacks {
			if s.Result == nil {
				fmt.Fprintf(&b, "## Stack %s\n\nIt could not be tried: %s\n\n", inert.Markdown(s.Name, 80), inert.Prose(s.Error, mostWhy))
				continue
			}
			b.WriteString(s.Result.Markdown(s.RangeDiff, size) + "\n")
		}
		sizes = append(sizes, b.String())
	}
	return sizes
}

// findings is what gates say in more than a sentence: contracts, licences.
func (a *Account) findings() []string {
	var sizes []string
	for _, lines := range []int{80, 25, 6} {
		var b strings.Builder
		for i, r := range a.Results {
			if r.Details == "" || i > 40 {
				continue
			}
			fmt.Fprintf(&b, "### %s: %s\n\n%s\n", inert.Markdown(r.Gate, 60), inert.Markdown(string(r.Verdict), 20), inert.Block(r.Details, lines, 160))
		}
		if b.Len() == 0 {
			return nil
		}
		sizes = append(sizes, "## What gates found\n\n"+b.String())
	}
	return sizes
}

// histories lists the upstreams' commits as text that refers to nothing.
func (a *Account) histories() []string {
	if a.Report == nil || len(a.Report.Histories) == 0 {
		return nil
	}
	var sizes []string
	for _, most := range []int{mostCommits, 20, 5} {
		var b strings.Builder
		b.WriteString("## What upstream did\n\n")
		for _, h := range a.Report.Histories {
			name := inert.Markdown(h.Pin, 80)
			if h.Why != "" {
				fmt.Fprintf(&b, "%s: %s\n\n", name, inert.Prose(h.Why, mostWhy))
				continue
			}
			fmt.Fprintf(&b, "<details><summary>%s: %s</summary>\n\n", name, commitCount(h.Count))
			shown := h.Commits[:min(len(h.Commits), most)]
			for _, c := range shown {
				fmt.Fprintf(&b, "- %s %s\n", inert.Code(c.ID.Short(), 12), inert.Markdown(c.Subject, 100))
			}
			if more := h.Count - len(shown); more > 0 {
				fmt.Fprintf(&b, "- and %d more\n", more)
			}
			b.WriteString("\n</details>\n\n")
		}
		sizes = append(sizes, b.String())
	}
	return sizes
}

func commitCount(n int) string {
	if n == 1 {
		return "1 commit"
	}
	return fmt.Sprintf("%d commits", n)
}
