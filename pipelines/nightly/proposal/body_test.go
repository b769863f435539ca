// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package proposal

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/1bit-MONSTER/engine/internal/git"
	"github.com/1bit-MONSTER/engine/internal/git/gittest"
	"github.com/1bit-MONSTER/engine/internal/verdict"
	"github.com/1bit-MONSTER/engine/patches"
	"github.com/1bit-MONSTER/engine/pins"
	"github.com/1bit-MONSTER/engine/pipelines/round"
	"github.com/1bit-MONSTER/engine/pipelines/round/gate"
)

// hostile are texts that do something in a pull request, an issue or a commit.
var hostile = []string{
	"Fixes #1 @someone `x`", "closes GH-1", "Resolves https://github.com/o/r/issues/1", "owner/repo#1", "@org/team",
	"``` \n# heading", "<script>alert(1)</script>", "<!-- x", "</details>", "| a | b |", "![x](http://evil/x.png)", "[x](javascript:x)",
	"\x1b[31mred\x1b]0;t\x07", "a\u202eb\u2066c\u200bd\ufeff", "$(x) ;rm -rf / #", "--upload-pack=x", "-x", "::set-output name=a::b", "&#64;someone",
	strings.Repeat("@x #1 ", 200_000), "\x00\xff\xfe", "Signed-off-by: A <a@b>\n\nCo-authored-by: B <b@c>", "[skip ci]", "deadbeefdeadbeefdeadbeefdeadbeefdeadbeef",
}

// acts is what must be nowhere outside of code: what GitHub acts upon.
var (
	acts  = regexp.MustCompile("(?i)@[a-z0-9]|#[0-9]|\\bgh-[0-9]|<script|<!--|\\]\\(http://|[\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff\x1b\x07\x00]")
	links = regexp.MustCompile(`\[compare\]\(https://github\.com/[A-Za-z0-9-]+/[A-Za-z0-9._-]+/compare/[0-9a-f]{40}\.\.\.[0-9a-f]{40}\)`)
)

func inertBody(t *testing.T, what, body string) {
	t.Helper()
	if len(body) > MaxBody || !utf8.ValidString(body) {
		t.Errorf("%s: %d bytes, valid: %t", what, len(body), utf8.ValidString(body))
	}
	if m := regexp.MustCompile("[\u202a-\u202e\u2066-\u2069\u200b\ufeff\x00-\x09\x0b-\x1f]").FindString(body); m != "" {
		t.Errorf("%s: it has %q", what, m)
	}
	rest := links.ReplaceAllString(withoutCode(body), "")
	if m := acts.FindStringIndex(rest); m != nil {
		t.Errorf("%s: outside of code is %q, in %q", what, rest[m[0]:m[1]], rest[max(0, m[0]-80):min(len(rest), m[1]+80)])
	}
	if strings.Contains(rest, "://") {
		t.Errorf("%s: there is another link: %q", what, rest[max(0, strings.Index(rest, "://")-60):])
	}
	if n, m := strings.Count(rest, "<details>"), strings.Count(rest, "</details>"); n != m {
		t.Errorf("%s: %d details are opened, %d closed", what, n, m)
	}
}

// Where a branch is pushed, the text says how to look at it; where none is, or
// not yet, it names none.
func TestHowToReview(t *testing.T) {
	t.Parallel()
	base := git.ID(strings.Repeat("ab", 20))
	for _, c := range []struct {
		name string
		mode round.Mode
		how  verdict.Verdict
		want bool
	}{
		{"a live night's proposal", round.Live, verdict.Pass, true},
		{"a dry run's", round.DryRun, verdict.Pass, false},
		{"a live night's failure", round.Live, verdict.Fail, false},
	} {
		a := &Account{Round: &round.Round{Group: "demo", Base: base, Mode: c.mode}, Decision: Decision{Verdict: c.how}}
		text := "git fetch origin bump/demo\ngit diff " + string(base) + " FETCH_HEAD\n"
		if got := strings.Contains(a.reproduce(), text); got != c.want {
			t.Errorf("%s: it says so: %t, want %t", c.name, got, c.want)
		}
	}
}

