// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package rehearse

import (
	"context"
	"fmt"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/pipelines/round"
)

// A Night is one night of the story: what happens before it, and what must come
// out. All of it is written down before anything runs.
type Night struct {
	Name    string
	Before  []Happen // in order
	Mode    round.Mode
	Groups  []string // only these; none: all
	Without []string // gates that are left out
	Dark    bool     // without network
	Same    bool     // the night of the one before, once more
	Want    []Want   // the groups that are not here have nothing new
}

// A Happen is something that an upstream or a maintainer does.
type Happen struct {
	Who  string // a group
	What string
	Do   func(ctx context.Context, w *World, ids IDs) error
}

// IDs are commits by the names that the story gives them.
type IDs map[string]git.ID

// A Want is what must come out for a group. Its texts must be in the reason or
// in the proposal's text; {name} stands for a commit of that name.
type Want struct {
	Group    string
	Verdict  verdict.Verdict
	Proposed bool // as a branch and a bundle
	Says     []string
}

// nights is the story.
func nights() []Night {
	return []Night{
		{
			Name: "a clean bump",
			Before: []Happen{
				commits("hello", "prints another word", "hello", Files{"main.go": helloMain("good morning")}),
				commits("fresh", "a new version, which must ripen for a day", "fresh", Files{"fresh.go": "package fresh\n\nconst Days = 2\n"}),
			},
			Want: []Want{
				{"hello", verdict.Pass, true, []string{"{hello}"}},
				{"fresh", verdict.Held, false, nil},
			},
		},
		{
			Name: "what upstream took, and a tag that moved",
			Before: []Happen{
				merges("hello"),
				commits("greet", "upstream takes our first patch", "greet-taken", Files{"greeting.go": greetNobody}),
				{"chime", "upstream puts its tag v1.0.0 on another commit", func(ctx context.Context, w *World, ids IDs) error {
					r, err := w.Upstream(ctx, "chime")
					if err != nil {
						return err
					}
					if ids["chime-old"], err = r.RevParse(ctx, "refs/tags/v1.0.0"); err != nil {
						return err
					}
					if ids["chime-new"], err = w.push(ctx, "chime", "Ring longer", Files{"chime.go": "package chime\n\nconst Notes = 4\n"}); err != nil {
						return err
					}
					return r.Tag(ctx, "v1.0.0", ids["chime-new"])
				}},
				{"steady", "a maintainer holds it", func(ctx context.Context, w *World, _ IDs) error {
					return w.Hold(ctx, "steady", "we want to look first")
				}},
				commits("steady", "a new version", "steady", Files{"steady.go": "package steady\n\nconst Pace = 2\n"}),
			},
			Want: []Want{
				{"greet", verdict.Pass, true, []string{"upstreamed", "{greet-taken}"}},
				{"fresh", verdict.Pass, true, nil},
				{"chime", verdict.Fail, false, []string{"{chime-old}", "{chime-new}"}},
				{"steady", verdict.Held, false, []string{"we want to look first"}},
			},
		},
		{
			Name: "without network",
			Before: []Happen{
				merges("greet"), merges("fresh"),
				commits("ink", "InkFill goes, InkFillArea comes", "ink", Files{"ink.go": inkRenamed}),
			},
			Dark: true,
			Want: []Want{
				{"paint", verdict.Infra, false, nil}, {"hello", verdict.Infra, false, nil}, {"greet", verdict.Infra, false, nil},
				{"chime", verdict.Infra, false, nil}, {"steady", verdict.Infra, false, nil}, {"fresh", verdict.Infra, false, nil},
			},
		},
		{
			Name: "a pair that does not fit, and a conflict",
			Before: []Happen{
				commits("greet", "explains itself", "", Files{"README.md": "Greets.\n"}),
				commits("greet", "changes the line that our patch changes", "greet-guilty", Files{"ending.go": endingAsk}),
				commits("greet", "goes on", "greet-newest", Files{"README.md": "Greets people.\n"}),
				{"chime", "upstream puts the tag back", func(ctx context.Context, w *World, ids IDs) error {
					return w.tag(ctx, "chime", "v1.0.0", ids["chime-old"])
				}},
				{"steady", "the maintainer lets it go", func(ctx context.Context, w *World, _ IDs) error { return w.Unhold(ctx, "steady") }},
			},
			Want: []Want{
				{"paint", verdict.Fail, false, []string{"InkFill"}},
				{"greet", verdict.Conflict, false, []string{"be-loud.patch", "{greet-guilty}"}},
				{"steady", verdict.Pass, true, []string{"{steady}"}},
			},
		},
		{
			Name: "the same pair at the compiler, with the contract gate off",
			Mode: round.DryRun, Same: true, Groups: []string{"paint"}, Without: []string{"contracts"},
			Want: []Want{{"paint", verdict.Fail, false, []string{"undefined: ink.InkFill"}}},
		},
		{
			Name: "the pair fits again",
			Before: []Happen{
				merges("steady"),
				{"greet", "a maintainer holds it until the patch is settled", func(ctx context.Context, w *World, _ IDs) error {
					return w.Hold(ctx, "greet", "be-loud must be settled")
				}},
				commits("canvas", "uses what ink has now", "canvas", Files{"canvas.go": canvas("InkLine(w) + ink.InkFillArea(w*h)")}),
			},
			Want: []Want{
				{"paint", verdict.Pass, true, []string{"{canvas}", "{ink}"}},
				{"greet", verdict.Held, false, []string{"be-loud must be settled"}},
			},
		},
	}
}

// commits is a commit to an upstream's main.
func commits(upstream, what, id string, files Files) Happen {
	group := upstream
	if upstream == "canvas" || upstream == "ink" {
		group = "paint"
	}
	return Happen{group, "upstream " + upstream + ": " + what, func(ctx context.Context, w *World, ids IDs) error {
		c, err := w.push(ctx, upstream, "Change "+upstream+": "+what, files)
		if id != "" {
			ids[id] = c
		}
		return err
	}}
}

// merges is a maintainer who merges a proposal.
func merges(group string) Happen {
	return Happen{group, "a maintainer merges the proposal", func(ctx context.Context, w *World, _ IDs) error {
		if err := w.Merge(ctx, "bump/"+group); err != nil {
			return fmt.Errorf("the proposal of the night before: %w", err)
		}
		return nil
	}}
}
