// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package rehearse

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/nightly"
)

// Each way in which a night can come out otherwise than written is named.
func TestSurprises(t *testing.T) {
	const hash = git.ID("1234567890123456789012345678901234567890")
	night := Night{Want: []Want{
		{"hello", verdict.Pass, true, []string{"{new}"}},
		{"greet", verdict.Conflict, false, []string{"be-loud.patch"}},
	}}
	type world struct {
		report        nightly.Report
		before, after map[string]git.ID
	}
	right := func(dir string) *world {
		for _, name := range []string{"proposal.md", "proposal.bundle"} {
			if err := writeFile(filepath.Join(dir, "proposals", "hello", name), "to "+string(hash)); err != nil {
				t.Fatal(err)
			}
		}
		return &world{
			nightly.Report{Groups: []nightly.GroupReport{
				{Group: "hello", Verdict: verdict.Pass, Branch: "bump/hello", Commit: hash},
				{Group: "greet", Verdict: verdict.Conflict, Why: "be-loud.patch conflicts"},
				{Group: "other", Verdict: verdict.Pass},
			}},
			map[string]git.ID{"main": hash}, map[string]git.ID{"main": hash, "bump/hello": hash},
		}
	}
	for _, c := range []struct {
		name string
		turn func(w *world, dir string)
		says string
	}{
		{"nothing", func(*world, string) {}, ""},
		{"another verdict", func(w *world, _ string) { w.report.Groups[1].Verdict = verdict.Pass }, "greet is pass"},
		{"a verdict of a group that has nothing new", func(w *world, _ string) { w.report.Groups[2].Verdict = verdict.Infra }, "other is infra"},
		{"a group that is not in the report", func(w *world, _ string) { w.report.Groups = w.report.Groups[1:] }, "hello is not in the report"},
		{"another reason", func(w *world, _ string) { w.report.Groups[1].Why = "it conflicts" }, `says "be-loud.patch"`},
		{"a proposal without the commit", func(_ *world, dir string) { writeFile(dir+"/proposals/hello/proposal.md", "nothing") }, `says "123456789012"`},
		{"a proposal that is not pushed", func(w *world, _ string) { delete(w.after, "bump/hello") }, "hello: proposed is false"},
		{"a proposal that should not be", func(w *world, _ string) { w.after["bump/greet"] = hash }, "greet: proposed is true"},
		{"another commit than the report's", func(w *world, _ string) { w.report.Groups[0].Commit = "" }, "the report names the commit"},
		{"no bundle", func(_ *world, dir string) { os.Remove(dir + "/proposals/hello/proposal.bundle") }, "there is a bundle: false"},
		{"main moved", func(w *world, _ string) { w.after["main"] = "2234567890123456789012345678901234567890" }, "the branch main went from"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			w := right(dir)
			c.turn(w, dir)
			s := &stage{ids: IDs{"new": hash}}
			got := strings.Join(s.surprises(night, &w.report, dir, w.before, w.after), "\n")
			if c.says == "" && got != "" || !strings.Contains(got, c.says) {
				t.Errorf("surprises are %q, want %q", got, c.says)
			}
		})
	}
}