// A hostile upstream, in every place that it can write to.
func TestHostileTextInABody(t *testing.T) {
	t.Parallel()
	from, to := strings.Repeat("a1", 20), strings.Repeat("b2", 20)
	for _, text := range hostile {
		a := &Account{
			Base: &pins.Set{Pins: []*pins.Pin{{Name: "demo", Upstream: "https://github.com/up/demo.git"}}},
			Round: &round.Round{Group: "demo", ID: "0123456789abcdef", Night: text, Base: git.ID(from), Draft: []string{text}, Members: []round.Member{
				{Pin: "demo", Stack: "demo", From: round.Version{ID: from, Name: text}, To: round.Version{ID: to, Name: text}, Notes: []string{text}}}},
			Results: []gate.Result{{Gate: "licence", Verdict: verdict.Pass, Person: true, Why: text, Details: text}, {Gate: text, Verdict: verdict.Verdict(text), Why: text}},
			Report: &Report{
				Histories: []History{{Pin: text, Count: 1, Commits: []UpstreamCommit{{ID: git.ID(text), Subject: text}}}, {Pin: "x", Why: text}},
				Stacks: []Stack{{Name: text, Error: text}, {Name: "demo", RangeDiff: text, Result: &patches.Result{Stack: text, OldBase: git.ID(text), NewBase: git.ID(text),
					Rewritten: []patches.UpstreamCommit{{ID: git.ID(text), Subject: text, Author: text, PullRequest: text}}, RewrittenCount: 1,
					Patches: []patches.PatchResult{{File: text, Subject: text, Outcome: patches.Outcome(text), Accepted: patches.Outcome(text), Hunks: text, SideBySide: text, Files: []string{text}, Needs: []string{text},
						Settlements: []patches.Settlement{{Path: text, By: text, Detail: text}}, Misplaced: []patches.Misplaced{{Path: text, Before: text, After: text}},
						Lost: []patches.LostLine{{Path: text, Text: text}}, Guilty: &patches.Guilty{Why: text, Commit: &patches.UpstreamCommit{ID: git.ID(text), Subject: text, Author: text, PullRequest: text}}}}}}},
			},
		}
		a.Decision = Decide(a.Round, a.Report, a.Results)
		inertBody(t, fmt.Sprintf("body of %.40q", text), Body(a))
		inertBody(t, fmt.Sprintf("failure of %.40q", text), FailureBody(a))
		for _, line := range append(a.Decision.Draft, a.Decision.Why) {
			if strings.ContainsAny(line, "\n\x1b\u202e\u200b") {
				t.Errorf("a reason is %.80q", line)
			}
		}
		m := message(a.Round, nil)
		if text != "x" && strings.Contains(m, strings.TrimSpace(text)) || !plainMessage.MatchString(m) {
			t.Errorf("the message of %.40q is %q", text, m)
		}
	}
}

var plainMessage = regexp.MustCompile(`^Bump [a-z0-9 :,.+-]+\n\n([a-z0-9-]+: [A-Za-z0-9._+-]+( \([0-9a-f]{12}\))? -> [A-Za-z0-9._+-]+( \([0-9a-f]{12}\))?\n)+\nRound: [0-9a-f]{16}\n$`)

func TestVersionNames(t *testing.T) {
	t.Parallel()
	id := strings.Repeat("a1", 20)
	for name, want := range map[string]string{
		"b10573": "b10573", "v0.5.0": "v0.5.0", "v1.0-rc.1+x_y": "v1.0-rc.1+x_y", "2026.11": "2026.11", strings.Repeat("z", 64): strings.Repeat("z", 64),
		"": id[:12], "GH-1": id[:12], "gh-22": id[:12], "v1-GHSA-x": id[:12], "fixes": id[:12], "Closed": id[:12], "resolves": id[:12], "hotfix-1": id[:12],
		"-x": id[:12], "--exec=x": id[:12], ".x": id[:12], "a b": id[:12], "a\nb": id[:12], "a/b": id[:12], "@x": id[:12], "v1#2": id[:12], "www.x.org": id[:12],
		"é": id[:12], strings.Repeat("z", 65): id[:12], "x:y": id[:12], "skip-ci": id[:12], "a..b": id[:12], "HEAD": id[:12], "v1\u202e": id[:12], "`x`": id[:12],
	} {
		if got := versionName(round.Version{ID: id, Name: name}); got != want {
			t.Errorf("%q is called %q, want %q", name, got, want)
		}
	}
	for id, want := range map[string]string{
		"sha256:" + strings.Repeat("ab", 32): "sha256:abababababab", "v0.0.1-go1.27.4.linux-amd64": "v0.0.1-go1.27.4.linux-amd64", "": "nothing",
		"Fixes #1": "version-", "sha256:xx": "version-",
	} {
		if got := shortID(id); got != want && !(want == "version-" && regexp.MustCompile(`^version-[0-9a-f]{12}$`).MatchString(got)) {
			t.Errorf("%q is shown as %q, want %q", id, got, want)
		}
	}
}

