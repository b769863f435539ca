// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package rehearse

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/nightly"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

// surprises compares a night with what was written down for it.
func (s *stage) surprises(n Night, r *nightly.Report, out string, before, after map[string]git.ID) (list []string) {
	surprise := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	for _, w := range n.Want {
		if r.Group(w.Group) == nil {
			surprise("%s is not in the report", w.Group)
		}
	}
	for i := range r.Groups {
		g := &r.Groups[i]
		want := Want{Group: g.Group, Verdict: verdict.Pass}
		if i := slices.IndexFunc(n.Want, func(w Want) bool { return w.Group == g.Group }); i >= 0 {
			want = n.Want[i]
		}
		if g.Verdict != want.Verdict {
			surprise("%s is %s (%s), should be %s", g.Group, g.Verdict, g.Why, want.Verdict)
		}
		text, err := readText(filepath.Join(out, "proposals", g.Group, "proposal.md"))
		if err != nil {
			surprise("%s: %s", g.Group, err)
		}
		for _, says := range want.Says {
			says = s.fill(says)
			if !strings.Contains(g.Why, says) && !strings.Contains(text, says) {
				surprise("%s: neither its reason (%s) nor its proposal says %q", g.Group, g.Why, says)
			}
		}
		branch := "bump/" + g.Group
		if proposed := n.Mode != round.DryRun && after[branch] != "" && after[branch] != before[branch]; proposed != want.Proposed {
			surprise("%s: proposed is %t, should be %t", g.Group, proposed, want.Proposed)
		}
		if want.Proposed && after[branch] != g.Commit {
			surprise("%s: the report names the commit %s, %s is at %s", g.Group, g.Commit, branch, after[branch])
		}
		if bundle, err := readText(filepath.Join(out, "proposals", g.Group, "proposal.bundle")); err != nil || (bundle != "") != want.Proposed {
			surprise("%s: there is a bundle: %t, should be: %t (%v)", g.Group, bundle != "", want.Proposed, err)
		}
	}
	for branch, id := range before {
		if !want(n, branch) && after[branch] != id {
			surprise("the branch %s went from %s to %s, which no night may do", branch, id.Short(), after[branch].Short())
		}
	}
	return list
}

// want says whether a night is to push a branch.
func want(n Night, branch string) bool {
	return slices.ContainsFunc(n.Want, func(w Want) bool { return w.Proposed && branch == "bump/"+w.Group })
}

// fill puts commits in the place of their names.
func (s *stage) fill(text string) string {
	for name, id := range s.ids {
		text = strings.ReplaceAll(text, "{"+name+"}", id.Short())
	}
	return text
}