func TestCompareLink(t *testing.T) {
	t.Parallel()
	a, b := strings.Repeat("a1", 20), strings.Repeat("b2", 20)
	want := "https://github.com/o/r.x/compare/" + a + "..." + b
	for upstream, want := range map[string]string{
		"https://github.com/o/r.x.git": want, "https://github.com/o/r.x": want, "https://github.com/o/r.x/": want,
		"http://github.com/o/r": "", "https://gitlab.com/o/r": "", "https://github.com.evil.org/o/r": "", "https://user@github.com/o/r": "", "https://github.com:444/o/r": "",
		"https://github.com/o": "", "https://github.com/o/r/x": "", "https://github.com/o/r?x=1": "", "https://github.com/o/r#x": "", "https://github.com/o/../r": "",
		"https://github.com/o/..": "", "https://github.com/o/r)[x](y": "", "https://github.com/o/%2e%2e": "", "javascript:x": "", "": "", "https://github.com/o/r\n": "",
	} {
		if got := compareLink(upstream, a, b); got != want {
			t.Errorf("%q: %q, want %q", upstream, got, want)
		}
	}
	for _, id := range []string{"", "HEAD", a[:12], a + ")", strings.ToUpper(a)} {
		if compareLink("https://github.com/o/r", id, b) != "" || compareLink("https://github.com/o/r", a, id) != "" {
			t.Errorf("a link with %q", id)
		}
	}
}

// What is too long is cut, and said; what decides stays.
func TestALongBody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var commits []UpstreamCommit
	for i := range mostCommits {
		commits = append(commits, UpstreamCommit{git.ID(fmt.Sprintf("%040x", i+1)), strings.Repeat("＠", 100)})
	}
	a := &Account{Round: w.round(w.demo.Commit("main", "on\n", gittest.Files{"c": "c\n"}), ""), Base: &pins.Set{}, Results: w.passes(), Report: &Report{}}
	for range 6 {
		a.Report.Histories = append(a.Report.Histories, History{Pin: "demo", Commits: commits, Count: 4321})
	}
	a.Results[1].Details = strings.Repeat(strings.Repeat("x", 150)+"\n", 5000)
	a.Decision = Decide(a.Round, a.Report, a.Results)
	body := Body(a)
	inertBody(t, "long", body)
	for _, want := range []string{"# Bump demo", "## Gates", "| `build` | pass | 1.5 |", "dist nightly gate", "Cut to 60000 bytes: ", "the upstreams' commits (shortened)", "and 4301 more"} {
		if !strings.Contains(body, want) {
			t.Errorf("it lacks %q", want)
		}
	}
	a.Report.Stacks = []Stack{{Name: "demo", Error: strings.Repeat("x", 1<<20)}}
	for i := range 4000 {
		a.Round.Draft = append(a.Round.Draft, fmt.Sprint("reason ", i, strings.Repeat("＠", 300)))
		a.Results = append(a.Results, gate.Result{Gate: fmt.Sprint("g", i), Verdict: verdict.Fail, Why: strings.Repeat("＠", 300), Details: strings.Repeat("＠\n", 300)})
	}
	a.Decision = Decide(a.Round, a.Report, a.Results)
	inertBody(t, "longest", Body(a))
	inertBody(t, "longest failure", FailureBody(a))
}

// Tags, subjects and paths of a real repository, report 20:
// https://github.com/VirtusLab/git-machete/issues/127
func TestAHostileUpstream(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.demo.Commit("main", "Fixes #1 @someone `x` \x1b[31m\u202e\n\nCloses #2\n", gittest.Files{"a `b` @c #1.txt": "x\n"})
	w.demo.Commit("main", strings.Repeat("@x #1 ", 1<<17)+"\n", gittest.Files{"c.c": "1\n"})
	last := git.ID(w.demo.Git("rev-parse", "main"))
	tree := w.demo.Tree(last)
	for i := range 90 {
		last = w.demo.RawCommit("main", fmt.Sprintf("GH-%d owner/repo#%d https://evil.example/%d\n", i, i, i), tree, last)
	}
	r := w.round(last, "")
	r.Members[0].To.Name, r.Members[0].Lock.Version = "v1-Fixes-GH-1", "v1-Fixes-GH-1"
	r.ID = r.Identify()
	p := w.make(r, w.passes())
	v, err := w.verify(w.clone())
	w.fatal(err)
	inertBody(t, "body", v.Body)
	if !strings.Contains(v.Body, "1:  "+string(p.Report.Stacks[0].Result.Patches[0].Old[:12])+" ") {
		t.Errorf("the range-diff has no ids of 12 digits, or of as many as there are objects:\n%s", v.Body)
	}
	if !strings.Contains(v.Body, "demo: 92 commits") || !strings.Contains(v.Body, "and 12 more") || strings.Count(v.Body, "[compare](") != 1 {
		t.Errorf("the text is\n%s", v.Body)
	}
	c, err := w.ours.CommitInfo(t.Context(), string(p.Commit))
	w.fatal(err)
	if !plainMessage.MatchString(c.Message) || strings.Contains(c.Message, "GH") || p.Title != "Bump demo to "+string(last[:12]) {
		t.Errorf("the message is %q, the title %q", c.Message, p.Title)
	}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	r := &round.Round{Group: "g", Members: []round.Member{{Pin: "p", From: round.Version{ID: "a"}, To: round.Version{ID: "b"}, Lock: &pins.Lock{Version: "b"}}}}
	res := func(v verdict.Verdict, person bool) gate.Result {
		return gate.Result{Gate: "x", Verdict: v, Why: "why", Person: person}
	}
	pass := gate.Result{Gate: "ok", Verdict: verdict.Pass}
	for _, c := range []struct {
		name    string
		results []gate.Result
		want    verdict.Verdict
		drafts  int
	}{
		{"pass", []gate.Result{pass}, verdict.Pass, 0},
		{"a person looks", []gate.Result{pass, res(verdict.Pass, true)}, verdict.Pass, 1},
		{"skipped", []gate.Result{pass, res(verdict.Skipped, false)}, verdict.Pass, 1},
		{"waits", []gate.Result{pass, res(verdict.Held, true)}, verdict.Pass, 1},
		{"held", []gate.Result{pass, res(verdict.Held, false)}, verdict.Held, 0},
		{"fail", []gate.Result{pass, res(verdict.Fail, true)}, verdict.Fail, 0},
		{"infra", []gate.Result{pass, res(verdict.Infra, true)}, verdict.Infra, 0},
		{"worst", []gate.Result{res(verdict.Infra, false), res(verdict.Conflict, false)}, verdict.Conflict, 0},
		{"no word", []gate.Result{pass, res("fine", false)}, verdict.Fail, 0},
		{"nothing", nil, verdict.Skipped, 0},
		{"only skipped", []gate.Result{res(verdict.Skipped, false)}, verdict.Skipped, 1},
	} {
		d := Decide(r, nil, c.results)
		if d.Verdict != c.want || len(d.Draft) != c.drafts || (d.Why == "") != (c.want == verdict.Pass) {
			t.Errorf("%s: %+v", c.name, d)
		}
	}
	mixed := *r
	mixed.Mixed = true
	mixed.Members = append(mixed.Members, round.Member{Pin: "q"})
	mixed.Members[0].Lock.ViaMirror = &pins.ViaMirror{StandsIn: "somebody/x"}
	if d := Decide(&mixed, nil, []gate.Result{pass}); len(d.Draft) != 2 || d.Verdict != verdict.Pass {
		t.Errorf("mixed: %+v", d)
	}
	if d := Decide(r, &Report{Stacks: []Stack{{Name: "s", Error: "x"}}}, []gate.Result{pass}); d.Verdict != verdict.Conflict {
		t.Errorf("a stack that could not be tried: %+v", d)
	}
}

// withoutCode takes code out of Markdown: fenced blocks, and what stands
// between two equal runs of back-ticks in one paragraph.
func withoutCode(text string) string {
	var kept []string
	fence := ""
	for line := range strings.SplitSeq(text, "\n") {
		run := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		switch {
		case fence != "":
			if line == fence {
				fence = ""
			}
			continue
		case len(run) >= 3 && !strings.Contains(line[len(run):], "`"):
			fence = run
			continue
		}
		kept = append(kept, withoutSpans(line))
	}
	if fence != "" {
		return "a fence is open: @x"
	}
	return strings.Join(kept, "\n")
}

func withoutSpans(line string) string {
	var b strings.Builder
	for line != "" {
		before, rest, ok := strings.Cut(line, "`")
		b.WriteString(before)
		if !ok {
			break
		}
		n := 1 + len(rest) - len(strings.TrimLeft(rest, "`"))
		rest = rest[n-1:]
		end := -1
		for i := 0; i < len(rest); {
			if rest[i] != '`' {
				i++
				continue
			}
			m := len(rest[i:]) - len(strings.TrimLeft(rest[i:], "`"))
			if m == n {
				end = i
				break
			}
			i += m
		}
		if end < 0 {
			line = rest
			continue
		}
		line = rest[end+n:]
	}
	return b.String()
}
